import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  endTheImpatient,
  type FlightWaiter,
  patientWaiter,
} from "../../lib/downstream/flight_waiter.ts";
import { type Failure, NO_DEADLINE } from "../../lib/upstream/mod.ts";
import { listOf } from "../upstream/exchange_fixture.ts";

const NOW_MS = 1_000_000;

/** A waiter with so much time left, and what was done to it. */
class FakeWaiter implements FlightWaiter {
  readonly route = { list: listOf([]), method: { path: "/a.S/Get", policy: {} } };
  readonly perCall = [];
  readonly stream = { position: 0 };
  readonly isOver = false;
  readonly failures: Failure[] = [];
  readonly deadlineMs: number;

  /** `leftMs` undefined is no deadline. */
  constructor(leftMs?: number) {
    this.deadlineMs = leftMs === undefined ? NO_DEADLINE : NOW_MS + leftMs;
  }

  holds(): void {}

  readMoreOrFail(): void {}

  failOwn(failure: Failure): void {
    this.failures.push(failure);
  }

  passAfterAll(): void {}
}

function waiters(...leftMs: (number | undefined)[]): FakeWaiter[] {
  return leftMs.map((left) => new FakeWaiter(left));
}

Deno.test("patientWaiter finds the one with the most time left, who may wait for ever", () => {
  const cases: [leftMs: (number | undefined)[], index: number][] = [
    [[], -1],
    [[500], 0],
    [[100, 500, 300], 1],
    [[100, undefined, 900], 1],
    [[undefined, undefined], 0],
    [[51], 0],
    [[50], -1], // that is the leader's deadline, as clocks differ
    [[50, 0, -100], -1],
    [[50, 51, 40], 1],
  ];
  for (const [leftMs, index] of cases) {
    const among = waiters(...leftMs);
    assertStrictEquals(patientWaiter(among, NOW_MS), among[index], Deno.inspect(leftMs));
  }
});

Deno.test("endTheImpatient ends those whose time is up, by the same slack, and nobody else", () => {
  const among = waiters(-100, 0, 50, 51, 500, undefined);
  endTheImpatient(among, NOW_MS);
  const deadline: Failure[] = [{ kind: "deadline" }];
  assertEquals(among.map(({ failures }) => failures), [deadline, deadline, deadline, [], [], []]);
  assertEquals(patientWaiter(among.slice(0, 3), NOW_MS), undefined); // nobody is in both
});
