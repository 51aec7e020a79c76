import { assertEquals, assertRejects } from "@std/assert";
import { Histogram, Registry } from "prom-client";
import { MetricSet } from "../../lib/telemetry/registry.ts";

Deno.test("MetricSet writes a histogram as prom-client writes its own", async () => {
  const bounds = [0.1, 0.2, 0.4];
  const registry = new Registry();
  const theirs = new Histogram({
    name: "took_seconds",
    help: 'Time "taken", in\nseconds \\ each.',
    labelNames: ["who"],
    buckets: bounds,
    registers: [registry],
  });
  for (const seconds of [0.0625, 0.1, 0.125, 0.375, 8]) {
    theirs.observe({ who: 'a"b\\c\nd' }, seconds);
  }

  const ours = new MetricSet();
  ours.histogram("took_seconds", {
    help: 'Time "taken", in\nseconds \\ each.',
    labels: ["who"],
    collect: (put) => put({ bounds, counts: [2, 1, 1, 1], sum: 8.6625 }, { who: 'a"b\\c\nd' }),
  });
  assertEquals(await ours.text(), await registry.metrics());
  assertEquals(ours.contentType, registry.contentType);
});

Deno.test("MetricSet writes a histogram without observations in full", async () => {
  const metrics = new MetricSet();
  metrics.histogram("took_seconds", {
    help: "Time.",
    collect: (put) => put({ bounds: [1], counts: [0, 0], sum: 0 }),
  });
  assertEquals((await metrics.text()).split("\n").slice(2, -1), [
    'took_seconds_bucket{le="1"} 0',
    'took_seconds_bucket{le="+Inf"} 0',
    "took_seconds_sum 0",
    "took_seconds_count 0",
  ]);
});

Deno.test("MetricSet reads every value anew on each scrape, and forgets series that are gone", async () => {
  const metrics = new MetricSet();
  let scrape = 0;
  const collect = (put: (value: number, labels?: { n: string }) => void) =>
    put(++scrape, { n: `${scrape}` });
  metrics.gauge("level", { help: "A level.", labels: ["n"], collect });
  assertEquals(await metrics.text(), '# HELP level A level.\n# TYPE level gauge\nlevel{n="1"} 1\n');
  assertEquals(await metrics.text(), '# HELP level A level.\n# TYPE level gauge\nlevel{n="2"} 2\n');
});

Deno.test("MetricSet adds a counter's equal labels up", async () => {
  const metrics = new MetricSet();
  metrics.counter("seen_total", {
    help: "Seen.",
    labels: ["n"],
    collect(put) {
      put(2, { n: "x" });
      put(3, { n: "x" });
      put(0, { n: "y" });
    },
  });
  const lines = (await metrics.text()).split("\n").slice(2, -1);
  assertEquals(lines, ['seen_total{n="x"} 5', 'seen_total{n="y"} 0']);
});

Deno.test("MetricSet waits for values that take time", async () => {
  const metrics = new MetricSet();
  metrics.gauge("level", {
    help: "A level.",
    collect: async (put) => put(await Promise.resolve(7)),
  });
  assertEquals((await metrics.text()).split("\n")[2], "level 7");
});

Deno.test("MetricSet rejects a scrape when a value cannot be read", async () => {
  const metrics = new MetricSet();
  metrics.histogram("took_seconds", {
    help: "Time.",
    collect: () => {
      throw new Error("the source is gone");
    },
  });
  await assertRejects(() => metrics.text(), Error, "the source is gone");
});
