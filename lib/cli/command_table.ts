import type { Command } from "./command.ts";
import { BACKEND } from "./commands/backend.ts";
import { CHECK } from "./commands/check.ts";
import { DEMO } from "./commands/demo.ts";
import { DRAIN } from "./commands/drain.ts";
import { EXPLAIN } from "./commands/explain.ts";
import { HEALTHCHECK } from "./commands/healthcheck.ts";
import { INJECT } from "./commands/inject.ts";
import { LOAD } from "./commands/load.ts";
import { REPORT } from "./commands/report.ts";
import { SCHEMA } from "./commands/schema.ts";
import { SERVE } from "./commands/serve.ts";
import { STALL } from "./commands/stall.ts";
import { TAX } from "./commands/tax.ts";

/** The command that runs when none was named. */
export const DEFAULT_COMMAND = SERVE;

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  SERVE,
  DEMO,
  BACKEND,
  LOAD,
  TAX,
  STALL,
  CHECK,
  EXPLAIN,
  REPORT,
  SCHEMA,
  INJECT,
  DRAIN,
  HEALTHCHECK,
];
