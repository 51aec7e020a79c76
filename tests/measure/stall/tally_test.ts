import { assertEquals } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import {
  type CallRecord,
  type Judging,
  shareOf,
  tallyStall,
} from "../../../lib/measure/stall/tally.ts";

const JUDGING: Judging = {
  deadlineMs: 500,
  faulted: 0,
  faultBeginsMs: 1_000,
  faultEndsMs: 2_000,
  durationMs: 3_000,
};

function call(dueMs: number, shard: number, ended: Partial<CallRecord> = {}): CallRecord {
  return { dueMs, shard, latencyMs: 5, lateMs: 0, status: STATUS.ok, ...ended };
}

/** Ten calls to each of three backends in every bin; those to the first fail when `fails` says so. */
function calls(fails: (dueMs: number) => boolean): CallRecord[] {
  const records: CallRecord[] = [];
  for (let dueMs = 0; dueMs < JUDGING.durationMs; dueMs += 10) {
    records.push(call(dueMs, 0, fails(dueMs) ? { status: STATUS.unavailable } : {}));
    records.push(call(dueMs, 1), call(dueMs, 2));
  }
  return records;
}

Deno.test("tallyStall counts a call in the bin and the phase in which it was due", () => {
  const tally = tallyStall(
    [call(0, 1), call(99.9, 0), call(100, 0), call(999.9, 1), call(1_000, 1), call(2_000, 0)],
    JUDGING,
  );
  assertEquals(tally.bins.length, 30);
  assertEquals(tally.bins[0], {
    fromMs: 0,
    healthy: { calls: 1, good: 1 },
    all: { calls: 2, good: 2 },
  });
  assertEquals([tally.bins[1]?.all.calls, tally.bins[1]?.healthy.calls], [1, 0]);
  const { before, during, after } = tally;
  assertEquals([before, during, after].map(({ all }) => all.calls), [4, 1, 1]);
});

Deno.test("tallyStall takes for good what was answered with OK by the deadline, and nothing else", () => {
  const { during } = tallyStall([
    call(1_000, 1, { latencyMs: 500 }),
    call(1_000, 1, { latencyMs: 500.1 }),
    call(1_000, 2, { status: STATUS.resourceExhausted }),
    call(1_000, 0, { status: STATUS.deadlineExceeded, latencyMs: 501 }),
  ], JUDGING);
  assertEquals(during.healthy, { calls: 3, good: 1 });
  assertEquals(during.all, { calls: 4, good: 1 });
  assertEquals(during.healthyStatuses, { OK: 1, LATE: 1, ResourceExhausted: 1 });
  assertEquals(during.faultedStatuses, { DeadlineExceeded: 1 });
});

Deno.test("tallyStall gives percentiles of the good calls to healthy backends", () => {
  const records = Array.from({ length: 100 }, (_, i) => call(i, 1, { latencyMs: i + 1 }));
  const { before, during } = tallyStall([
    ...records,
    call(0, 1, { latencyMs: 499, status: STATUS.unavailable }),
    call(0, 0, { latencyMs: 499 }),
  ], JUDGING);
  assertEquals([before.p50Ms, before.p99Ms], [50, 99]);
  assertEquals([during.p50Ms, during.p99Ms], [undefined, undefined]);
});

Deno.test("tallyStall finds from when on all was well for half a second", () => {
  const recovery = (fails: (dueMs: number) => boolean, faultEndsMs = 2_000) =>
    tallyStall(calls(fails), { ...JUDGING, faultEndsMs }).recoveryMs;
  assertEquals(recovery(() => false), 0);
  assertEquals(recovery((dueMs) => dueMs >= 1_000 && dueMs < 2_000), 0);
  assertEquals(recovery((dueMs) => dueMs >= 1_000 && dueMs < 2_300), 300);
  assertEquals(recovery((dueMs) => dueMs >= 2_400 && dueMs < 2_500), 500, "not half a second");
  assertEquals(recovery((dueMs) => dueMs >= 2_600 && dueMs < 2_700), 0, "of another reason");
  assertEquals(recovery((dueMs) => dueMs >= 1_000 && dueMs < 2_040, 2_040), 60);
  assertEquals(recovery((dueMs) => dueMs >= 1_000), undefined, "it never came back");
  assertEquals(recovery((dueMs) => dueMs < 2_600), undefined, "nobody knows");
  assertEquals(recovery((dueMs) => dueMs === 2_300), 0, "one call of thirty may fail");
});

Deno.test("tallyStall keeps how late the latest call was made", () => {
  assertEquals(tallyStall([], JUDGING).latestMs, 0);
  const late = [call(0, 1, { lateMs: 3 }), call(1, 1, { lateMs: 40 }), call(2, 1)];
  assertEquals(tallyStall(late, JUDGING).latestMs, 40);
});

Deno.test("shareOf is whole where nothing could go wrong", () => {
  assertEquals(shareOf({ calls: 0, good: 0 }), 1);
  assertEquals(shareOf({ calls: 4, good: 1 }), 0.25);
});
