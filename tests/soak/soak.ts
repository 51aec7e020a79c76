/**
 * Mixed traffic and misfortune for some minutes, every reply checked, and at the end nothing left behind.
 *
 * Three sidecars, for callers over TCP, TLS and a unix socket, stand before one backend or several; all are processes of
 * their own. Some times on the way everything pauses: calls end, garbage is collected, what must be zero is, and memory is
 * measured.
 *
 * @module
 */

import { CertificateFolder } from "../support/certificate_folder.ts";
import { rng } from "../support/cuts.ts";
import { until } from "../support/waiting.ts";
import { BackendChild } from "./backend_child.ts";
import { judgeMemory, SHORTEST_JUDGED_MINUTES } from "./memory.ts";
import { Mischief } from "./mischief.ts";
import { OutageLog } from "./outages.ts";
import type { BackendKind } from "./place.ts";
import { PolicyFile } from "./policy_file.ts";
import { SidecarChild, type Transport, TRANSPORTS } from "./sidecar_child.ts";
import { type SidecarResult, Site } from "./site.ts";
import { Tally } from "./tally.ts";

/** Pauses, and memory samples. */
const PARTS = 10;

/** Longest that is waited for enough. */
const OVERTIME_MS = 60_000;

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly perSecond: number;
  readonly transports?: readonly Transport[];
  readonly sidecarArgs?: readonly string[];
  /** Backends of each sidecar. @default 1 */
  readonly backends?: number;
  /** What several backends are. @default "replicas" */
  readonly kind?: BackendKind;
  /** Pauses on the way. @default 10 */
  readonly parts?: number;
  /** Misfortunes come this many times as often as usual. @default 1 */
  readonly pace?: number;
  /** Goes on past its time until this holds: a busy machine may need longer for as much. */
  readonly isEnough?: (tally: Tally, mischief: ReadonlyMap<string, number>) => boolean;
  /** Ends it early, with its reason. */
  readonly signal?: AbortSignal;
  /** Told how it goes, some times a second. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly elapsedMs: number;
  readonly calls: number;
  readonly underWay: number;
  readonly faultCount: number;
  /** The first of them, in full. */
  readonly faults: readonly string[];
  readonly residentBytes: readonly number[];
}

export interface SoakResult {
  readonly tally: Tally;
  readonly seconds: number;
  readonly heldBack: number;
  /** Longest that this process was late with a call. */
  readonly lateMs: number;
  /** Calls of each backend. */
  readonly backendCalls: readonly number[];
  readonly backendLateMs: number;
  readonly mischief: ReadonlyMap<string, number>;
  readonly sidecars: readonly SidecarResult[];
}

/** Runs it. What is wrong is in the tally; rejects only when it cannot go on. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { backends: count = 1, kind = "replicas", sidecarArgs: args = [] } = options;
  const random = rng(options.seed);
  using folder = new CertificateFolder();
  await using children = new AsyncDisposableStack();
  const backends = Array.from(
    { length: count },
    (_, index) => children.use(new BackendChild(index, { count, kind })),
  );
  await Promise.all(backends.map((backend) => backend.start()));
  const policy = new PolicyFile(folder.free("policy.json"), random);
  const run = new Soak(options, { backends, policy, random });
  for (const transport of options.transports ?? TRANSPORTS) {
    const around = { backends, kind, policyPath: policy.path, folder, args };
    run.add(children.use(await SidecarChild.start(transport, around)));
  }
  return await run.run();
}

/** What a soak is made of, beside its sidecars. */
interface SoakParts {
  readonly backends: readonly BackendChild[];
  readonly policy: PolicyFile;
  readonly random: () => number;
}

class Soak {
  readonly #options: SoakOptions;
  readonly #parts: SoakParts;
  readonly #outages = new OutageLog();
  readonly #tally = new Tally(this.#outages);
  readonly #sites: Site[] = [];

  constructor(options: SoakOptions, parts: SoakParts) {
    this.#options = options;
    this.#parts = parts;
  }

  add(sidecar: SidecarChild): void {
    const { perSecond, kind } = this.#options;
    const { backends, random } = this.#parts;
    const shards = kind === "shards" ? backends.map(({ name }) => name) : [];
    // Where there are several backends, callers stay.
    const mayBeShut = () =>
      backends.length === 1 && this.#outages.mayBeShut(performance.now(), performance.now());
    const options = { tally: this.#tally, random, perSecond, shards, mayBeShut };
    this.#sites.push(new Site(sidecar, options));
  }

  async run(): Promise<SoakResult> {
    const { minutes, parts = PARTS, pace = 1 } = this.#options;
    const mischief = new Mischief({
      ...this.#parts,
      victims: this.#sites,
      outages: this.#outages,
      pace,
      onTrouble: (why) => this.#tally.fault(why),
    });
    await Promise.all(this.#sites.map(({ traffic }) => traffic.open()));
    const startedMs = performance.now();
    for (let part = 1; part <= parts; part++) {
      mischief.start();
      for (const { traffic } of this.#sites) traffic.start();
      await this.#watchUntil(startedMs + minutes * 60_000 * part / parts, startedMs);
      if (part === parts) await this.#watchUntilEnough(mischief, startedMs);
      await mischief.pause(); // first: it is calls that bring a backend back
      for (const { traffic } of this.#sites) traffic.pause();
      await this.#rest(startedMs);
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    const ends = await Promise.all(this.#sites.map((site) => site.end()));
    this.#judgeMemory();
    const heldBack = this.#sites.reduce((sum, { traffic }) => sum + traffic.heldBack, 0);
    const lateMs = Math.max(...this.#sites.map(({ traffic }) => traffic.lateMs));
    const { backends } = this.#parts;
    const backendCalls = await Promise.all(backends.map((backend) => backend.allCalls()));
    return {
      ...{
        tally: this.#tally,
        seconds,
        heldBack,
        lateMs,
        backendCalls,
        backendLateMs: Math.max(...backends.map((backend) => backend.lateMs)),
      },
      mischief: mischief.counts,
      sidecars: ends,
    };
  }

  /** Says how it goes, and sees that nothing hangs. */
  async #watchUntil(endMs: number, startedMs: number): Promise<void> {
    for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
      await pause(Math.min(200, endMs - nowMs));
      this.#options.signal?.throwIfAborted();
      for (const site of this.#sites) site.expectsLife(nowMs);
      this.#options.onProgress?.({
        elapsedMs: nowMs - startedMs,
        calls: this.#tally.total,
        underWay: this.#sites.reduce((sum, { traffic }) => sum + traffic.underWay, 0),
        faultCount: this.#tally.faultCount,
        faults: this.#tally.faults,
        residentBytes: this.#sites.map(({ sidecar }) => sidecar.residentBytes),
      });
    }
  }

  async #watchUntilEnough(mischief: Mischief, startedMs: number): Promise<void> {
    const { isEnough = () => true } = this.#options;
    const giveUpMs = performance.now() + OVERTIME_MS;
    while (!isEnough(this.#tally, mischief.counts)) {
      const nowMs = performance.now();
      if (nowMs > giveUpMs) throw new Error("Cannot go on: there is never enough");
      await this.#watchUntil(nowMs + 200, startedMs);
    }
  }

  async #rest(startedMs: number): Promise<void> {
    await Promise.all(this.#sites.map((site) => site.rest(startedMs)));
    for (const backend of this.#parts.backends) {
      await this.#tally.attempt(() =>
        until(async () => (await backend.count()).open === 0, `no stream open at ${backend.name}`)
      );
    }
  }

  #judgeMemory(): void {
    if (this.#options.minutes < SHORTEST_JUDGED_MINUTES) return;
    for (const { sidecar, memory } of this.#sites) {
      for (const why of judgeMemory(memory).faults) {
        this.#tally.fault(`${sidecar.transport}: ${why}`);
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
