import { parsePolicy, type Settings } from "../config/mod.ts";
import type { NamedPolicy } from "../downstream/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import { type FileText, FileWatch, readFileText, type Timers } from "../transport/mod.ts";
import { BadConfiguration } from "./bad_configuration.ts";

/** How often the file is looked at: what it says is in force within two of these. */
const LOOK_EVERY_MS = 1_000;

/** A policy file that is followed. */
export interface PolicyFile {
  /** What the file said at the start. */
  readonly policies: readonly NamedPolicy[];
  /** What is wrong with what the file holds now; none when that is in force. */
  readonly problems: readonly string[];
  /** Follows the file from now on: `use` takes what it says. */
  follow(use: (policies: readonly NamedPolicy[]) => void): void;
  /** Ends the watch; resolves when the file is not being read any more. */
  stop(): Promise<void>;
}

/** What is wrong with the policy file that the settings name. */
export function policyProblems({ policyPath }: Settings): readonly string[] {
  if (policyPath === undefined) return [];
  const judged = judge(policyPath, readFileText(policyPath));
  return "problems" in judged ? judged.problems : [];
}

/** Reads the policy file. Throws {@linkcode BadConfiguration}; undefined when there is none. */
export function openPolicy(
  { policyPath }: Settings,
  { timers, log }: { timers: Timers; log: Logger },
): PolicyFile | undefined {
  if (policyPath === undefined) return undefined;
  const first = readFileText(policyPath);
  const judged = judge(policyPath, first);
  if ("problems" in judged) throw new BadConfiguration(judged.problems);
  tellIgnored(judged.ignored, log);
  let watch: FileWatch | undefined;
  let problems: readonly string[] = [];
  return {
    policies: judged.policies,
    get problems() {
      return problems;
    },
    follow(use) {
      const onChange = ([text]: readonly FileText[]) => {
        const next = judge(policyPath, text!);
        problems = "problems" in next ? next.problems : [];
        for (const why of problems) {
          log.warn("Policy file not taken: the old policy goes on", { why });
        }
        if ("problems" in next) return;
        use(next.policies);
        tellIgnored(next.ignored, log);
        log.info("Policy file taken", { path: policyPath, methods: next.policies.length });
      };
      watch = new FileWatch([policyPath], [first], { timers, everyMs: LOOK_EVERY_MS, onChange });
    },
    stop: () => watch?.stop() ?? Promise.resolve(),
  };
}

function judge(path: string, read: FileText) {
  const name = `COLLAPSER_CONFIG "${path}"`;
  if ("why" in read) return { problems: [`Cannot read ${name}: ${read.why}`] };
  const reading = parsePolicy(read.text);
  if (!("problems" in reading)) return reading;
  return { problems: reading.problems.map((problem) => `Cannot use ${name}: ${problem}`) };
}

function tellIgnored(ignored: readonly string[], log: Logger): void {
  if (ignored.length === 0) return;
  log.info("Policy file has settings that are a client's business, and are left to it", {
    keys: ignored.join(","),
  });
}
