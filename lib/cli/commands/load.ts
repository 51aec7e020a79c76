import {
  BOOLEAN,
  count,
  HOST_PORT,
  METADATA,
  METHOD,
  optional,
  POSITIVE_DURATION,
} from "../../config/mod.ts";
import { defineCommand } from "../define_command.ts";
import { repeated, single } from "../flag_table.ts";
import { unlessStopped } from "../unless_stopped.ts";

/** How long a load runs when neither time nor number was given: enough for a steady rate. */
const DEFAULT_SECONDS = 10;

export const LOAD = defineCommand({
  name: "load",
  summary: "send calls: N callers, K keys, counted at the backend",
  about:
    "Keeps a number of callers busy with calls of one method, and prints rates, latencies and " +
    "statuses. Against the Hello backend it also prints how many calls arrived there.",
  examples: [
    "collapser load --callers 1000 --keys 10",
    "collapser load --address 127.0.0.1:50051 --metadata authorization=me --json",
  ],
  flags: {
    address: single(HOST_PORT, { fallback: "127.0.0.1:50052", help: "where the calls go" }),
    method: single(METHOD, {
      fallback: "/hello.v1.Hello/GetGreeting",
      help: "the method called",
    }),
    callers: single(count({ min: 1 }), { fallback: "100", help: "calls kept under way at once" }),
    keys: single(count({ min: 1 }), { fallback: "1", help: "distinct requests among the calls" }),
    metadata: repeated(METADATA, { help: "sent with each call; may be given again" }),
    deadline: single(optional(POSITIVE_DURATION), { help: "deadline of each call" }),
    seconds: single(optional(count({ min: 1 })), {
      help: `ends after so long (${DEFAULT_SECONDS}, unless --calls is given)`,
    }),
    calls: single(optional(count({ min: 1 })), { help: "ends after so many" }),
    connections: single(count({ min: 1 }), {
      fallback: "1",
      help: "connections the callers are spread over",
    }),
    rate: single(optional(count({ min: 1 })), {
      help: "calls begun in a second; when left out, as fast as the callers go",
    }),
    json: single(BOOLEAN, { fallback: "false", help: "print one JSON object" }),
  },
  async run({ deadline, seconds, rate, ...rest }, { runners, signals }) {
    const limit = seconds ?? (rest.calls === undefined ? DEFAULT_SECONDS : undefined);
    const work = runners.load({
      ...rest,
      deadlineMs: deadline,
      durationMs: limit === undefined ? undefined : limit * 1_000,
      callsPerSecond: rate,
    });
    return await unlessStopped(signals, work);
  },
});
