export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = typeof LOG_LEVELS[number];

/** What a field may hold; undefined leaves it out. */
export type FieldValue = string | number | boolean | null | undefined;

/** What a line says apart from its message. Names are ours, in snake_case; values may be anybody's. */
export type Fields =
  & Readonly<Record<string, FieldValue>>
  & { readonly time?: never; readonly level?: never; readonly msg?: never };

export interface LogEntry {
  readonly time: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Fields;
}

/** Longest text in a line: room for a stack, and not for a caller who sends 16 KiB of metadata to fill a disk. */
export const MAX_TEXT_CHARS = 4_096;

/**
 * What JSON leaves as it is and a terminal or a viewer may obey: DEL, the C1 controls (U+009B begins a command as
 * ESC [ does), line separators, and marks that turn the direction of reading. All inside strings, so that a \u escape
 * is right in JSON too.
 */
const HIDDEN = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A value that needs no quotes in the console format: nothing in it could pass for the next field. */
const BARE = /^[\w.:/@+\-[\]]+$/;

const LEVEL_WIDTH = Math.max(...LOG_LEVELS.map((level) => level.length));

const COLOURS: Readonly<Record<LogLevel, number>> = { debug: 90, info: 32, warn: 33, error: 31 };
const DIM = 2;

/** One JSON object: `time`, `level` and `msg`, then the fields. */
export function formatJson({ time, level, message, fields }: LogEntry): string {
  const line: Record<string, FieldValue> = { time: time.toISOString(), level, msg: cut(message) };
  for (const [name, value] of Object.entries(fields)) line[name] = jsonValue(value);
  return hideControls(JSON.stringify(line));
}

/**
 * A line for people: time, level, message, `name=value`. With `colour`, the frame of it is coloured; no value ever is.
 */
export function formatConsole(entry: LogEntry, options: { colour: boolean }): string {
  const { time, level, message, fields } = entry;
  const paint = options.colour ? painted : plain;
  const parts = [
    paint(time.toISOString(), DIM),
    paint(level.padEnd(LEVEL_WIDTH), COLOURS[level]),
    // Quotes stay readable in a message; its line ends and controls are escaped as in any value.
    quoted(message).slice(1, -1).replaceAll('\\"', '"'),
  ];
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parts.push(`${paint(`${name}=`, DIM)}${consoleValue(value)}`);
  }
  return parts.join(" ");
}

function jsonValue(value: FieldValue): FieldValue {
  if (typeof value === "string") return cut(value);
  // JSON has no infinity, and would say null.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function consoleValue(value: FieldValue): string {
  if (typeof value !== "string") return String(value);
  return BARE.test(value) && value.length <= MAX_TEXT_CHARS ? value : quoted(value);
}

/** The text between quotes, with everything escaped that is not to be seen as it is. */
function quoted(text: string): string {
  return hideControls(JSON.stringify(cut(text)));
}

function hideControls(json: string): string {
  return json.replace(HIDDEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  return `${text.slice(0, MAX_TEXT_CHARS)}… (${text.length} characters)`;
}

function painted(text: string, colour: number): string {
  return `\x1b[${colour}m${text}\x1b[0m`;
}

function plain(text: string): string {
  return text;
}
