import { readSettings } from "../../config/mod.ts";
import type { Command } from "../command.ts";
import { refuse } from "../define_command.ts";
import { BAD_USAGE } from "../exit_codes.ts";
import { describeVariables } from "../variables.ts";

export const SERVE: Command = {
  name: "serve",
  summary: "run the sidecar (the default)",
  usage: "[--flag VALUE ...]",
  about: "Listens where callers connect and passes their calls to the backend. Calls of methods " +
    "that only read, made while an equal one is under way, share its answer; a short cache covers " +
    "the moment after. Everything else passes straight through.",
  examples: [
    "BACKEND_ADDRESS=127.0.0.1:50051 collapser",
    "collapser --backend-address 127.0.0.1:50051 --collapser-cache-duration 1s",
  ],
  describeOptions: describeVariables,
  async run(args, world) {
    const { get, names } = world.environment;
    const reading = readSettings(get, args, names);
    if ("problems" in reading) {
      refuse([...reading.problems, ...reading.warnings], world, "serve");
      return BAD_USAGE;
    }
    const { settings, ...background } = reading;
    return await world.runners.sidecar(settings, { ...background, signals: world.signals });
  },
};
