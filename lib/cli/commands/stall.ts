import type { FaultName } from "../../measure/mod.ts";
import { defineCommand, refuse } from "../define_command.ts";
import { BAD_USAGE } from "../exit_codes.ts";
import { STALL_FLAGS, stallOptions, type StallValues } from "../stall_flags.ts";
import { unlessStopped } from "../unless_stopped.ts";

export const STALL = defineCommand({
  name: "stall",
  summary: "stall one backend of three, see what callers of others notice",
  about:
    "The slow-shard test. Sends an even load to three backends, stalls one of them, and counts for every 100 ms " +
    "of callers' time how many calls were answered by their deadline. It does so once for each " +
    "of: direct (clients with a pool for each backend), collapser (as shipped: a wall around " +
    "each), shared-pool (the same with one pool and one queue for all, as proxies have that do " +
    "not keep backends apart), and every --proxy. Callers do not wait for answers before they " +
    "make the next call, and a call counts where it was due, so nothing is left out because " +
    "something was slow. " +
    "Where backends are kept apart, two thirds of the calls go on as if nothing had happened. " +
    "What a shared pool does depends on deadline, load and sizes: a backend that does not answer " +
    "holds rate x deadline calls (Little's law: 100/s x 2s = 200), and when the pool has fewer " +
    "places (30) calls to the healthy backends find none. A short deadline or a large pool hides " +
    "it; with a long queue the calls are answered, but only just before their deadline. The " +
    "report prints the arithmetic.",
  examples: [
    "collapser stall",
    "collapser stall --deadline 500ms --rate 600 --svg /tmp/stall.svg",
    "collapser stall --port 50061 --proxy envoy=127.0.0.1:10000",
    "collapser stall --backends a=db1:50051 --backends b=db2:50051 --announce",
  ],
  flags: STALL_FLAGS,
  async run(values, world) {
    const problems = problemsOf(values);
    if (problems.length > 0) {
      refuse(problems, world, "stall");
      return BAD_USAGE;
    }
    const work = world.runners.stall(stallOptions(values));
    return await unlessStopped(world.signals, work);
  },
});

/** What the flags only say together. */
function problemsOf(values: StallValues): string[] {
  const { backends, backendPid, announce, fault, port, proxy, only } = values;
  const problems: string[] = [];
  const isOwn = backends.length > 0;
  if (backends.length === 1) {
    problems.push("Cannot compare one of --backends: expected two or more");
  }
  if (isOwn && port > 0) problems.push("Cannot use --port with --backends: they have their own");
  if (backendPid !== undefined && !isOwn) {
    problems.push(
      "Cannot use --backend-pid without --backends: the embedded ones are no processes",
    );
  }
  if (isOwn && !announce && fault !== "none" && !(backendPid !== undefined && isStop(fault))) {
    problems.push(
      `Cannot bring about "${fault}" at backends of yours: expected --backend-pid with stall or ` +
        "sigstop, or --announce",
    );
  }
  const own = ["direct", "collapser", "shared-pool"];
  const systems = [...own, ...proxy.map(({ name }) => name)];
  for (const names of [systems, backends.map(({ name }) => name)]) {
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) problems.push(`Cannot use the name "${twice}" twice`);
  }
  const unknown = only.find((name) => !systems.includes(name));
  if (unknown !== undefined) {
    problems.push(`Cannot measure --only "${unknown}": expected ${systems.join(", ")}`);
  }
  return problems;
}

function isStop(fault: FaultName): boolean {
  return fault === "stall" || fault === "sigstop";
}
