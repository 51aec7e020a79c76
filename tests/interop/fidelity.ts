/**
 * Holds what a client sees through the sidecar against what it sees without one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { startHello } from "../../lib/hello/mod.ts";
import { beside, besideHello, STORED_LONG } from "../support/beside.ts";
import type { LocalSidecar } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";
import { type Mirror, MIRROR_PATHS, startMirror } from "./mirror.ts";
import type { Caller, Plan, Seen } from "./seen.ts";

/** Opens a client of what listens on this port. */
export type OpenCaller = (port: number) => Caller;

/** A client of a backend and the same client of a sidecar, and how many calls are in flight at their backends. */
export interface Pair {
  readonly direct: Caller;
  readonly through: Caller;
  readonly inFlight: number;
}

/** The same, with the sidecar, in this process. */
interface Both extends Pair, AsyncDisposable {
  readonly sidecar: LocalSidecar;
}

/**
 * Two backends that have had no calls yet, one of them behind a sidecar: they number their calls, so the same calls
 * get the same answers from both.
 */
async function openBoth(open: OpenCaller): Promise<Both> {
  const stack = new AsyncDisposableStack();
  const alone = await startHello();
  const direct = stack.use(open(alone.port));
  // Before its client goes: a GOAWAY may end the process that a node:http2 server is in.
  stack.defer(() => alone.kill());
  const pair = stack.use(await besideHello(STORED_LONG));
  const through = stack.use(open(pair.local.port));
  return {
    direct,
    through,
    sidecar: pair.local,
    get inFlight() {
      return alone.report().inFlight + pair.hello.report().inFlight;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Each call looks the same through the sidecar, and nothing is left under way at a backend. */
export async function seesNoDifference(open: OpenCaller, plans: readonly Plan[]): Promise<void> {
  await using both = await openBoth(open);
  for (const plan of plans) await compare(both, plan);
}

/** One call looks the same through the sidecar, and is not left under way at a backend. */
export async function compare(pair: Pair, plan: Plan): Promise<void> {
  const see = (caller: Caller) => {
    const arrived = () => until(() => pair.inFlight === 1, `"${plan.name}" at a backend`);
    return caller.see(plan, plan.cancelAfter === 0 ? arrived() : undefined);
  };
  const expected = await see(pair.direct);
  await until(() => pair.inFlight === 0, `the end of "${plan.name}" at its backend`);
  assertLike(await see(pair.through), { expected, plan });
  await until(() => pair.inFlight === 0, `the end of "${plan.name}" behind the sidecar`);
}

/** Each call looks the same to who leads, to who joins, and (where it is `kept`) to who comes later. */
export async function seesNoDifferenceWhenShared(
  open: OpenCaller,
  { plans, kept }: { plans: readonly Plan[]; kept: boolean },
): Promise<void> {
  await using both = await openBoth(open);
  for (const plan of plans) {
    const before = both.sidecar.outcomes;
    const expected = await both.direct.see(plan);
    const together = [both.through.see(plan), both.through.see(plan), both.through.see(plan)];
    for (const seen of await Promise.all(together)) assertLike(seen, { expected, plan });
    if (kept) assertLike(await both.through.see(plan), { expected, plan });
    const { led, joined, hit } = both.sidecar.outcomes;
    const since = [led - before.led, joined + hit - before.joined - before.hit];
    assertEquals(since, [1, kept ? 3 : 2], `led and shared, of "${plan.name}"`);
  }
}

/** Any bytes and any metadata come back as they were sent, compressed or not, whoever asks first. */
export async function seesItselfInTheMirror(open: OpenCaller): Promise<void> {
  const mirror = await startMirror();
  await using direct = open(mirror.port);
  await using sidecar = await beside(mirror, STORED_LONG);
  await using through = open(sidecar.port);
  for (const plan of mirrorPlans()) {
    const expected = await direct.see(plan);
    const before = mirror.total;
    for (let again = 0; again < 3; again++) {
      assertLike(await through.see(plan), { expected, plan });
    }
    assertEquals(callsSince(mirror, before), plan.path === MIRROR_PATHS.postBack ? 3 : 1);
  }
}

function callsSince(mirror: Mirror, before: number): number {
  return mirror.total - before;
}

/** Any bytes and any metadata, both ways. */
export function mirrorPlans(): Plan[] {
  const metadata = [
    ["x-head-one", "initial"],
    ["x-head-twice", "a"],
    ["x-head-twice", "b, c"],
    ["x-head-raw-bin", Uint8Array.of(0, 255, 44, 10)],
    ["x-head-raw-bin", Uint8Array.of(1)],
    ["x-tail-one", "trailing"],
    ["x-tail-twice", "d"],
    ["x-tail-twice", "d"],
    ["x-tail-raw-bin", Uint8Array.from({ length: 300 }, (_, i) => i)],
    ["x-tail-long", "tail ".repeat(1_000) + "end"],
  ] as const;
  const long = Uint8Array.from({ length: 70_000 }, (_, i) => i * 7);
  const { getBack, listBack, postBack } = MIRROR_PATHS;
  return [getBack, listBack, postBack].flatMap((path) =>
    [{ body: new Uint8Array(0) }, { body: long }, { body: long, gzip: true }].map((
      { body, gzip = false },
    ): Plan => ({
      name: `${body.length} bytes${gzip ? ", compressed," : ""} to ${path}`,
      kind: path === listBack ? "server" : "unary",
      path,
      messages: [body],
      metadata,
      gzip,
    }))
  );
}

/** What was seen is what was expected; of calls with their client's own words, the status alone. */
export function assertLike(seen: Seen, { expected, plan }: { expected: Seen; plan: Plan }): void {
  if (plan.ownWords) assertEquals(seen.code, expected.code, plan.name);
  else assertEquals(seen, expected, plan.name);
}
