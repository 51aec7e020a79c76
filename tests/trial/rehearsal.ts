/**
 * A proxy in memory whose method's answers are on trial, and a backend that answers by a function.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { MethodCounters } from "../../lib/observe/mod.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { GET, type ProxyRig, type RigOptions, withRig } from "../support/proxy_rig.ts";
import type { BackendRequest } from "../support/backend_end.ts";

/** Longer than any test. */
export const KEPT_MS = 60_000;

export class Rehearsal {
  readonly rig: ProxyRig;
  readonly caller: CallerEnd;
  /** Answers each request that comes; undefined leaves them to the test. */
  answer: ((request: BackendRequest) => void) | undefined;

  constructor(rig: ProxyRig, caller: CallerEnd, answer?: (request: BackendRequest) => void) {
    this.rig = rig;
    this.caller = caller;
    this.answer = answer;
  }

  /** A caller asks, and everything that follows from it has happened. */
  async ask(metadata: Pairs = [], { path = GET, message = "k" } = {}): Promise<CallerCall> {
    const call = this.caller.call(path, message, { metadata });
    await this.settle();
    return call;
  }

  /** Answers until nothing is asked any more. */
  async settle(): Promise<void> {
    await this.rig.settle();
    for (let i = 0; i < 20; i++) {
      const open = this.rig.requests.filter((request) => request.ended && !request.isOver);
      if (this.answer === undefined || open.length === 0) return;
      for (const request of open) this.answer(request);
      await this.rig.settle();
    }
  }

  /** The counters of the method most tests call. */
  get counters(): MethodCounters {
    return this.rig.proxy.counters.methods.get(GET)!;
  }

  /** Asserts what comparing came to, all that is not told being nothing. */
  expects(which: "compared" | "verified", results: Record<string, number>): void {
    const told = Object.entries(this.counters.trial?.[which] ?? {}).filter(([, count]) =>
      count > 0
    );
    assertEquals(Object.fromEntries(told), results);
  }
}

/** Runs a test on a proxy whose results are kept longer than it takes; two names are not in the key. */
export async function withRehearsal(
  mode: "shadow" | "verify",
  answer: ((request: BackendRequest) => void) | undefined,
  test: (rehearsal: Rehearsal) => Promise<void>,
  options: RigOptions = {},
): Promise<void> {
  const ignoreHeaders = ["x-tenant", "x-request-id"];
  await withRig({ cacheDurationMs: KEPT_MS, ignoreHeaders, mode, ...options }, async (rig) => {
    await test(new Rehearsal(rig, await rig.caller(), answer));
  });
}

/** Metadata of a caller of this tenant. */
export function as(tenant: string): Pairs {
  return [["x-tenant", tenant]];
}
