import {
  type Fields,
  formatConsole,
  formatJson,
  LOG_LEVELS,
  type LogEntry,
  type LogLevel,
} from "./line_format.ts";
import { LineQueue, type WriteLine } from "./line_queue.ts";

/** Longest that a process on its way out waits for a reader of its log. */
const FLUSH_TIMEOUT_MS = 1_000;

export type LogFormat = "json" | "console";

export interface LoggerOptions {
  /** Lines below this level are not written. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Takes one line without its line end. Default: standard error, so that what a command prints stays clean. */
  readonly write?: WriteLine;
  readonly now?: () => Date;
  /** Whether the console format is coloured. Default: when standard error is a terminal and NO_COLOR is not set. */
  readonly colour?: boolean;
}

/** The log. Its methods never throw and never wait. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /**
   * Resolves when everything logged was written, or after a second when nobody reads it. To be awaited before
   * `Deno.exit`, which would lose what is on its way.
   */
  flush(options?: { timeoutMs?: number }): Promise<void>;
}

/** A logger whose lines go through a bounded queue: a reader that stalls costs lines, never time. */
export function createLogger(options: LoggerOptions): Logger {
  const { level, write = writeToStderr, now = () => new Date() } = options;
  const format = formatter(options);
  const queue = new LineQueue(write, (lost) =>
    format({
      time: now(),
      level: "warn",
      message: "Log lines were dropped: they were not read fast enough",
      fields: { dropped: lost },
    }));

  function logAt(own: LogLevel): (message: string, fields?: Fields) => void {
    if (LOG_LEVELS.indexOf(own) < LOG_LEVELS.indexOf(level)) return () => {};
    return (message, fields = {}) =>
      queue.push(format({ time: now(), level: own, message, fields }));
  }

  return {
    debug: logAt("debug"),
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
    flush: ({ timeoutMs = FLUSH_TIMEOUT_MS } = {}) => queue.flush(timeoutMs),
  };
}

function formatter(options: LoggerOptions): (entry: LogEntry) => string {
  if (options.format === "json") return formatJson;
  const colour = options.colour ?? (Deno.stderr.isTerminal() && !Deno.noColor);
  return (entry) => formatConsole(entry, { colour });
}

const encoder = new TextEncoder();

/** Writes to standard error; `console.error` would block the event loop for as long as the reader stalls. */
async function writeToStderr(line: string): Promise<void> {
  let bytes = encoder.encode(`${line}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(await Deno.stderr.write(bytes));
}
