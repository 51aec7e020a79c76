import { type Screen, terminalScreen, withProgress } from "../report/mod.ts";
import { StallBackend } from "./backend.ts";
import {
  AnnouncedFault,
  type Breakable,
  type FaultName,
  NO_FAULT,
  StoppedProcess,
} from "./fault.ts";
import { stallJson } from "./json_report.ts";
import { StallRun } from "./run.ts";
import type { StallSubject } from "./subject.ts";
import { stallSvg } from "./svg_report.ts";
import {
  collapser,
  DIRECT,
  type NamedAddress,
  otherProxy,
  type SettingsFor,
  type StallField,
  type System,
} from "./systems.ts";
import type { SystemResult } from "./tally.ts";
import { StallReport } from "./text_report.ts";

const GOOD = 0;
const FAILED = 1;

const LOOPBACK = "127.0.0.1";

/** Names of the embedded backends. */
const NAMES = ["a", "b", "c"];

/** Pause between two systems: connections of the one are gone before the next begins. */
const PAUSE_MS = 300;

/** The options of `collapser stall`. */
export interface StallOptions {
  /** Backends to use in place of those in this process; the fault is at the first. */
  readonly backends: readonly NamedAddress[];
  /** Other proxies before the same backends. */
  readonly proxies: readonly NamedAddress[];
  /** The embedded backends listen on this port and the two after it; 0 takes free ones. */
  readonly port: number;
  readonly method: string;
  readonly header: string;
  readonly fault: FaultName;
  /** Process of the first backend, for a real SIGSTOP. */
  readonly backendPid: number | undefined;
  /** Whether somebody else brings the fault about, and is to be told when. */
  readonly announce: boolean;
  readonly beforeMs: number;
  readonly stallMs: number;
  readonly afterMs: number;
  readonly perSecond: number;
  readonly deadlineMs: number;
  readonly seed: number;
  readonly places: number;
  readonly waiting: number;
  readonly serviceMs: number;
  /** Names of the systems to measure; all when empty. */
  readonly only: readonly string[];
  /** Whether the shared pool is measured too, where `only` is empty. */
  readonly sharedPool: boolean;
  /** Files to write the result to, as numbers and as a picture. */
  readonly json: string | undefined;
  readonly svg: string | undefined;
}

export interface StallParts {
  readonly settingsFor: SettingsFor;
  /** @default the terminal */
  readonly screen?: Screen;
}

/**
 * Stalls one backend of several under an even load, once for each way from callers to backends, and shows what callers
 * of the others noticed. The exit code is 1 when it could not be measured, whatever the numbers are.
 */
export async function runStall(options: StallOptions, parts: StallParts): Promise<number> {
  const { screen = terminalScreen() } = parts;
  const trouble = troubleWith(options);
  if (trouble !== undefined) {
    screen.complain(trouble);
    return FAILED;
  }
  try {
    await writeFiles(options, await measureStall(options, { ...parts, screen }));
    return GOOD;
  } catch (error) {
    screen.complain(`Cannot measure: ${error instanceof Error ? error.message : error}`);
    return FAILED;
  }
}

/** Measures as {@linkcode runStall} does, for whoever wants the results; rejects when it cannot be measured. */
export async function measureStall(options: StallOptions, parts: StallParts): Promise<Measured> {
  const { screen = terminalScreen() } = parts;
  const systems = systemsOf(options, parts);
  const embedded = options.backends.length > 0 ? [] : startBackends(options);
  try {
    return await measureAll(systems, { options, embedded, screen });
  } finally {
    await Promise.all(embedded.map((backend) => backend.close()));
  }
}

/** The results of all systems, and what was measured. */
export interface Measured {
  readonly subject: StallSubject;
  readonly results: readonly SystemResult[];
}

async function measureAll(
  systems: readonly System[],
  around: { options: StallOptions; embedded: readonly StallBackend[]; screen: Screen },
): Promise<Measured> {
  const { options, embedded, screen } = around;
  const shards = embedded.length === 0
    ? options.backends
    : embedded.map(({ port }, i) => ({ name: NAMES[i]!, host: LOOPBACK, port }));
  const subject = subjectOf(options, shards);
  const report = new StallReport(screen, subject);
  const broken = breakableOf(options, { shards, embedded, screen });
  report.intro();
  const results: SystemResult[] = [];
  for (const { name, about, open } of systems) {
    const tally = await measure({ name, about, open }, { options, shards, broken, screen });
    results.push({ name, about, tally });
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
  report.results(results);
  return { subject, results };
}

async function measure(
  { name, open }: System,
  around: {
    options: StallOptions;
    shards: readonly NamedAddress[];
    broken: Breakable;
    screen: Screen;
  },
) {
  const { options, shards, broken, screen } = around;
  const field: StallField = { ...options, shards };
  let system;
  try {
    system = await open(field);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
  try {
    const run = new StallRun(system, { ...options, faulted: 0, shards: shards.length });
    const whole = (options.beforeMs + options.stallMs + options.afterMs) / 1_000;
    const line = () => `${name}: ${Math.max(0, run.elapsedMs / 1_000).toFixed(0)} of ${whole} s`;
    return await withProgress(screen, line, run.run(broken));
  } finally {
    await system.close();
  }
}

function systemsOf(options: StallOptions, { settingsFor }: StallParts): System[] {
  const own = [
    DIRECT,
    collapser(settingsFor, { sharedPool: false }),
    collapser(settingsFor, { sharedPool: true }),
  ];
  const all = [...own, ...options.proxies.map(otherProxy)];
  if (options.only.length > 0) return all.filter(({ name }) => options.only.includes(name));
  return all.filter(({ name }) => options.sharedPool || name !== "shared-pool");
}

function startBackends({ port, serviceMs }: StallOptions): StallBackend[] {
  const started: StallBackend[] = [];
  try {
    for (const i of NAMES.keys()) {
      started.push(new StallBackend({ port: port === 0 ? 0 : port + i, serviceMs }));
    }
    return started;
  } catch (error) {
    for (const backend of started) void backend.close();
    const why = error instanceof Error ? error.message : error;
    throw new Error(`no backends at ports ${port} to ${port + NAMES.length - 1}: ${why}`);
  }
}

function breakableOf(
  options: StallOptions,
  { shards, embedded, screen }: {
    shards: readonly NamedAddress[];
    embedded: readonly StallBackend[];
    screen: Screen;
  },
): Breakable {
  if (options.announce) return new AnnouncedFault(shards[0]!.name, (line) => screen.print(line));
  if (options.fault === "none") return NO_FAULT;
  if (options.backendPid !== undefined) return new StoppedProcess(options.backendPid);
  return embedded[0]!;
}

function subjectOf(options: StallOptions, shards: readonly NamedAddress[]): StallSubject {
  const { fault, serviceMs, perSecond, deadlineMs, places, waiting, seed } = options;
  const { beforeMs, stallMs, afterMs } = options;
  return {
    ...{ fault, serviceMs, perSecond, deadlineMs, places, waiting, seed },
    ...{ beforeMs, stallMs, afterMs },
    shards: shards.map(({ name }) => name),
    faulted: shards[0]!.name,
    isEmbedded: options.backends.length === 0,
    isAnnounced: options.announce,
  };
}

/** The reason why the files or the fault are out of reach, found before anything is measured. */
function troubleWith(options: StallOptions): string | undefined {
  const { json, svg, backendPid } = options;
  for (const file of [json, svg]) {
    if (file === undefined || may({ name: "write", path: file })) continue;
    return `Cannot write ${file}: collapser may not write there; ` +
      "name a file in /tmp, or run it from source with deno task stall";
  }
  if (backendPid !== undefined && !may({ name: "run" })) {
    return `Cannot stop process ${backendPid}: collapser may not send signals; ` +
      "run it from source with deno task stall, or use --announce and send them by hand";
  }
  return undefined;
}

function may(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

async function writeFiles(
  { json, svg }: StallOptions,
  { subject, results }: Measured,
): Promise<void> {
  if (json !== undefined) await Deno.writeTextFile(json, `${stallJson(subject, results)}\n`);
  if (svg !== undefined) await Deno.writeTextFile(svg, stallSvg(subject, results));
}
