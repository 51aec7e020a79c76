import { DURATION, STALE_DURATION } from "../kinds/duration.ts";
import { isHeaderName } from "../kinds/header_names.ts";
import type { Kind } from "../kinds/kind.ts";
import { SIZE } from "../kinds/size.ts";
import type { Place, Report } from "./place.ts";
import { STATUS_NAMES } from "./status_names.ts";

/** A JSON Schema (2020-12), as JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One kind of JSON value: how it is read, what a schema says of it, and how what was read is shown. */
export interface ValueKind<T> {
  readonly schema: JsonSchema;
  /** The value; undefined, after a word to `report`, for one that is none. */
  read(at: Place, report: Report): T | undefined;
  /** The value for people, as it could be written. */
  show(value: T): string;
}

/** Go's durations without a sign; the two micro signs are different characters. */
const GO_DURATION =
  "^(?:0|(?:(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$";

/** Fields of messages: numbers, or names as protobuf has them. */
const FIELD_PATH = "^(?:[1-9][0-9]*|[A-Za-z_][A-Za-z0-9_]*)(?:\\.(?:[1-9][0-9]*|[A-Za-z_]\\w*))*$";

/** An HTTP token without `*`, which would be taken for a pattern. */
const HEADER_NAME = "^[A-Za-z0-9_!#$%&'+.^`|~-]+$";

const SIZE_TEXT = "^[0-9]+ ?(?:[Bb]|[KkMmGg][Ii]?[Bb])?$";

export const TRUTH: ValueKind<boolean> = {
  schema: { type: "boolean" },
  read: (at, report) =>
    at.json.kind === "boolean" ? at.json.value : report.expected(at, "true or false"),
  show: String,
};

export const GO_TIME: ValueKind<number> = duration(DURATION, 'a duration such as "100ms"');

export const STALE_TIME: ValueKind<number> = duration(
  STALE_DURATION,
  'a duration such as "30s", 1h at most',
);

/** A size in bytes: a number, or a text with a unit. */
export const BYTES: ValueKind<number> = {
  schema: {
    anyOf: [
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: "string", pattern: SIZE_TEXT },
    ],
  },
  read(at, report) {
    const { json } = at;
    const text = json.kind === "number" || json.kind === "text" ? String(json.value) : "";
    const parsed = SIZE.parse(text);
    return "value" in parsed
      ? parsed.value
      : report.expected(at, 'a size such as 65536 or "64KiB"');
  },
  show: SIZE.show,
};

/** Metadata names, read in any case, kept in lower case, each once. */
export const METADATA_NAMES: ValueKind<readonly string[]> = {
  schema: listOf({ type: "string", pattern: HEADER_NAME }),
  read(at, report) {
    const names = readList(
      at,
      report,
      'a list of metadata names such as ["x-tenant"]',
      (item) =>
        item.json.kind === "text" && isHeaderName(item.json.value)
          ? item.json.value.toLowerCase()
          : report.expected(item, "a metadata name such as x-tenant"),
    );
    return names === undefined ? undefined : [...new Set(names)];
  },
  show: shownList,
};

export const FIELD_PATHS: ValueKind<readonly string[]> = {
  schema: listOf({ type: "string", pattern: FIELD_PATH }),
  read: (at, report) =>
    readList(
      at,
      report,
      'a list of fields such as ["3.1"]',
      (item) =>
        item.json.kind === "text" && new RegExp(FIELD_PATH).test(item.json.value)
          ? item.json.value
          : report.expected(item, "numbers or names of fields such as 3.1 or stamp.made"),
    ),
  show: shownList,
};

/** gRPC statuses from `min`, by number, or by name in any case (gRFC A6). */
export function statuses(min: 0 | 1): ValueKind<readonly number[]> {
  const names = STATUS_NAMES.slice(min);
  const numbers = { type: "integer", minimum: min, maximum: STATUS_NAMES.length - 1 };
  const inAnyCase = names.join("|").replace(
    /[A-Z]/g,
    (letter) => `[${letter}${letter.toLowerCase()}]`,
  );
  return {
    schema: listOf({ anyOf: [numbers, { type: "string", pattern: `^(?:${inAnyCase})$` }] }),
    read(at, report) {
      const found = readList(at, report, 'a list of statuses such as ["UNAVAILABLE"]', (item) => {
        const { json } = item;
        const code = json.kind === "number"
          ? json.value
          : json.kind === "text"
          ? STATUS_NAMES.findIndex((name) => name === json.value.toUpperCase())
          : -1;
        const isOne = Number.isInteger(code) && code >= min && code < STATUS_NAMES.length;
        return isOne ? code : report.expected(item, `a gRPC status from ${min} to 16, or its name`);
      });
      return found === undefined ? undefined : [...new Set(found)];
    },
    show: (codes) => codes.map((code) => STATUS_NAMES[code]).join(","),
  };
}

/** One of a few words, as they are written. */
export function word<const W extends string>(words: readonly W[]): ValueKind<W> {
  return {
    schema: { enum: words },
    read: (at, report) =>
      words.find((one) => at.json.kind === "text" && at.json.value === one) ??
        report.expected(
          at,
          words.map((one) => `"${one}"`).join(", ").replace(/, ([^,]*)$/, " or $1"),
        ),
    show: String,
  };
}

/** A whole number within bounds, both included. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  return {
    schema: { type: "integer", minimum: min, maximum: max },
    read(at, report) {
      const value = at.json.kind === "number" ? at.json.value : NaN;
      return Number.isInteger(value) && value >= min && value <= max
        ? value
        : report.expected(at, `a whole number of at least ${min}`);
    },
    show: String,
  };
}

/** A share from 0 to `max`. */
export function share(max: number): ValueKind<number> {
  return {
    schema: { type: "number", minimum: 0, maximum: max },
    read(at, report) {
      const value = at.json.kind === "number" ? at.json.value : NaN;
      return value >= 0 && value <= max
        ? value
        : report.expected(at, `a share from 0 to ${max}, such as 0.1`);
    },
    show: String,
  };
}

function duration(kind: Kind<number>, expected: string): ValueKind<number> {
  const shape = new RegExp(GO_DURATION);
  return {
    schema: { type: "string", pattern: GO_DURATION },
    read(at, report) {
      const text = at.json.kind === "text" ? at.json.value : "";
      const parsed = shape.test(text) ? kind.parse(text) : { why: "" };
      return "value" in parsed ? parsed.value : report.expected(at, expected);
    },
    show: kind.show,
  };
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** The values of a list; undefined when it is none, or one of its values is not what it should be. */
function readList<T>(
  at: Place,
  report: Report,
  expected: string,
  read: (item: Place) => T | undefined,
): T[] | undefined {
  if (at.json.kind !== "list") return report.expected(at, expected);
  const values = at.items().map(read);
  return values.includes(undefined) ? undefined : values as T[];
}

function shownList(values: readonly string[]): string {
  return values.length === 0 ? "none" : values.join(",");
}
