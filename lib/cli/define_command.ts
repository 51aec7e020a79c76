import type { Command } from "./command.ts";
import { BAD_USAGE } from "./exit_codes.ts";
import { flagDefinitions, type FlagTable, type FlagValues, readFlagTable } from "./flag_table.ts";
import type { World } from "./world.ts";

/** A heading and what stands below it. */
export interface Chapter {
  readonly heading: string;
  readonly paragraphs: readonly string[];
}

/** A command whose options are flags alone. */
export interface FlagCommand<F extends FlagTable>
  extends Pick<Command, "name" | "summary" | "about" | "examples"> {
  readonly flags: F;
  /** What more there is to know, behind the flags. */
  readonly chapters?: readonly Chapter[];
  /** Runs the command and returns the exit code. */
  run(values: FlagValues<F>, world: World): Promise<number>;
}

/** Puts reading and refusing flags in front of a command's own work. */
export function defineCommand<F extends FlagTable>(command: FlagCommand<F>): Command {
  return {
    ...command,
    usage: "[--flag VALUE ...]",
    describeOptions(page) {
      page.heading("Flags").table(flagDefinitions(command.flags));
      for (const { heading, paragraphs } of command.chapters ?? []) {
        page.heading(heading);
        for (const text of paragraphs) page.paragraph(text, 2);
      }
    },
    async run(args, world) {
      const read = readFlagTable(args, command.flags);
      if ("values" in read) return await command.run(read.values, world);
      refuse(read.problems, world, command.name);
      return BAD_USAGE;
    },
  };
}

/** Says what is wrong with the usage, and where to read what would be right. */
export function refuse(problems: readonly string[], world: World, name: string): void {
  world.complain([...problems, `collapser ${name} --help says what it takes`].join("\n"));
}
