import {
  BOOLEAN,
  count,
  HEADER_NAMES,
  type Kind,
  METHOD,
  NAMED_ADDRESS,
  oneOf,
  optional,
  PORT,
  POSITIVE_DURATION,
} from "../../config/mod.ts";
import type { FaultName } from "../../measure/mod.ts";
import { defineCommand, type FlagCommand, refuse } from "../define_command.ts";
import { BAD_USAGE } from "../exit_codes.ts";
import { repeated, single } from "../flag_table.ts";
import { unlessStopped } from "../unless_stopped.ts";

/** What the first backend suffers. */
const FAULT: Kind<FaultName> = {
  ...oneOf(["stall", "sigstop", "blackhole", "slow-start", "reset", "latency", "none"]),
  placeholder: "FAULT",
};

const HEADER: Kind<string> = {
  placeholder: "NAME",
  parse(text) {
    const parsed = HEADER_NAMES.parse(text);
    if ("why" in parsed) return parsed;
    const [name, ...others] = parsed.value;
    return name === undefined || others.length > 0
      ? { why: "expected one metadata name, such as x-shard" }
      : { value: name };
  },
  show: (name) => name,
};

const FILE: Kind<string> = {
  placeholder: "FILE",
  parse: (text) => text === "" ? { why: "expected a file to write" } : { value: text },
  show: (file) => file,
};

const SYSTEM: Kind<string> = {
  placeholder: "NAME",
  parse: (text) => text === "" ? { why: "expected a system to measure" } : { value: text },
  show: (name) => name,
};

const flags = {
  fault: single(FAULT, {
    fallback: "stall",
    help: "what happens to the first backend. stall: its main thread stands still, the kernel " +
      "still accepts. sigstop: the same to a real process, see --backend-pid. blackhole: it " +
      "accepts and reads and never answers. slow-start: it goes away, comes back slow, gets " +
      "faster. reset: it resets each call. latency: 100 ms more for each answer. none",
  }),
  before: single(POSITIVE_DURATION, {
    fallback: "3s",
    help: "how long all is well before the fault",
  }),
  stall: single(POSITIVE_DURATION, { fallback: "5s", help: "how long the fault lasts" }),
  after: single(POSITIVE_DURATION, { fallback: "5s", help: "how long to go on afterwards" }),
  rate: single(count({ min: 3, max: 20_000 }), {
    fallback: "300",
    help: "calls a second, as many to each backend, whatever comes back",
  }),
  deadline: single(POSITIVE_DURATION, { fallback: "2s", help: "deadline of each call" }),
  seed: single(count({ min: 0, max: 2 ** 31 - 1 }), {
    fallback: "1",
    help: "decides when calls come; the same for every system",
  }),
  pool: single(count({ min: 1 }), {
    fallback: "10",
    help: "calls at once to each backend; a shared pool has as many as all of them together",
  }),
  pending: single(count({ min: 0 }), {
    fallback: "10",
    help: "calls that wait for a place, for each backend; more are refused",
  }),
  service: single(POSITIVE_DURATION, {
    fallback: "5ms",
    help: "how long an embedded backend takes for an answer",
  }),
  sharedPool: single(BOOLEAN, {
    fallback: "true",
    help: "measure collapser with one pool for all backends too; =false leaves it out",
  }),
  only: repeated(SYSTEM, {
    help: "measure this alone: direct, collapser, shared-pool or a --proxy's name; may be given " +
      "again",
  }),
  proxy: repeated(NAMED_ADDRESS, {
    help: "measure what listens there too; it must send a call to the backend that --header " +
      "names; may be given again",
  }),
  port: single(PORT, {
    fallback: "0",
    help: "embedded backends listen on this port of 127.0.0.1 and the two after it, for a " +
      "--proxy to find them; 0 takes free ones",
  }),
  backends: repeated(NAMED_ADDRESS, {
    help: "use this backend in place of the embedded ones; once for each, the one that is to " +
      "suffer first",
  }),
  backendPid: single(optional(count({ min: 2, max: 2 ** 31 - 1 })), {
    help: "process of the first of --backends, on this machine: it gets SIGSTOP and SIGCONT; " +
      "needs a permission that the binary lacks (deno task stall has it)",
  }),
  announce: single(BOOLEAN, {
    fallback: "false",
    help: "say when to begin and when to end the fault, for you to bring it about",
  }),
  method: single(METHOD, {
    fallback: "/hello.v1.Hello/GetGreeting",
    help: "the method called: unary, its request's first field a text",
  }),
  header: single(HEADER, {
    fallback: "x-shard",
    help: "metadata that names the backend a call is for",
  }),
  json: single(optional(FILE), { help: "write every number there" }),
  svg: single(optional(FILE), { help: "draw it there" }),
};

/** What the flags only say together. */
type Values = Parameters<FlagCommand<typeof flags>["run"]>[0];

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
  flags,
  async run(values, world) {
    const problems = problemsOf(values);
    if (problems.length > 0) {
      refuse(problems, world, "stall");
      return BAD_USAGE;
    }
    const { before, stall, after, rate, deadline, pool, pending, service, proxy, ...rest } = values;
    const work = world.runners.stall({
      ...rest,
      proxies: proxy,
      beforeMs: before,
      stallMs: stall,
      afterMs: after,
      perSecond: rate,
      deadlineMs: deadline,
      places: pool,
      waiting: pending,
      serviceMs: service,
    });
    return await unlessStopped(world.signals, work);
  },
});

function problemsOf(values: Values): string[] {
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
