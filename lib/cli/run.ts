import { COMMIT, nearest, VERSION } from "../config/mod.ts";
import { COMMANDS, DEFAULT_COMMAND } from "./command_table.ts";
import { BAD_USAGE, FAILED, GOOD } from "./exit_codes.ts";
import { commandHelp, overview } from "./help.ts";
import type { World } from "./world.ts";

const HELP = ["--help", "-h"];

/** Runs what the arguments ask for and returns the exit code. Never rejects. */
export async function run(args: readonly string[], world: World): Promise<number> {
  const [first = ""] = args;
  if (HELP.includes(first) || first === "help") {
    world.print(overview(world));
    return GOOD;
  }
  if (first === "--version" || first === "-V") {
    const { deno, v8 } = Deno.version;
    world.print(`collapser ${VERSION} (commit ${COMMIT}, deno ${deno}, v8 ${v8})`);
    return GOOD;
  }
  const isNamed = first !== "" && !first.startsWith("-");
  const command = isNamed ? COMMANDS.find(({ name }) => name === first) : DEFAULT_COMMAND;
  if (command === undefined) {
    world.complain(unknownCommand(first));
    return BAD_USAGE;
  }
  const rest = isNamed ? args.slice(1) : args;
  if (rest.some((arg) => HELP.includes(arg))) {
    world.print(commandHelp(command, world));
    return GOOD;
  }
  try {
    return await command.run(rest, world);
  } catch (error) {
    // Expected failures come back as codes; this is a fault of ours, so say where.
    const where = error instanceof Error ? error.stack ?? error.message : String(error);
    world.complain(`Cannot go on with ${command.name}: ${where}`);
    return FAILED;
  }
}

function unknownCommand(written: string): string {
  const names = COMMANDS.map(({ name }) => name);
  const { word } = nearest(written, names);
  return `Cannot run "${written}": no such command; the nearest is ${word}\n` +
    "collapser --help lists them";
}
