/**
 * Calls of all four kinds at an even rate, whatever comes back, over a few connections that come and go.
 *
 * @module
 */

import type { Socket } from "../../lib/transport/mod.ts";
import { CallerLink } from "./caller_link.ts";
import { keyOfMany, keyOnce, type MethodName, TENANTS } from "./content.ts";
import { type CallChoice, SoakCall } from "./soak_call.ts";

/** Shares of the methods in a hundred calls. */
const MIX: readonly (readonly [name: MethodName, share: number])[] = [
  ["get", 44],
  ["list", 14],
  ["query", 4],
  ["put", 1],
  ["post", 12],
  ["watch", 7],
  ["upload", 9],
  ["exchange", 9],
];

/** Distinct keys that many ask for: so many that one is in flight when it is asked for again, and none for ever. */
const SHARED_KEYS = 30;

/** Share of the calls for a key that nobody asks for again. */
const ONCE_SHARE = 0.25;

/** Calls are made this often, as many as are due: a timer for each would be late as well. */
const TICK_MS = 5;

/** How often a sidecar is dialled that may take nobody now. */
const REDIAL_MS = 200;

/** More under way than this means that something stands still: no more are made until some have ended. */
const MAX_UNDER_WAY = 1_500;

export interface TrafficOptions {
  /** Tells its keys apart from those of the other sidecars' callers. */
  readonly name: string;
  readonly dial: () => Promise<Socket>;
  readonly links: number;
  readonly perSecond: number;
  /** Shards that calls are meant for, each of them one; empty where any backend can answer. */
  readonly shards: readonly string[];
  readonly random: () => number;
  readonly onEnd: (call: SoakCall) => void;
  readonly onTrouble: (why: string) => void;
  /** Whether the sidecar may take no callers now: its only backend is away, or just back. */
  readonly mayBeShut: () => boolean;
}

/** The callers of one sidecar. */
export class Traffic {
  /** Calls made so far, and those that were due and not made: too many were under way, or the connection was not. */
  made = 0;
  heldBack = 0;
  /** Longest that this process itself was late: calls take longer then through nobody's fault. */
  lateMs = 0;
  readonly #options: TrafficOptions;
  readonly #underWay = new Set<SoakCall>();
  readonly #links: (CallerLink | undefined)[];
  readonly #all = new Set<CallerLink>();
  #ticking: ReturnType<typeof setInterval> | undefined = undefined;
  #owed = 0;
  #isClosed = false;
  #lastTickMs = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#links = new Array(options.links).fill(undefined);
  }

  /** Opens all connections. */
  async open(): Promise<void> {
    await Promise.all(this.#links.map((_, at) => this.#connect(at)));
  }

  start(): void {
    this.#lastTickMs = performance.now();
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Makes no more calls. */
  pause(): void {
    clearInterval(this.#ticking);
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Connections that are open, those that finish their last calls included. */
  get links(): number {
    return this.#all.size;
  }

  /** The call that has been under way for longest. */
  get oldest(): SoakCall | undefined {
    return this.#underWay.values().next().value;
  }

  /** Cuts one connection, or lets it end in order, and makes another in its place. */
  async replaceLink(how: "cut" | "leave"): Promise<void> {
    const at = Math.floor(this.#options.random() * this.#links.length);
    const link = this.#links[at];
    if (link === undefined) return; // it is being made
    this.#links[at] = undefined;
    link[how]();
    await this.#connect(at);
  }

  async close(): Promise<void> {
    this.pause();
    this.#isClosed = true;
    for (const link of this.#all) link.leave();
    await Promise.all([...this.#all].map(({ gone }) => gone));
  }

  async #connect(at: number): Promise<void> {
    const { dial, mayBeShut, onTrouble } = this.#options;
    for (;;) {
      try {
        const link = new CallerLink(await dial());
        this.#all.add(link);
        link.gone.then(() => this.#lost(link, at));
        this.#links[at] = link;
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if (!mayBeShut()) {
          return onTrouble(`Cannot connect: ${error instanceof Error ? error.message : error}`);
        }
        await new Promise((resume) => setTimeout(resume, REDIAL_MS));
      }
    }
  }

  /** A connection is gone: unless that was ours to do, the sidecar has sent its callers away, and another is made. */
  #lost(link: CallerLink, at: number): void {
    this.#all.delete(link);
    if (this.#links[at] !== link || this.#isClosed) return;
    this.#links[at] = undefined;
    void this.#connect(at);
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#owed += (nowMs - this.#lastTickMs) * this.#options.perSecond / 1_000;
    this.lateMs = Math.max(this.lateMs, nowMs - this.#lastTickMs - TICK_MS);
    this.#lastTickMs = nowMs;
    for (; this.#owed >= 1; this.#owed--) {
      if (this.#underWay.size >= MAX_UNDER_WAY) this.heldBack++;
      else this.#call();
    }
  }

  #call(): void {
    const { random, onEnd, name, shards } = this.#options;
    const link = this.#links[Math.floor(random() * this.#links.length)];
    const choice = choose(random, `${name}${this.made}`, shards);
    if (!link?.canOpen) return void this.heldBack++; // it is being made
    this.made++;
    const call = new SoakCall(choice, {
      carrier: link,
      onEnd: (call) => {
        this.#underWay.delete(call);
        onEnd(call);
      },
    });
    this.#underWay.add(call);
    link.open(call);
  }
}

function choose(random: () => number, id: string, shards: readonly string[]): CallChoice {
  const name = methodOf(random() * 100);
  const isOnce = random() < ONCE_SHARE;
  const hot = Math.floor(random() ** 2 * SHARED_KEYS);
  return {
    name,
    key: isOnce ? keyOnce(name, id) : keyOfMany(name, hot),
    tenant: TENANTS[Math.floor(random() ** 2 * TENANTS.length)]!,
    deadlineMs: deadlineOf(random),
    cancelAfterMs: random() < 0.06 ? Math.floor(random() ** 2 * 120) : undefined,
    cacheControl: cacheControlOf(random()),
    wantsDebug: random() < 0.5,
    isSlow: random() < 0.04,
    ...shards.length === 0 ? {} : { shard: shards[Math.floor(random() * shards.length)]! },
  };
}

function methodOf(percent: number): MethodName {
  let rest = percent;
  for (const [name, share] of MIX) {
    if (rest < share) return name;
    rest -= share;
  }
  return "get";
}

/** Most have none or plenty; some less than their backend takes. */
function deadlineOf(random: () => number): number | undefined {
  const chance = random();
  if (chance < 0.06) return 1 + Math.floor(random() * 60);
  return chance < 0.2 ? 5_000 : undefined;
}

function cacheControlOf(chance: number): string | undefined {
  if (chance < 0.02) return "no-cache";
  return chance < 0.04 ? "no-store" : undefined;
}
