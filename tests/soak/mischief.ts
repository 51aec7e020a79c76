/**
 * What goes wrong while the soak runs: the backend is killed, restarted, cut off, told to go, frozen; callers'
 * connections are cut and replaced; rude callers come and go.
 *
 * @module
 */

import { until } from "../support/waiting.ts";
import type { BackendChild } from "./backend_child.ts";
import type { OutageLog } from "./outages.ts";
import { visitRudely } from "./rude.ts";
import type { SidecarChild } from "./sidecar_child.ts";
import type { Traffic } from "./traffic.ts";

/** Mean time between two misfortunes of each kind. */
const BACKEND_EVERY_MS = 6_000;
const LINK_EVERY_MS = 1_500;
const RUDE_EVERY_MS = 150;

/** Longest that a backend stays away, or stands still. */
const AWAY_MS = 1_500;
const FROZEN_MS = 700;

/** From a sidecar's socket to the judge, on a busy machine. */
const NEWS_MS = 250;

/** A sidecar must find its backend again within this time, on a busy machine. */
const BACK_LIMIT_MS = 60_000;

/** Who is made to suffer. */
export interface Victim {
  readonly sidecar: SidecarChild;
  readonly traffic: Traffic;
}

export interface MischiefOptions {
  readonly backend: BackendChild;
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
  #running: Promise<void>[] = [];
  #stop = Promise.withResolvers<void>();
  #stopped = false;

  constructor(options: MischiefOptions) {
    this.#options = options;
  }

  start(): void {
    const { victims } = this.#options;
    this.#stopped = false;
    this.#stop = Promise.withResolvers();
    this.#running = [
      this.#every(BACKEND_EVERY_MS, () => this.#hurtBackend()),
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

  async #hurtBackend(): Promise<void> {
    const { backend, random, pace, outages } = this.#options;
    const chance = random();
    if (chance < 0.25) {
      this.#count("backend told to go (GOAWAY)");
      return await backend.tell("goaway");
    }
    if (chance < 0.45) {
      this.#count("backend frozen");
      backend.freeze();
      await pause(random() * FROZEN_MS);
      return backend.thaw();
    }
    const endOutage = outages.begin();
    if (chance < 0.6) {
      this.#count("backend's connections cut");
      await backend.tell("abort");
      await backend.count(); // it obeys in order
    } else {
      const signal = chance < 0.85 ? "SIGKILL" : "SIGTERM";
      this.#count(`backend restarted (${signal})`);
      await backend.stop(signal);
      await pause(random() * AWAY_MS / pace);
      await backend.start();
    }
    // The first answer may be from before a sidecar knew; the last calls that failed are on their way to us.
    await this.#allReady();
    await this.#allReady();
    await pause(NEWS_MS);
    endOutage();
  }

  async #allReady(): Promise<void> {
    const { victims } = this.#options;
    await Promise.all(
      victims.map(({ sidecar }) =>
        until(() => sidecar.isReady(), "a sidecar that has its backend back", BACK_LIMIT_MS)
      ),
    );
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
