import { DURATION, LISTEN_HOST, PORT } from "../../config/mod.ts";
import { defineCommand } from "../define_command.ts";
import { single } from "../flag_table.ts";

export const BACKEND = defineCommand({
  name: "backend",
  summary: "run the demo's slow, counting Hello backend",
  about: "A service to put collapser in front of: it takes its time over each answer and counts " +
    "the calls that reach it, so that what collapsing saves can be seen. It offers grpc.health.v1 " +
    "and grpc.reflection too.",
  examples: ["collapser backend --delay 200ms"],
  flags: {
    port: single(PORT, { fallback: "50051", help: "where it listens; 0 takes a free port" }),
    host: single(LISTEN_HOST, { fallback: "127.0.0.1", help: "address it listens on" }),
    delay: single(DURATION, { fallback: "50ms", help: "how long each answer takes" }),
  },
  async run({ host, port, delay }, { runners, signals }) {
    return await runners.backend({ host, port, delayMs: delay }, { signals });
  },
});
