import { hash } from "node:crypto";
import {
  type Fault,
  faultText,
  policyConflicts,
  type PolicyReading,
  type PolicyStatus,
  readPolicy,
  type Settings,
} from "../config/mod.ts";
import type { NamedPolicy } from "../downstream/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import { type FileText, FileWatch, readFileText, type Timers } from "../transport/mod.ts";
import { BadConfiguration } from "./bad_configuration.ts";

/** How often the file is looked at: what it says is in force within two of these. */
const LOOK_EVERY_MS = 1_000;

/** Hexadecimal digits of a text's digest that are told: enough to see that two are not the same. */
const HASH_CHARS = 12;

/** A policy file that is followed. */
export interface PolicyFile {
  /** What the file says, as it was last taken. */
  readonly policies: readonly NamedPolicy[];
  readonly status: PolicyStatus;
  /** Follows the file from now on: `use` takes what it says. */
  follow(use: (policies: readonly NamedPolicy[]) => void): void;
  /** Looks at the file at once. */
  readNow(): void;
  /** Ends the watch; resolves when the file is not being read any more. */
  stop(): Promise<void>;
}

/** What the policy file that the settings name says, or what is wrong with it; nothing where none is named. */
export function readPolicyOf(
  settings: Settings,
): { readonly policies: readonly NamedPolicy[] } | { readonly problems: readonly string[] } {
  const { policyPath: path } = settings;
  if (path === undefined) return { policies: [] };
  const judged = judge(readFileText(path), settings);
  if (!("problems" in judged)) return judged;
  return { problems: judged.problems.map((fault) => problemText(path, fault)) };
}

/** What is wrong with the policy file that the settings name. */
export function policyProblems(settings: Settings): readonly string[] {
  const read = readPolicyOf(settings);
  return "problems" in read ? read.problems : [];
}

/** What is right in the policy file that the settings name, and may surprise. */
export function policyWarnings(settings: Settings): readonly string[] {
  if (settings.policyPath === undefined) return [];
  const judged = judge(readFileText(settings.policyPath), settings);
  if ("problems" in judged) return [];
  const { ignored, unbuilt, warnings } = judged;
  const lists = [[ignored, LEFT_TO_CLIENTS], [unbuilt, NOT_HEEDED]] as const;
  const named = lists.filter(([keys]) => keys.length > 0);
  return [...named.map(([keys, what]) => `${what}: ${keys.join(", ")}`), ...warnings];
}

/** Reads the policy file. Throws {@linkcode BadConfiguration}; undefined when there is none. */
export function openPolicy(
  settings: Settings,
  world: { timers: Timers; log: Logger },
): PolicyFile | undefined {
  const { policyPath } = settings;
  return policyPath === undefined ? undefined : new FollowedPolicy(policyPath, settings, world);
}

class FollowedPolicy implements PolicyFile {
  policies: readonly NamedPolicy[];
  #status: PolicyStatus;
  readonly #settings: Settings;
  readonly #timers: Timers;
  readonly #log: Logger;
  readonly #first: FileText;
  #watch: FileWatch | undefined;
  #use: (policies: readonly NamedPolicy[]) => void = () => {};

  constructor(
    path: string,
    settings: Settings,
    { timers, log }: { timers: Timers; log: Logger },
  ) {
    this.#settings = settings;
    this.#timers = timers;
    this.#log = log;
    this.#first = readFileText(path);
    const judged = judge(this.#first, settings);
    if ("problems" in judged) {
      throw new BadConfiguration(judged.problems.map((fault) => problemText(path, fault)));
    }
    const { text } = judged;
    this.policies = judged.policies;
    this.#status = {
      ...{ path, text, hash: hashOf(text), appliedAtMs: Date.now(), taken: 0, refused: 0 },
      file: { hash: hashOf(text), problems: [] },
    };
    tellNotes(judged, log);
  }

  get status(): PolicyStatus {
    return this.#status;
  }

  follow(use: (policies: readonly NamedPolicy[]) => void): void {
    this.#use = use;
    this.#watch = new FileWatch([this.#status.path], [this.#first], {
      timers: this.#timers,
      everyMs: LOOK_EVERY_MS,
      onChange: ([read]) => this.#changed(read!),
    });
  }

  readNow(): void {
    this.#watch?.lookNow();
  }

  stop(): Promise<void> {
    return this.#watch?.stop() ?? Promise.resolve();
  }

  #changed(read: FileText): void {
    const before = this.#status;
    const { path } = before;
    const judged = judge(read, this.#settings);
    const fileHash = "text" in read ? hashOf(read.text) : undefined;
    if ("problems" in judged) {
      const { problems } = judged;
      this.#status = { ...before, file: { hash: fileHash, problems }, refused: before.refused + 1 };
      for (const fault of problems) {
        const why = problemText(path, fault);
        this.#log.warn("Policy file not taken: the old policy goes on", { why });
      }
      return;
    }
    const { text, policies } = judged;
    this.#status = {
      ...{ path, text, hash: hashOf(text), appliedAtMs: Date.now(), refused: before.refused },
      taken: before.taken + 1,
      file: { hash: fileHash, problems: [] },
    };
    if (text === before.text) {
      return this.#log.info("Policy file is again what is in force", { path });
    }
    this.policies = policies;
    this.#use(policies);
    tellNotes(judged, this.#log);
    this.#log.info("Policy file taken", { path, names: policies.length, hash: this.#status.hash });
  }
}

const LEFT_TO_CLIENTS = "Policy file has settings that are a client's business, and are left to it";
const NOT_HEEDED = "Policy file has settings that this version does not heed yet";

type Judged =
  | Exclude<PolicyReading, { problems: unknown }> & { readonly text: string }
  | { readonly problems: readonly Fault[] };

function judge(read: FileText, settings: Settings): Judged {
  if ("why" in read) {
    return { problems: [{ line: 0, pointer: "", why: `cannot be read: ${read.why}` }] };
  }
  const reading = readPolicy(read.text);
  if ("problems" in reading) return reading;
  const problems = policyConflicts(reading.policies, settings);
  return problems.length > 0 ? { problems } : { ...reading, text: read.text };
}

function problemText(path: string, fault: Fault): string {
  return `Cannot use COLLAPSER_CONFIG "${path}": ${faultText(fault)}`;
}

function tellNotes(
  { ignored, unbuilt, warnings }: Exclude<PolicyReading, { problems: unknown }>,
  log: Logger,
): void {
  if (ignored.length > 0) log.info(LEFT_TO_CLIENTS, { keys: ignored.join(",") });
  if (unbuilt.length > 0) log.warn(NOT_HEEDED, { keys: unbuilt.join(",") });
  for (const what of warnings) log.warn("Worth a look in the policy file", { what });
}

function hashOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, HASH_CHARS);
}
