import { type Settings, TOKEN } from "../config/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import { type FileText, FileWatch, readFileText, type Timers } from "../transport/mod.ts";
import { BadConfiguration } from "./bad_configuration.ts";

/** How often the file is looked at: a token that was taken back is refused within two of these. */
const LOOK_EVERY_MS = 1_000;

/** The token of the admin listener, wherever it is from. */
export interface AdminToken {
  /** The token now; undefined when there is none, and no call that changes something. */
  readonly current: string | undefined;
  /** Ends the watch; resolves when the file is not being read any more. */
  stop(): Promise<void>;
}

/** What is wrong with the file that ADMIN_TOKEN_FILE names. */
export function adminTokenProblems({ adminTokenPath }: Settings): readonly string[] {
  if (adminTokenPath === undefined) return [];
  const judged = judge(adminTokenPath, readFileText(adminTokenPath));
  return "problem" in judged ? [judged.problem] : [];
}

/** Takes the token from the settings, or from its file and follows that. Throws {@linkcode BadConfiguration}. */
export function openAdminToken(
  { adminToken, adminTokenPath: path }: Settings,
  { timers, log }: { timers: Timers; log: Logger },
): AdminToken {
  if (path === undefined) return { current: adminToken, stop: () => Promise.resolve() };
  const first = readFileText(path);
  const judged = judge(path, first);
  if ("problem" in judged) throw new BadConfiguration([judged.problem]);
  let current = judged.value;
  const watch = new FileWatch([path], [first], {
    timers,
    everyMs: LOOK_EVERY_MS,
    onChange([text]: readonly FileText[]) {
      const next = judge(path, text!);
      if ("problem" in next) {
        return log.warn("Admin token not taken: the old one goes on", { why: next.problem });
      }
      current = next.value;
      log.info("Admin token taken", { path });
    },
  });
  return {
    get current() {
      return current;
    },
    stop: () => watch.stop(),
  };
}

function judge(path: string, read: FileText): { value: string } | { problem: string } {
  const name = `ADMIN_TOKEN_FILE "${path}"`;
  if ("why" in read) return { problem: `Cannot read ${name}: ${read.why}` };
  const parsed = TOKEN.parse(read.text.trim()); // such files end in a line feed
  return "why" in parsed ? { problem: `Cannot use ${name}: ${parsed.why}` } : parsed;
}
