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
} from "../config/mod.ts";
import type { FaultName, StallOptions } from "../measure/mod.ts";
import { type FlagValues, readFlagTable, repeated, single } from "./flag_table.ts";

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

/** The flags of `collapser stall`; their defaults are those of the blast in `collapser tax` too. */
export const STALL_FLAGS = {
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

export type StallValues = FlagValues<typeof STALL_FLAGS>;

export function stallOptions(values: StallValues): StallOptions {
  const { before, stall, after, rate, deadline, pool, pending, service, proxy, ...rest } = values;
  return {
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
  };
}

/** What `collapser stall` measures when it is told nothing. */
export function defaultStallOptions(): StallOptions {
  const read = readFlagTable([], STALL_FLAGS);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return stallOptions(read.values);
}
