import { parseArgs } from "node:util";
import { type Mode, MODES } from "./suite.ts";

/** What the command is asked to do. */
export interface Options {
  /** Names of suites, in the order in which they are run. */
  readonly only: readonly string[];
  readonly modes: readonly Mode[];
  /** Part of the ids of the cases to run; "" for all. */
  readonly pattern: string;
  readonly list: boolean;
  readonly help: boolean;
}

/** Reads the command line; throws in words when it is wrong. */
export function readOptions(args: readonly string[], suites: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true, default: [] },
      mode: { type: "string", default: "both" },
      case: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const asked = values.only.flatMap((text) => text.split(","));
  const unknown = asked.find((name) => !suites.includes(name));
  if (unknown !== undefined) {
    throw new Error(`Cannot run the suite "${unknown}": expected ${suites.join(", ")}`);
  }
  return {
    only: asked.length === 0 ? suites : suites.filter((name) => asked.includes(name)),
    modes: modesOf(values.mode),
    pattern: values.case,
    list: values.list,
    help: values.help,
  };
}

function modesOf(text: string): Mode[] {
  const all = Object.keys(MODES) as Mode[];
  const modes = all.filter((mode) => text === "both" || text === mode);
  if (modes.length > 0) return modes;
  throw new Error(`Cannot run in mode "${text}": expected ${all.join(", ")} or both`);
}
