/**
 * The arithmetic of the tax: no socket, no clock.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { encodeGreetingRequest } from "../../../lib/hello/mod.ts";
import { requestBody } from "../../../lib/measure/client/client.ts";
import {
  defaultTemplate,
  distinctMessages,
  messageTemplate,
  templateBody,
} from "../../../lib/measure/tax/message_template.ts";
import { monthlyCost } from "../../../lib/measure/tax/money.ts";
import { processTicks, residentKiB } from "../../../lib/measure/tax/proc_text.ts";
import { savedShareSoFar, sumByName } from "../../../lib/measure/tax/proxy_metrics.ts";
import { schedule } from "../../../lib/measure/tax/schedule.ts";
import { showCpus, showDifference, showTimeRange, wrapped } from "../../../lib/measure/tax/show.ts";
import { splitAdded } from "../../../lib/measure/tax/split.ts";
import { spreadOf } from "../../../lib/measure/tax/statistics.ts";
import type { FrameLog } from "../../../lib/wire/mod.ts";

function bytesOf({ bytes, end }: FrameLog): Uint8Array {
  return bytes.slice(0, end);
}

function near(actual: number, expected: number, share = 1e-9): void {
  assert(Math.abs(actual - expected) <= Math.abs(expected) * share, `${actual}, not ${expected}`);
}

Deno.test("spreadOf gives the median, the quartiles and both ends, whatever the order", () => {
  assertEquals(spreadOf([3, 1, 2]), {
    median: 2,
    low: 1.5,
    high: 2.5,
    least: 1,
    most: 3,
    count: 3,
  });
  assertEquals(spreadOf([4, 1, 3, 2])?.median, 2.5);
  const { low, high, most } = spreadOf([5, 1, 2, 4, 900])!;
  assertEquals([low, high, most], [2, 5, 900], "one bad round is not the middle of them");
  const [once] = [spreadOf([-5])!];
  assertEquals([once.median, once.low, once.high, once.count], [-5, -5, -5, 1]);
  assertEquals(spreadOf([]), undefined);
});

Deno.test("templateBody puts the number where the placeholder is, and changes no length", () => {
  const message = new TextEncoder().encode("\x0a\x0aid-{nnnnn}!");
  const template = messageTemplate(message);
  for (const [n, digits] of [[0, "0000000"], [42, "0000042"], [12_345_678, "2345678"]] as const) {
    const want = requestBody(new TextEncoder().encode(`\x0a\x0aid-${digits}!`));
    assertEquals(bytesOf(templateBody(template, n)), bytesOf(want));
  }
  assertEquals(message, new TextEncoder().encode("\x0a\x0aid-{nnnnn}!"), "the template itself");
  const greeting = encodeGreetingRequest({ name: "tax-00000000007" });
  assertEquals(bytesOf(templateBody(defaultTemplate(), 7)), bytesOf(requestBody(greeting)));
  assertEquals([template.at, template.digits, distinctMessages(template)], [5, 7, 1e7]);
  assertEquals(distinctMessages(messageTemplate(new Uint8Array(3))), 1);
  assertEquals(distinctMessages(defaultTemplate()), 1e11);
});

Deno.test("schedule gives everybody a turn in every phase of every round, in changing order", () => {
  const steps = schedule({ rounds: 4, rates: [10, 20], systems: 4, relay: 1, repeats: true });
  const count = (kind: string, system: number) =>
    steps.filter((step) => step.phase.kind === kind && step.system === system).length;
  assertEquals([0, 1, 2, 3].map((system) => count("rate", system)), [8, 4, 8, 8]);
  assertEquals([0, 1, 2, 3].map((system) => count("saturation", system)), [4, 0, 4, 4]);
  assertEquals([0, 1, 2, 3].map((system) => count("repeats", system)), [4, 0, 4, 4]);
  const orders = [0, 1, 2, 3].map((round) =>
    steps.filter(({ round: its, phase }) =>
      its === round && phase.kind === "rate" && phase.perSecond === 10
    ).map(({ system }) => system)
  );
  assertEquals(orders, [[0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0], [0, 3, 2, 1]]);
  const rounds = steps.map(({ round }) => round);
  assertEquals(rounds, rounds.toSorted((one, other) => one - other), "round after round");
  const without = schedule({ rounds: 1, rates: [10], systems: 3, relay: 1, repeats: false });
  assertEquals(without.map(({ phase }) => phase.kind).includes("repeats"), false);
});

Deno.test("splitAdded gives three parts that add up to what was added", () => {
  const split = splitAdded({ relayMs: 0.1, lowestRateMs: 0.25, atRateMs: 0.9 });
  near(split.hopMs + split.processingMs + split.queueingMs, 0.9);
  assertEquals(split.hopMs, 0.1);
  near(split.processingMs, 0.15);
  near(split.queueingMs, 0.65);
  assert(splitAdded({ relayMs: 0.3, lowestRateMs: 0.2, atRateMs: 0.2 }).processingMs < 0);
});

Deno.test("monthlyCost prices a thousand calls a second for a month", () => {
  const prices = { perVcpuHour: 0.04, perCrossZoneGb: 0.01 };
  // 0.05 ms a call is 0.05 CPUs: 0.05 * 730 h * 0.04. 400 bytes: 400 * 1000 * 2,628,000 s = 1,051.2 GB.
  const cost = monthlyCost({ cpuMsPerCall: 0.05, bytesPerCall: 400 }, prices);
  near(cost.cpu!, 1.46);
  near(cost.crossZone, 10.512);
  assertEquals(monthlyCost({ cpuMsPerCall: undefined, bytesPerCall: 0 }, prices), {
    cpu: undefined,
    crossZone: 0,
  });
});

Deno.test("processTicks reads user and system time behind a name with brackets and spaces", () => {
  const rest = "S 1 2 3 0 -1 4194560 10 0 0 0 123 45 6 7 20 0 9 0 100 200 300";
  assertEquals(processTicks(`42 (a) (b c) ${rest}`), { user: 123, system: 45 });
  assertEquals(processTicks(`42 (envoy) ${rest}`), { user: 123, system: 45 });
  assertThrows(() => processTicks("42 (x) S 1"), Error, "no processor times");
  assertEquals(residentKiB("Name:\tx\nVmHWM:\t  900 kB\nVmRSS:\t  812 kB\n"), 812);
  assertEquals(residentKiB("Name:\tx\n"), 0);
});

Deno.test("sumByName adds up the series of one name and skips comments", () => {
  const sums = sumByName(
    '# HELP a b\n# TYPE a counter\na{x="1 2",y="}"} 2\na{x="2"} 3.5\nb 1e3\nc_bucket{le="+Inf"} 4\n',
  );
  assertEquals([...sums], [["a", 5.5], ["b", 1_000], ["c_bucket", 4]]);
});

Deno.test("savedShareSoFar wants a collapser with enough of a history", () => {
  const series = (method: string, outcome: string, calls: number) =>
    `collapser_calls_total{method="${method}",outcome="${outcome}"} ${calls}\n`;
  const text = "# TYPE collapser_calls_total counter\n" +
    series("/a.B/Get", "hit", 5_000) + series("/a.B/Get", "joined", 2_000) +
    series("/a.B/Get", "stale", 500) + series("/a.B/Get", "led", 2_400) +
    series("/a.B/Get", "passed", 100) + series("/a.B/GetMore", "hit", 1e6) +
    series("/a.B/Few", "hit", 999) + series("/a.B/None", "led", 1_000);
  assertEquals(savedShareSoFar(text, "/a.B/Get"), 0.75);
  assertEquals(savedShareSoFar(text, "/a.B/None"), 0);
  assertEquals(savedShareSoFar(text, "/a.B/Few"), undefined);
  assertEquals(savedShareSoFar("envoy_requests 1e6\n", "/a.B/Get"), undefined);
});

Deno.test("showDifference and showTimeRange keep the sign and the unit of the median", () => {
  assertEquals(showDifference(0.0982), "+98.2 µs");
  assertEquals(showDifference(-1.2), "-1.20 ms");
  assertEquals(showTimeRange(spreadOf([0.09, 0.09, 0.1, 1.2, 1.2])!), "(90.0..1200)");
  assertEquals(showTimeRange(spreadOf([-2, -2, 1.5, 3, 3])!), "(-2.00..3.00)");
  assertEquals(showTimeRange(spreadOf([4])!), "", "measured once: no spread");
  const totalMs = spreadOf([0.04, 0.04, 0.05, 0.05])!;
  assertEquals(showCpus({ userMs: 0.03, systemMs: 0.012, totalMs }), "0.042 (0.040..0.050)");
  assertEquals(showCpus({ userMs: 0.03, systemMs: null, totalMs }), "0.030 (0.040..0.050)");
});

Deno.test("wrapped breaks at 80 columns and hangs the rest under the text", () => {
  const lines = wrapped("word ".repeat(40).trim(), { prefix: "   - " });
  assert(lines.length > 2 && lines.every((line) => line.length <= 80));
  assertEquals(lines[0]!.slice(0, 9), "   - word");
  assertEquals(lines[1]!.slice(0, 9), "     word");
  assertEquals(wrapped("short"), ["short"]);
});
