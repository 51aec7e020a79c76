/**
 * The configuration: from texts that people wrote to settings that the other rooms
 * can trust.
 *
 * The room owns one table, `OPTION_TABLE`. A row is a variable: the field of the settings that
 * it fills, its name, kind, default and meaning. The type `Settings`, parsing, flags, `--help`,
 * the README's table and `collapser check` all come from the rows, so none of them can disagree
 * with another. A field that another room reads has the name it has there, and a value the type
 * it has there: settings are handed on, not translated. So a new option is a row here and a
 * field in the options of the room that heeds it. The policy file has tables of its own, in
 * `policy/`, of which parser, schema and documentation come in the same way.
 *
 * Invariants:
 * - Settings are complete and checked, or there are none: `readSettings` gives either
 *   `settings` or every problem at once. Nothing is opened before that.
 * - A bad value is refused, never replaced by a default; a value that asks for what this
 *   version cannot do (`unbuilt.ts`) is refused too.
 * - No message and no description holds a secret.
 * - Only `environment.ts` touches the environment; everything else is handed a `get`.
 *
 * The room refuses to know what the settings do. The shape of COLLAPSER_METHODS is checked here,
 * and the collapse room says what it selects; paths of files are kept, and none is opened.
 *
 * @module
 */

export { cautions } from "./cautions.ts";
export { describeMethods, describeSettings, type SettingLine } from "./describe.ts";
export { type Environment, readEnvironment } from "./environment.ts";
export { type Flags, type FlagSpec, readFlags } from "./flags.ts";
export { HOST_PORT, type HostPort, LISTEN_HOST, NAMED_ADDRESS, unixPath } from "./kinds/address.ts";
export { BOOLEAN, oneOf } from "./kinds/choice.ts";
export { DURATION, POSITIVE_DURATION } from "./kinds/duration.ts";
export { type Kind, optional, type Parsed } from "./kinds/kind.ts";
export { HEADER, HEADER_NAMES, METADATA } from "./kinds/header_names.ts";
export { METHOD } from "./kinds/methods.ts";
export { count, PORT } from "./kinds/number.ts";
export { HTTP_URL, SERVICE, TOKEN } from "./kinds/text.ts";
export { optionsMarkdown } from "./markdown.ts";
export { nearest } from "./nearest.ts";
export { type Group, GROUPS, type Option } from "./option.ts";
export { MAX_BACKEND_CONNECTIONS } from "./option_table.ts";
export { flagOf, optionFor, OPTIONS } from "./options.ts";
export { type Origin, type Reading, readSettings } from "./read_settings.ts";
export type { Settings } from "./settings.ts";
export { notYet } from "./unbuilt.ts";
export type { Fault } from "./policy/json.ts";
export { faultText } from "./policy/place.ts";
export { policyMarkdown } from "./policy/policy_markdown.ts";
export { keysOf, type SettingSource, settingSources } from "./policy/setting_sources.ts";
export { policySchema } from "./policy/policy_schema.ts";
export type { PolicyStatus } from "./policy/policy_status.ts";
export { policyConflicts } from "./policy/policy_conflicts.ts";
export { type PolicyReading, readPolicy } from "./policy/read_policy.ts";
export { COMMIT, VERSION } from "./version.ts";
