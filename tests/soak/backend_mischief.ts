/**
 * What goes wrong with backends: one is killed, cut off, told to go, frozen or stalled, while the others are well. It is
 * over when every sidecar gives that backend calls again, which it must.
 *
 * @module
 */

import type { BackendChild } from "./backend_child.ts";
import { untilSeen } from "./looking.ts";
import type { OutageLog } from "./outages.ts";
import type { SidecarChild } from "./sidecar_child.ts";

/** Longest that a backend stays away, or stands still. */
const AWAY_MS = 1_500;
const FROZEN_MS = 700;

/** Longest that one of several answers nothing: above the patience of most callers, and below BACKEND_TIMEOUT. */
const STALLED_MS = 9_000;

/** From a sidecar's socket to the judge, on a busy machine. */
const NEWS_MS = 250;

/** A sidecar must give its backend calls again within this time, on a busy machine: the longest ejection, and as much again. */
const BACK_LIMIT_MS = 60_000;

export interface BackendMischiefOptions {
  readonly backends: readonly BackendChild[];
  readonly sidecars: readonly SidecarChild[];
  readonly outages: OutageLog;
  readonly random: () => number;
  /** Times as often as usual. */
  readonly pace: number;
  /** Told of each. */
  readonly onCount: (what: string) => void;
}

/** One misfortune after another, each of one backend. */
export class BackendMischief {
  readonly #options: BackendMischiefOptions;

  constructor(options: BackendMischiefOptions) {
    this.#options = options;
  }

  /** Resolves when it has been made good. */
  async hurt(): Promise<void> {
    const { backends, outages, random } = this.#options;
    const backend = backends[Math.floor(random() * backends.length)]!;
    const [what, isOutage, work] = this.#choose(random(), backend);
    this.#options.onCount(`backend ${what}`);
    if (!isOutage) return await work();
    const endOutage = outages.begin(backend.name);
    await work();
    // The first answer may be from before a sidecar knew; the last calls that failed are on their way to us.
    await this.#isBack(backend);
    await this.#isBack(backend);
    await pause(NEWS_MS);
    endOutage();
  }

  #choose(
    chance: number,
    backend: BackendChild,
  ): [what: string, isOutage: boolean, work: () => Promise<void>] {
    const areSeveral = this.#options.backends.length > 1;
    if (chance < 0.25) return ["told to go (GOAWAY)", false, () => backend.tell("goaway")];
    // Nobody notices when the only backend stands still for a moment; one of several may be left out for that.
    if (chance < 0.45 && !areSeveral) {
      return ["frozen", false, () => this.#freeze(backend, FROZEN_MS)];
    }
    if (chance < 0.35) return ["frozen", true, () => this.#freeze(backend, STALLED_MS)];
    if (chance < 0.5 && areSeveral) return ["stalled", true, () => this.#stall(backend)];
    if (chance < 0.6) return ["cut off", true, () => this.#cut(backend)];
    const signal = chance < 0.85 ? "SIGKILL" : "SIGTERM";
    return [`restarted (${signal})`, true, () => this.#restart(backend, signal)];
  }

  async #freeze(backend: BackendChild, longestMs: number): Promise<void> {
    backend.freeze();
    await this.#wait(longestMs);
    backend.thaw();
  }

  async #stall(backend: BackendChild): Promise<void> {
    await backend.tell("stall");
    await this.#wait(STALLED_MS);
    await backend.tell("resume");
  }

  async #cut(backend: BackendChild): Promise<void> {
    await backend.tell("abort");
    await backend.count(); // it obeys in order
  }

  async #restart(backend: BackendChild, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    await backend.stop(signal);
    await this.#wait(AWAY_MS);
    await backend.start();
  }

  async #wait(longestMs: number): Promise<void> {
    const { random, pace } = this.#options;
    await pause(random() * longestMs / pace);
  }

  async #isBack({ name }: BackendChild): Promise<void> {
    await Promise.all(this.#options.sidecars.map((sidecar) =>
      untilSeen(
        () => sidecar.hasBack(name),
        `${sidecar.transport}: ${name} given calls again`,
        BACK_LIMIT_MS,
      )
    ));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
