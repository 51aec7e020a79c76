import { assert, assertEquals } from "@std/assert";
import { KeySketch, MethodRecord, ReportRecord } from "../../lib/trust/mod.ts";
import { rng } from "../support/cuts.ts";

const HOUR_MS = 3_600_000;

Deno.test("KeySketch counts a few keys exactly, however often they come", () => {
  const sketch = new KeySketch();
  for (let i = 0; i < 90; i++) sketch.add((i % 30) * 0x0823_5461);
  assertEquals(sketch.size, 30);
});

Deno.test("KeySketch is within 15 % from a hundred keys to half a million", () => {
  const random = rng(11);
  for (const keys of [100, 1_000, 10_000, 500_000]) {
    const sketch = new KeySketch();
    for (let i = 0; i < keys; i++) {
      const hash = random() * 2 ** 32;
      sketch.add(hash);
      if (i < 50) sketch.add(hash);
    }
    assert(Math.abs(sketch.size - keys) < keys * 0.15, `${sketch.size} for ${keys}`);
  }
});

Deno.test("KeySketch counts a key once that both sketches of a merge have", () => {
  const random = rng(5);
  const hashes = Array.from({ length: 3_000 }, () => random() * 2 ** 32);
  for (const [first, second] of [[20, 20], [20, 3_000], [3_000, 20], [3_000, 1_000]] as const) {
    const [a, b, whole] = [new KeySketch(), new KeySketch(), new KeySketch()];
    for (const hash of hashes.slice(0, first)) a.add(hash);
    for (const hash of hashes.slice(0, second)) b.add(hash);
    for (const hash of hashes.slice(0, Math.max(first, second))) whole.add(hash);
    a.merge(b);
    assertEquals(a.size, whole.size, `${first} and ${second}`);
  }
});

Deno.test("MethodRecord adds up the calls of 48 hours and forgets those before", () => {
  const record = new MethodRecord();
  record.add(0.5 * HOUR_MS, { calls: 100, wouldHit: 50 });
  record.add(10 * HOUR_MS, { calls: 7, wouldHit: 3, savedMs: 30 });
  record.add(10.5 * HOUR_MS, { calls: 1, wouldJoin: 1 });
  const { calls, wouldHit, wouldJoin, savedMs, coveredMs } = record.summary(48.9 * HOUR_MS);
  assertEquals({ calls, wouldHit, wouldJoin, savedMs }, {
    calls: 108,
    wouldHit: 53,
    wouldJoin: 1,
    savedMs: 30,
  });
  assertEquals(coveredMs, 48.4 * HOUR_MS);
  assertEquals(record.summary(49 * HOUR_MS).calls, 8);
  assertEquals(record.summary(49 * HOUR_MS).coveredMs, 39 * HOUR_MS);
  assertEquals(record.summary(59 * HOUR_MS).calls, 0);
  assertEquals(record.summary(59 * HOUR_MS).coveredMs, 0);
});

Deno.test("MethodRecord counts a key of two hours once and keeps the largest group of any", () => {
  const record = new MethodRecord();
  for (const hour of [0, 1]) {
    for (const hash of [1, 2, 3 + hour]) record.asked(hour * HOUR_MS, hash);
    record.shared(hour * HOUR_MS, 14 - hour);
    record.compared(hour * HOUR_MS, "match");
  }
  record.compared(HOUR_MS, "raced");
  const { keys, largestGroup, compared } = record.summary(HOUR_MS);
  assertEquals({ keys, largestGroup }, { keys: 4, largestGroup: 14 });
  assertEquals(compared, { match: 2, reordered: 0, raced: 1, unstable: 0, mismatch: 0 });
});

Deno.test("MethodRecord tells the names that keep calls apart, most saving first, and bounds them", () => {
  const record = new MethodRecord();
  record.keptApart(0, "x".repeat(65));
  for (let i = 0; i < 8; i++) record.keptApart(0, `x-${i}`);
  record.keptApart(0, "x-one-too-many");
  record.keptApart(0, "x-5");
  const { keptApartBy } = record.summary(0);
  assertEquals(keptApartBy.length, 8);
  assertEquals(keptApartBy[0], ["x-5", 2]);
  assert(keptApartBy.every(([name]) => name.length === 3));
});

Deno.test("MethodRecord takes a clock that goes back for one that stands still", () => {
  const record = new MethodRecord();
  record.add(5 * HOUR_MS, { calls: 1 });
  record.add(4 * HOUR_MS, { calls: 1 });
  assertEquals(record.summary(4 * HOUR_MS).calls, 2);
  assertEquals(record.summary(4 * HOUR_MS).coveredMs, 0);
  // To and fro does not make hours without end: what is bounded for one is bounded for all of them.
  for (let i = 0; i < 20; i++) record.keptApart((4 + i % 2) * HOUR_MS, `x-${i}`);
  assertEquals(record.summary(5 * HOUR_MS).keptApartBy.length, 8);
});

Deno.test("ReportRecord keeps 200 methods apart, adds up the others as one, and sorts by calls", () => {
  const report = new ReportRecord();
  for (let i = 0; i < 203; i++) report.method(`/a.B/Get${i}`).add(0, { calls: 1 });
  report.method("/a.B/Get7").add(0, { calls: 1 });
  report.method("/a.B/Get202").add(0, { calls: 1 });
  const rows = report.summaries(0);
  assertEquals(rows.length, 201);
  assertEquals(rows[0]![0], "/a.B/Get7");
  assertEquals(rows.at(-1)![0], "other");
  assertEquals(rows.at(-1)![1].calls, 4);
});

Deno.test("ReportRecord leaves out methods whose calls are forgotten", () => {
  const report = new ReportRecord();
  report.method("/a.B/Get").add(0, { calls: 1 });
  report.method("/a.B/List").add(30 * HOUR_MS, { calls: 1 });
  assertEquals(report.summaries(50 * HOUR_MS).map(([method]) => method), ["/a.B/List"]);
});
