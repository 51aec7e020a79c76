import { BOOLEAN, count, DURATION } from "../../config/mod.ts";
import { defineCommand } from "../define_command.ts";
import { single } from "../flag_table.ts";
import { unlessStopped } from "../unless_stopped.ts";

export const DEMO = defineCommand({
  name: "demo",
  summary: "burst a slow backend through a sidecar, print what was saved",
  about: "Starts the Hello backend and a sidecar in this process, sends a burst of calls through " +
    "it, counts at the backend how many arrived, and prints the ratio.",
  examples: [
    "collapser demo",
    "collapser demo --callers 1000 --keys 10 --delay 200ms",
    "collapser demo --shadow",
  ],
  flags: {
    callers: single(count({ min: 1 }), { fallback: "10000", help: "calls made at once" }),
    keys: single(count({ min: 1 }), {
      fallback: "1",
      help: "distinct requests among them; 1 is everyone asking the same",
    }),
    delay: single(DURATION, { fallback: "50ms", help: "how long the backend takes to answer" }),
    shadow: single(BOOLEAN, {
      fallback: "false",
      help: "show shadow and verify instead: two methods, of which one answers by who asks",
    }),
    connections: single(count({ min: 1 }), {
      fallback: "10",
      help: "connections the callers are spread over",
    }),
  },
  async run({ delay, ...burst }, { runners, signals }) {
    return await unlessStopped(signals, runners.demo({ ...burst, delayMs: delay }));
  },
});
