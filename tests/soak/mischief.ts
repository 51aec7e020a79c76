/**
 * What goes wrong while the soak runs: with backends (see `backend_mischief.ts`); callers' connections are cut and
 * replaced; rude callers come and go; the policy file is written anew.
 *
 * @module
 */

import type { BackendChild } from "./backend_child.ts";
import { BackendMischief } from "./backend_mischief.ts";
import { untilSeen } from "./looking.ts";
import type { OutageLog } from "./outages.ts";
import { type PolicyFile, TAKEN_WITHIN_MS } from "./policy_file.ts";
import { visitRudely } from "./rude.ts";
import type { SidecarChild } from "./sidecar_child.ts";
import type { Traffic } from "./traffic.ts";

/** Mean time between two misfortunes of each kind. */
const BACKEND_EVERY_MS = 6_000;
const LINK_EVERY_MS = 1_500;
const RUDE_EVERY_MS = 150;
const POLICY_EVERY_MS = 10_000;

/** Who is made to suffer. */
export interface Victim {
  readonly sidecar: SidecarChild;
  readonly traffic: Traffic;
}

export interface MischiefOptions {
  readonly backends: readonly BackendChild[];
  readonly policy: PolicyFile;
  readonly victims: readonly Victim[];
  readonly outages: OutageLog;
  readonly random: () => number;
  /** Times as often as usual. */
  readonly pace: number;
  readonly onTrouble: (why: string) => void;
}

/** Misfortunes at random times, each kind one at a time. */
export class Mischief {
  /** How often each has happened. */
  readonly counts = new Map<string, number>();
  readonly #options: MischiefOptions;
  readonly #backends: BackendMischief;
  #running: Promise<void>[] = [];
  #stop = Promise.withResolvers<void>();
  #stopped = false;

  constructor(options: MischiefOptions) {
    this.#options = options;
    this.#backends = new BackendMischief({
      ...options,
      sidecars: options.victims.map(({ sidecar }) => sidecar),
      onCount: (what) => this.#count(what),
    });
  }

  start(): void {
    const { victims } = this.#options;
    this.#stopped = false;
    this.#stop = Promise.withResolvers();
    this.#running = [
      this.#every(BACKEND_EVERY_MS, () => this.#backends.hurt()),
      this.#every(POLICY_EVERY_MS, () => this.#ruleAnew()),
      ...victims.map((victim) => this.#every(LINK_EVERY_MS, () => this.#hurtLink(victim))),
      ...victims.map(({ sidecar }) =>
        this.#every(RUDE_EVERY_MS, async () => {
          this.#count(`rude caller: ${await visitRudely(sidecar.dial, this.#options.random)}`);
        })
      ),
    ];
  }

  /** Resolves when what is under way has been made good. */
  async pause(): Promise<void> {
    this.#stopped = true;
    this.#stop.resolve();
    await Promise.all(this.#running);
  }

  async #every(meanMs: number, work: () => Promise<void>): Promise<void> {
    const { random, pace, onTrouble } = this.#options;
    for (;;) {
      await this.#rest(meanMs / pace * (0.25 + 1.5 * random()));
      if (this.#stopped) return;
      try {
        await work();
      } catch (error) {
        const nowMs = performance.now();
        if (isRefusal(error) && this.#options.outages.mayBeShut(nowMs, nowMs)) continue;
        onTrouble(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** Waits, unless it is to stop. */
  async #rest(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>();
    const id = setTimeout(timer.resolve, ms);
    await Promise.race([timer.promise, this.#stop.promise]);
    clearTimeout(id);
  }

  async #hurtLink({ traffic }: Victim): Promise<void> {
    const how = this.#options.random() < 0.6 ? "cut" : "leave";
    await traffic.replaceLink(how);
    this.#count(how === "cut" ? "caller's connection cut" : "caller's connection ended");
  }

  /** The file says something else, and every sidecar takes it or says why it cannot. */
  async #ruleAnew(): Promise<void> {
    const { policy, victims, random } = this.#options;
    const isBroken = random() < 0.2;
    if (isBroken) policy.break();
    else policy.rewrite();
    this.#count(isBroken ? "policy file broken" : "policy file rewritten");
    const times = isBroken ? policy.broken : policy.written;
    await Promise.all(victims.map(({ sidecar }) =>
      untilSeen(
        () =>
          sidecar.countLogged(isBroken ? "Policy file not taken" : "Policy file taken") >= times,
        `${sidecar.transport}: the policy file ${isBroken ? "refused" : "taken"} ${times} times`,
        TAKEN_WITHIN_MS,
      )
    ));
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** Nobody takes connections there, by TCP or at a path. */
function isRefusal(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotFound;
}
