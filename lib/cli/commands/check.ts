import {
  cautions,
  describeMethods,
  describeSettings,
  GROUPS,
  readSettings,
} from "../../config/mod.ts";
import type { Command } from "../command.ts";
import { refuse } from "../define_command.ts";
import { BAD_USAGE, GOOD } from "../exit_codes.ts";
import { Page } from "../page.ts";
import { describeVariables } from "../variables.ts";

export const CHECK: Command = {
  name: "check",
  summary: "read the configuration, print what it means",
  usage: "[--flag VALUE ...]",
  about:
    "Reads variables and flags as serve does, and prints each setting with where it is from, " +
    "which methods collapse, and what may hurt. Exits with 0 when serve would start with it, " +
    "with 64 and every problem when not. Reads the certificates and the policy file that are " +
    "named; opens no socket, shows no secret.",
  examples: ["BACKEND_ADDRESS=127.0.0.1:50051 collapser check"],
  describeOptions: describeVariables,
  async run(args, world) {
    const { get, names } = world.environment;
    const reading = readSettings(get, args, names);
    if ("problems" in reading) {
      refuse([...reading.problems, ...reading.warnings], world, "check");
      return BAD_USAGE;
    }
    const { settings, warnings, origins } = reading;
    const problems = await world.runners.fileProblems(settings);
    if (problems.length > 0) {
      refuse([...problems, ...warnings], world, "check");
      return BAD_USAGE;
    }
    const page = new Page(world);
    const lines = describeSettings(settings);
    const column = Math.max(...lines.map(({ name }) => name.length));
    for (const group of GROUPS) {
      page.heading(group);
      for (const { name, value } of lines.filter((line) => line.group === group)) {
        const origin = (origins.get(name) ?? "").padEnd("environment".length);
        page.verbatim(`  ${name.padEnd(column)}  ${origin}  ${value === "" ? "(unset)" : value}`);
      }
    }
    page.heading("Methods").paragraph(describeMethods(settings), 2);
    const ofFiles = await world.runners.fileWarnings(settings);
    const hurts = [...warnings, ...cautions(settings), ...ofFiles];
    if (hurts.length > 0) page.heading("Warnings");
    for (const warning of hurts) page.paragraph(warning, 2);
    world.print(page.toString());
    return GOOD;
  },
};
