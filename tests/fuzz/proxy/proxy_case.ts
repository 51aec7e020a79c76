import { assert, assertEquals } from "@std/assert";
import { WIDE } from "../../support/peer_end.ts";
import { ProxyRig, type RigOptions } from "../../support/proxy_rig.ts";
import type { Draws } from "../draws.ts";
import { checkAge, checkEnds, checkReply, HEALTH, Timeline } from "./asked.ts";
import { FickleBackend } from "./fickle_backend.ts";
import { FickleCallers } from "./fickle_callers.ts";
import { heldBytes, watchHeld } from "./held_bytes.ts";
import { randomOptions } from "./options.ts";

const MOST_STEPS = 80;
/** A proxy among callers and a backend that do anything; each reply says whose it is and how long it must be. */
export class ProxyCase {
  readonly #draws: Draws;
  readonly #rig: ProxyRig;
  readonly #callers: FickleCallers;
  readonly #backend: FickleBackend;
  #drained: Promise<number> | undefined = undefined;
  readonly #options: RigOptions;

  /** `planted` goes over what chance says, for tests of the checks themselves. */
  constructor(draws: Draws, planted: RigOptions = {}) {
    this.#draws = draws;
    const options = { ...randomOptions(draws), ...planted };
    draws.note(JSON.stringify(options));
    this.#options = options;
    this.#rig = new ProxyRig(options);
    watchHeld(this.#rig);
    const timeline = new Timeline();
    this.#callers = new FickleCallers(draws, this.#rig, timeline);
    this.#backend = new FickleBackend(draws, this.#rig, timeline);
  }

  async run(): Promise<void> {
    const draws = this.#draws;
    await this.#rig.settle();
    await this.#callers.add();
    await this.#callers.add();
    const isHasty = draws.chance(0.5); // many things in one turn of the loop
    for (let left = 5 + draws.below(MOST_STEPS); left > 0; left--) {
      await this.#step();
      if (isHasty && !draws.chance(0.3)) continue;
      await this.#rig.settle();
      this.#checkPending();
    }
    await this.#finish();
  }

  async #step(): Promise<void> {
    const draws = this.#draws;
    const request = this.#backend.any();
    const step = draws.weighted<() => unknown>([
      [1, () => this.#callers.add()],
      [10, () => this.#callers.ask()],
      [4, () => this.#callers.burst()],
      [0.3, () => this.#callers.askHealth()],
      [3, () => this.#callers.goOn()],
      [2, () => this.#callers.cancel()],
      [14, () => request !== undefined && this.#backend.answer(request)],
      [1, () => request !== undefined && this.#backend.fail(request)],
      [0.3, () => this.#callers.leave()],
      [1.5, () => this.#callers.window()],
      [1, () => this.#hold()],
      [0.2, () => this.#callers.breakOne()],
      [0.3, () => this.#backend.breakConnection()],
      [0.2, () => this.#dialling()],
      [0.1, () => this.#silence()],
      [5, () => this.#wait()],
      [0.1, () => this.#drain()],
    ]);
    await step();
    if (draws.chance(0.01)) await this.#stall();
  }

  /** An end stops reading, or goes on. */
  #hold(): void {
    const { callers, backends } = this.#rig;
    const ends = [...callers, ...backends];
    if (ends.length === 0) return;
    const { socket } = this.#draws.pick(ends);
    if (this.#draws.chance(0.5)) socket.release();
    else socket.hold();
  }

  #dialling(): void {
    this.#rig.dialling = this.#draws.pick(["accepts", "refuses", "hangs"]);
    this.#rig.answerDials();
  }

  /** The backend's host is gone without a word: only a PING tells. */
  async #silence(): Promise<void> {
    this.#draws.note("a backend falls silent");
    for (const backend of this.#rig.backends) backend.answersPings = false;
    await this.#rig.advance(60_000);
  }

  // ---- time

  async #wait(): Promise<void> {
    const ms = this.#draws.pick([1, 4, 12, 60, 110, 1_100, 5_000]);
    this.#draws.note(`${ms} ms pass`);
    await this.#rig.advance(ms);
  }

  /** The loop is busy; what had come before has been read, so that its age is known. */
  async #stall(): Promise<void> {
    await this.#rig.settle();
    await this.#rig.stall(this.#draws.below(2_000));
  }

  #drain(): void {
    this.#draws.note("a drain begins");
    this.#drained ??= this.#rig.proxy.drain(500);
  }

  // ---- the end

  /** Everybody does what is expected, until every call has its end. */
  async #finish(): Promise<void> {
    const rig = this.#rig;
    this.#draws.note("everybody comes to an end");
    rig.dialling = "accepts";
    rig.answerDials();
    for (const { socket } of [...rig.callers, ...rig.backends]) socket.release();
    await rig.settle();
    this.#callers.finish();
    await rig.settle();
    this.#backend.checkCredit({ isAllRead: this.#drained === undefined });
    for (let round = 0; round < 3; round++) {
      await this.#backend.answerAll();
      await rig.advance(4_000);
    }
    await this.#drained;
    for (const caller of this.#callers.lost) caller.leaves();
    await rig.settle();
    this.#backend.checkCredit({ isAllRead: false });
    this.#checkCalls();
    this.#checkAccounts();
    assertEquals(heldBytes(rig), 0, "bytes of requests that are held");
    await rig.advance(2_000);
    const { entries, bytes } = rig.proxy.map.stored;
    if (this.#drained === undefined) {
      assertEquals([entries, bytes], [0, 0], "results that are kept");
    }
    await rig.finish();
  }

  /** No call waits while there is room for it. */
  #checkPending(): void {
    const rig = this.#rig;
    const { backendSettings, backendMaxConcurrent } = this.#options;
    if (backendSettings !== WIDE || rig.dialling !== "accepts" || !rig.proxy.readiness.ready) {
      return;
    }
    const { pending, inflight } = rig.gauges;
    assert(
      pending === 0 || inflight! >= backendMaxConcurrent!,
      `${pending} calls wait for nothing`,
    );
  }

  #checkCalls(): void {
    assertEquals(this.#rig.heard.filter((text) => text.startsWith("fault of ours")), []);
    for (const asked of this.#callers.asked) {
      const { call, caller } = asked;
      if (asked.path !== HEALTH) checkReply(asked);
      if (asked.path !== HEALTH) checkAge(asked, this.#options);
      if (this.#callers.lost.has(caller) || call.cancelled) continue;
      const { endedBy, reset } = call.reply;
      const isRefused = this.#drained !== undefined && reset !== undefined;
      assert(endedBy === "HEADERS" || isRefused, `call ${call.id} has no end: ${reset}`);
      assert(call.status !== undefined || isRefused, `call ${call.id} has no status`);
    }
    for (const caller of this.#rig.callers) if (!this.#callers.lost.has(caller)) checkEnds(caller);
  }

  /** Each call that was heard has one outcome; who broke off may not have been heard. */
  #checkAccounts(): void {
    const rig = this.#rig;
    const outcomes = Object.values(rig.outcomes).reduce((sum, count) => sum + count, 0);
    const uncounted = this.#callers.asked.length - outcomes;
    assert(
      uncounted >= -this.#callers.strays,
      `${outcomes} outcomes of ${this.#callers.asked.length} calls`,
    );
    const mayBeUnheard = this.#callers.asked.filter(({ caller, call }) =>
      this.#callers.lost.has(caller) ||
      this.#drained !== undefined && call.reply.reset !== undefined
    );
    assert(uncounted <= mayBeUnheard.length, `${uncounted} calls have no outcome`);
    rig.uncounted = uncounted;
  }
}
