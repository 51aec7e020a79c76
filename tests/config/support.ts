import { fail } from "@std/assert";
import { type Reading, readSettings } from "../../lib/config/read_settings.ts";
import type { Settings } from "../../lib/config/settings.ts";

/** All that must be given. */
export const MINIMUM = { BACKEND_ADDRESS: "db:50051" };

/** Reads an environment that is exactly `variables`. */
export function read(variables: Record<string, string>, args: readonly string[] = []): Reading {
  const environment = new Map(Object.entries(variables));
  return readSettings((name) => environment.get(name), args, [...environment.keys()]);
}

/** The settings that `variables` give on top of the minimum; fails when there are none. */
export function settingsOf(variables: Record<string, string> = {}): Settings {
  const reading = read({ ...MINIMUM, ...variables });
  if ("problems" in reading) fail(reading.problems.join("\n"));
  return reading.settings;
}

/** The problems that `variables` give on top of the minimum. */
export function problemsOf(
  variables: Record<string, string>,
  args: readonly string[] = [],
): readonly string[] {
  const reading = read({ ...MINIMUM, ...variables }, args);
  return "problems" in reading ? reading.problems : [];
}
