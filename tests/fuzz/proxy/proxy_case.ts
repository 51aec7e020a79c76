import { assertEquals } from "@std/assert";
import type { MemorySocket } from "../../support/memory_socket.ts";
import { ProxyRig, type RigOptions } from "../../support/proxy_rig.ts";
import type { Draws } from "../draws.ts";
import { Accounts, checkCalls, checkOutcomes } from "./accounts.ts";
import { Answers } from "./answers.ts";
import { Timeline } from "./asked.ts";
import { FickleBackend } from "./fickle_backend.ts";
import { FickleCallers } from "./fickle_callers.ts";
import { FickleNetwork } from "./fickle_network.ts";
import { expectAllBack, heal } from "./healing.ts";
import { checkHeld } from "./held_bytes.ts";
import { type Hosts, randomHosts } from "./hosts.ts";
import { randomOptions, randomPolicies, unusual } from "./options.ts";
import { checkSentOnce, checkShards } from "./placement.ts";
import { Rules } from "./rules.ts";
import type { Scene } from "./scene.ts";

const MOST_STEPS = 80;

/** Results that have expired are swept once a second. */
const SWEPT_WITHIN_MS = 2_000;

/** Calls are passed on with what is left of their time, and given up when it is over: none has more. */
const CALLS_END_WITHIN_MS = 12_000;

/** What goes over what chance says, for tests of the checks themselves. */
export interface Planted {
  readonly hosts?: Partial<Hosts>;
  readonly options?: RigOptions;
  /** The proxy alone is told so, and is judged as if it had not been. */
  readonly lies?: RigOptions;
}

/** A proxy among callers and backends that do anything; each reply says whose it is and how long it must be. */
export class ProxyCase {
  readonly #scene: Scene;
  readonly #callers: FickleCallers;
  readonly #backend: FickleBackend;
  readonly #network: FickleNetwork;
  readonly #accounts: Accounts;
  /** Ends that do not read. */
  readonly #held = new Set<MemorySocket>();
  #drained: Promise<number> | undefined = undefined;

  constructor(draws: Draws, planted: Planted = {}) {
    const hosts = { ...randomHosts(draws), ...planted.hosts };
    const options = { ...randomOptions(draws, hosts), ...planted.options };
    draws.note(JSON.stringify(hosts));
    draws.note(unusual(options, hosts));
    const rig = new ProxyRig({ ...options, ...planted.lies, opens: false });
    const timeline = new Timeline();
    const answers = new Answers(rig, timeline);
    const rules = new Rules(options);
    this.#scene = { draws, rig, options, hosts, rules, timeline, answers };
    this.#callers = new FickleCallers(this.#scene);
    this.#backend = new FickleBackend(this.#scene);
    this.#network = new FickleNetwork(this.#scene);
    this.#accounts = new Accounts(this.#scene);
    rig.proxy.open();
  }

  async run(): Promise<void> {
    const { draws, rig } = this.#scene;
    await rig.settle();
    await this.#callers.add();
    await this.#callers.add();
    const isHasty = draws.chance(0.5); // many things in one turn of the loop
    for (let left = 5 + draws.below(MOST_STEPS); left > 0; left--) {
      await this.#step();
      if (isHasty && !draws.chance(0.3)) continue;
      await rig.settle();
      const { hasBeenSilent } = this.#network;
      this.#accounts.check({ hasBeenSilent, isAnyHeld: this.#held.size > 0 });
      checkHeld(rig);
    }
    await this.#finish();
  }

  async #step(): Promise<void> {
    const { draws, rig } = this.#scene;
    const request = this.#backend.any();
    const question = this.#backend.questions.any();
    const isAnyOut = rig.proxy.inspection.backends().some(({ standing }) => standing !== "healthy");
    const step = draws.weighted<() => unknown>([
      [1, () => this.#callers.add()],
      [10, () => this.#callers.ask()],
      [4, () => this.#callers.burst()],
      [0.2, () => this.#callers.flood()],
      [0.3, () => this.#callers.askHealth()],
      [3, () => this.#callers.goOn()],
      [2, () => this.#callers.cancel()],
      [14, () => request !== undefined && this.#backend.answer(request)],
      [1, () => request !== undefined && this.#backend.fail(request)],
      [3, () => question !== undefined && this.#backend.questions.answer(question)],
      [1.5, () => this.#backend.changeMood()],
      [0.3, () => this.#callers.leave()],
      [1.5, () => this.#callers.window()],
      [1, () => this.#hold()],
      [0.2, () => this.#callers.breakOne()],
      [0.5, () => this.#network.breakConnection()],
      [0.3, () => this.#network.dialling()],
      [0.1, () => this.#network.greeting()],
      [1, () => this.#network.rename()],
      [0.1, () => this.#network.silence()],
      [0.2, () => this.#rule()],
      [0.1, () => rig.proxy.map.purge()],
      [5, () => this.#wait()],
      [0.1, () => this.#drain()],
      // What is to come comes by time, or by calls.
      [isAnyOut ? 4 : 0, () => this.#pass(1_100)],
      [isAnyOut ? 4 : 0, () => this.#callers.burst()],
      [isAnyOut ? 2 : 0, () => this.#backend.changeMood()],
    ]);
    await step();
    if (draws.chance(0.01)) await this.#stall();
  }

  /** An end stops reading, or goes on. */
  #hold(): void {
    const { draws, rig: { callers, backends } } = this.#scene;
    const ends = [...callers, ...backends];
    if (ends.length === 0) return;
    const end = draws.pick(ends);
    const { socket } = end;
    const at = ends.indexOf(end);
    const who = at < callers.length ? `caller ${at + 1}` : `backend ${at - callers.length + 1}`;
    if (draws.chance(0.5)) {
      draws.note(`${who} reads on`);
      this.#held.delete(socket);
      socket.release();
    } else {
      draws.note(`${who} stops reading`);
      this.#held.add(socket);
      socket.hold();
    }
  }

  /** The policy file says something else. */
  #rule(): void {
    const { draws, rig, rules } = this.#scene;
    const policies = randomPolicies(draws);
    draws.note(`the policy file says ${JSON.stringify(policies)}`);
    rules.allow(policies);
    rig.proxy.setPolicies(policies);
  }

  // ---- time

  async #wait(): Promise<void> {
    await this.#pass(this.#scene.draws.pick([1, 4, 12, 60, 110, 1_100, 5_000]));
  }

  async #pass(ms: number): Promise<void> {
    const { draws, rig } = this.#scene;
    draws.note(`${ms} ms pass`);
    await rig.advance(ms);
  }

  /** The loop is busy; what had come before has been read, so that its age is known. */
  async #stall(): Promise<void> {
    const { draws, rig } = this.#scene;
    await rig.settle();
    await rig.stall(draws.below(2_000));
  }

  #drain(): void {
    const { draws, rig } = this.#scene;
    draws.note("a drain begins");
    this.#drained ??= rig.proxy.drain(500);
  }

  // ---- the end

  /** Everybody does what is expected, until every call has its end. */
  async #finish(): Promise<void> {
    const { draws, rig, answers } = this.#scene;
    draws.note("everybody comes to an end");
    for (const { socket } of [...rig.callers, ...rig.backends]) socket.release();
    await rig.settle();
    this.#callers.finish();
    await rig.settle();
    answers.checkCredit({ isAllRead: this.#drained === undefined });
    const named = await heal(this.#scene, { backend: this.#backend, network: this.#network });
    for (const caller of this.#callers.lost) caller.leaves(); // their calls may never be whole, and take a place
    await rig.settle();
    if (this.#drained === undefined) await expectAllBack(this.#scene, named);
    await rig.advance(CALLS_END_WITHIN_MS);
    await this.#drained;
    answers.checkCredit({ isAllRead: false });
    this.#checkEnds();
    await rig.advance(this.#scene.rules.keepMs + SWEPT_WITHIN_MS);
    const { entries, bytes } = rig.proxy.map.stored;
    if (this.#drained === undefined) {
      assertEquals([entries, bytes], [0, 0], "results that are kept");
    }
    for (const caller of rig.callers) caller.leaves();
    await rig.settle();
    answers.checkNoneOpen();
    this.#accounts.checkRest();
    await rig.finish();
  }

  #checkEnds(): void {
    const callers = this.#callers;
    const isDrained = this.#drained !== undefined;
    checkSentOnce(this.#scene);
    checkShards(this.#scene, this.#network);
    checkCalls(this.#scene, { callers, isDrained });
    this.#scene.rig.uncounted = checkOutcomes(this.#scene, { callers, isDrained });
  }
}
