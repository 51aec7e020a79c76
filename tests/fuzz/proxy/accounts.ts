import { assert, assertEquals } from "@std/assert";
import type { BackendCounters } from "../../../lib/observe/mod.ts";
import { WIDE } from "../../support/peer_end.ts";
import { type Asked, checkAge, checkEnds, checkOwner, checkReply, HEALTH } from "./asked.ts";
import type { Answer } from "./answers.ts";
import type { FickleCallers } from "./fickle_callers.ts";
import { nameAt } from "./hosts.ts";
import type { Scene } from "./scene.ts";

/** Quiet after which a reply that has begun may be taken for a stream (see BACKEND_MAX_CONCURRENT). */
const QUIET_MS = 100;

/** What is under way at each backend, as it is counted: within its bounds at all times, and nothing in the end. */
export class Accounts {
  readonly #scene: Scene;
  /** Of all backends that there were, those too that are none any more. */
  readonly #backends = new Set<BackendCounters>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** No more calls are under way or wait than may, and none waits while there is room for it. */
  check({ hasBeenSilent, isAnyHeld }: { hasBeenSilent: boolean; isAnyHeld: boolean }): void {
    const { rig, options, hosts } = this.#scene;
    for (const { counters, trouble } of rig.proxy.inspection.backends()) {
      this.#backends.add(counters);
      const { name, inflight, pending, limit } = counters;
      const { backendMaxConcurrent, backendMaxPending } = options;
      assert(inflight >= 0 && inflight <= backendMaxConcurrent!, `${inflight} calls at ${name}`);
      assert(pending >= 0 && pending <= backendMaxPending!, `${pending} calls wait for ${name}`);
      const host = hosts.addresses.find((host) => nameAt(host, hosts) === name)!;
      const dialling = rig.diallingAt.get(host) ?? rig.dialling;
      const isOpen = trouble === "" && dialling === "accepts" && options.backendSettings === WIDE &&
        !hasBeenSilent;
      assert(!isOpen || pending === 0 || inflight >= limit, `${pending} calls wait for nothing`);
    }
    // What is held back a backend does not know yet, and so not what was given up either.
    if (!isAnyHeld) { for (const host of hosts.addresses) this.#checkMethods(host); }
  }

  /** No more calls of a method are at a backend than the policy has ever allowed, those that stream aside. */
  #checkMethods(host: string): void {
    const { rig, answers, rules } = this.#scene;
    const open = rig.requestsAt(host).filter((request) =>
      request.ended && request.messages.length < 2 && answers.isOpen(request) &&
      !this.#hasStreamed(answers.of(request))
    );
    for (const [path, most] of rules.mostAtOnce) {
      const count = open.filter((request) => request.path === path).length;
      assert(count <= most, `${count} calls of ${path} are at ${host}, ${most} may be`);
    }
  }

  /** The reply is a stream by its second message, or by its first one and the quiet after it. */
  #hasStreamed({ messages, saidMs }: Answer): boolean {
    const isQuiet = this.#scene.rig.clock.now() - saidMs >= QUIET_MS;
    return messages > 1 || messages === 1 && isQuiet;
  }

  checkRest(): void {
    for (const { name, inflight, pending } of this.#backends) {
      assertEquals({ inflight, pending }, { inflight: 0, pending: 0 }, `calls left at ${name}`);
    }
  }
}

/** Each call has one end, and the answer is its own; those of callers who are lost may have been heard or not. */
export function checkCalls(
  { rig, rules }: Scene,
  { callers, isDrained }: { callers: FickleCallers; isDrained: boolean },
): void {
  assertEquals(rig.heard.filter((text) => text.startsWith("fault of ours")), []);
  const byId = new Map(callers.asked.map((asked) => [asked.id, asked]));
  byId.delete("");
  for (const asked of callers.asked) {
    if (asked.path !== HEALTH) checkAnswer(asked);
    if (callers.lost.has(asked.caller) || asked.call.cancelled) continue;
    if (isDrained && isCut(asked)) continue;
    checkEnd(asked);
  }
  for (const caller of rig.callers) if (!callers.lost.has(caller)) checkEnds(caller);

  function checkAnswer(asked: Asked): void {
    checkReply(asked);
    checkOwner(asked, byId);
    checkAge(asked, rules);
  }

  function checkEnd({ call }: Asked): void {
    const { endedBy, reset } = call.reply;
    const isRefused = isDrained && reset !== undefined;
    assert(endedBy === "HEADERS" || isRefused, `call ${call.id} has no end: ${reset}`);
    assert(call.status !== undefined || isRefused, `call ${call.id} has no status`);
  }
}

/**
 * The drain's time was over, and its caller had not read for as long again as callers are given to hear the end: the
 * proxy closed the socket with the ends of its calls, and the GOAWAY, in a write that nobody took. A caller who does not
 * read does not know of the drain, and may have gone on to call on that connection when it was closed.
 */
function isCut({ caller: { socket } }: Asked): boolean {
  return socket.wasCut;
}

/** Each call that was heard has one outcome; who broke off may not have been heard. Returns how many have none. */
export function checkOutcomes(
  { rig }: Scene,
  { callers, isDrained }: { callers: FickleCallers; isDrained: boolean },
): number {
  const made = rig.callers.reduce((sum, { calls }) => sum + calls.length, 0);
  const outcomes = Object.values(rig.outcomes).reduce((sum, count) => sum + count, 0);
  const uncounted = made - outcomes;
  assert(uncounted >= -callers.strays, `${outcomes} outcomes of ${made} calls`);
  const mayBeUnheard = callers.asked.filter((asked) =>
    callers.lost.has(asked.caller) ||
    isDrained && (asked.call.reply.reset !== undefined || isCut(asked))
  );
  assert(uncounted <= mayBeUnheard.length, `${uncounted} calls have no outcome`);
  return uncounted;
}
