import { DURATION, MAX_DURATION_MS } from "../kinds/duration.ts";
import { capitalised, type Place, type Report } from "./place.ts";
import type { JsonSchema } from "./value_kind.ts";

/** How a value of gRPC's own is read; what the sidecar has no use for is read to be refused where gRPC refuses it. */
export interface GrpcKind<T = unknown> {
  readonly schema: JsonSchema;
  read(at: Place, report: Report): T | undefined;
}

/**
 * A duration as protobuf's JSON has it: seconds, with nine digits behind the point at most, and an `s`; as in
 * grpc-go, either side of the point may be empty.
 */
const PROTOBUF_DURATION = "^(?:[0-9]{1,12}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})s$";

/** The longest that protobuf has: about ten thousand years. */
const MAX_PROTOBUF_SECONDS = 315_576_000_000;

const MAX_UINT32 = 2 ** 32 - 1;

/** A number as a text, which protobuf's JSON allows. */
const DECIMAL = "^[0-9]{1,12}(?:\\.[0-9]{1,9})?$";

/** A second attempt is what a retry is for (gRFC A6). */
const MIN_ATTEMPTS = 2;

/** gRPC takes a larger number of attempts for this one (gRFC A6). */
const MAX_ATTEMPTS = 5;

export const GRPC_TRUTH: GrpcKind<boolean> = {
  schema: { type: "boolean" },
  read: (at, report) =>
    at.json.kind === "boolean" ? at.json.value : report.expected(at, "true or false"),
};

export const GRPC_TEXT: GrpcKind<string> = {
  schema: { type: "string" },
  read: (at, report) => at.json.kind === "text" ? at.json.value : report.expected(at, "a text"),
};

/** A protobuf duration in ms, as long as a timer can wait at most. */
export const GRPC_DURATION: GrpcKind<number> = {
  schema: { type: "string", pattern: PROTOBUF_DURATION },
  read: (at, report) => readDuration(at) ?? report.expected(at, 'seconds such as "0.1s" or "1.5s"'),
};

export const GRPC_POSITIVE_DURATION: GrpcKind<number> = {
  schema: { type: "string", pattern: PROTOBUF_DURATION, allOf: [{ pattern: "[1-9]" }] },
  read(at, report) {
    const ms = readDuration(at);
    return ms !== undefined && ms > 0 ? ms : report.expected(at, 'seconds above 0 such as "0.1s"');
  },
};

/** A number above 0, up to `max`, or its digits as a text. */
export function positive(max?: number): GrpcKind<number> {
  const bound = max === undefined ? {} : { maximum: max };
  return {
    schema: {
      anyOf: [
        { type: "number", exclusiveMinimum: 0, ...bound },
        { type: "string", pattern: DECIMAL, allOf: [{ pattern: "[1-9]" }] },
      ],
    },
    read(at, report) {
      const { json } = at;
      const isNumber = json.kind === "number" ||
        json.kind === "text" && new RegExp(DECIMAL).test(json.value);
      const value = isNumber ? Number(json.value) : NaN;
      return value > 0 && value <= (max ?? Number.MAX_VALUE)
        ? value
        : report.expected(at, `a number above 0${max === undefined ? "" : `, ${max} at most`}`);
    },
  };
}

/** A size as protobuf's JSON has it: a number, or its digits as a text. */
export const UINT32: GrpcKind<number> = {
  schema: {
    anyOf: [
      { type: "integer", minimum: 0, maximum: MAX_UINT32 },
      { type: "string", pattern: "^[0-9]{1,10}$" },
    ],
  },
  read(at, report) {
    const value = readWhole(at);
    return value <= MAX_UINT32 ? value : report.expected(at, "a whole number of 32 bits");
  },
};

/** Attempts of a call, the first one included. */
export const ATTEMPTS: GrpcKind<number> = {
  schema: {
    anyOf: [
      { type: "integer", minimum: MIN_ATTEMPTS, maximum: MAX_UINT32 },
      { type: "string", pattern: "^0{0,9}(?:[2-9]|[1-9][0-9]{1,9})$" },
    ],
  },
  read(at, report) {
    const value = readWhole(at);
    if (!(value >= MIN_ATTEMPTS && value <= MAX_UINT32)) {
      return report.expected(at, `a whole number of at least ${MIN_ATTEMPTS}`);
    }
    if (value > MAX_ATTEMPTS) {
      report.warn(
        `line ${at.line}, ${at.pointer}: ${value} is taken for ${MAX_ATTEMPTS}, as gRPC does`,
      );
    }
    return Math.min(value, MAX_ATTEMPTS);
  },
};

/** A list of values of one kind. */
export function list<T>(of: GrpcKind<T>, expected: string): GrpcKind<readonly T[]> {
  return {
    schema: { type: "array", items: of.schema },
    read(at, report) {
      if (at.json.kind !== "list") return report.expected(at, expected);
      const values = at.items().map((item) => of.read(item, report));
      return values.includes(undefined) ? undefined : values as T[];
    },
  };
}

/** A field of a message. */
export interface Field {
  readonly kind: GrpcKind;
  readonly isRequired?: true;
}

/**
 * A message as protobuf's JSON has it: null is absent. gRPC passes over names that it does not know, so that newer files
 * are read by older programs; here they are named.
 */
export function message(fields: Readonly<Record<string, Field>>): GrpcKind<true> {
  const rows = Object.entries(fields);
  const required = rows.filter(([, { isRequired }]) => isRequired).map(([key]) => ({
    anyOf: [{ required: [key] }, { required: [capitalised(key)] }],
  }));
  return {
    schema: {
      type: "object",
      ...inEitherCase(Object.fromEntries(
        rows.map((
          [key, { kind, isRequired }],
        ) => [key, isRequired ? kind.schema : orNull(kind.schema)]),
      )),
      ...(required.length > 0 && { allOf: required }),
    },
    read(at, report) {
      if (at.json.kind !== "object") return report.expected(at, "an object");
      const members = at.members({ nullIsAbsent: true, eitherCase: Object.keys(fields) });
      for (const [key, value] of members) {
        if (Object.hasOwn(fields, key)) fields[key]!.kind.read(value, report);
        else report.warn(`line ${value.line}, ${value.pointer}: gRPC has no such name here`);
      }
      for (const [key, { isRequired }] of rows) {
        if (isRequired && !members.has(key)) report.wrong(at, () => `expected ${key} in it`);
      }
      return true;
    },
  };
}

/** The part of a schema that says of names, also with a capital in front, what they hold. */
export function inEitherCase(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const others = Object.entries(properties).map(([key, schema]) =>
    [`^${capitalised(key)}$`, schema] as const
  );
  return { properties, patternProperties: Object.fromEntries(others) };
}

/** Whatever object, for what has a form for each balancer. */
export const ANY_OBJECT: GrpcKind<true> = {
  schema: { type: "object" },
  read: (at, report) => at.json.kind === "object" || report.expected(at, "an object"),
};

/** What gRPC's own values may be besides: null, which is as good as absent. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

function readDuration({ json }: Place): number | undefined {
  if (json.kind !== "text" || !new RegExp(PROTOBUF_DURATION).test(json.value)) return undefined;
  const seconds = Number(json.value.slice(0, -1));
  if (seconds > MAX_PROTOBUF_SECONDS) return undefined;
  const parsed = DURATION.parse(json.value); // exact to the nanosecond
  return "value" in parsed ? parsed.value : MAX_DURATION_MS;
}

/** A whole number of 0 or more, or its digits; NaN for anything else. */
function readWhole({ json }: Place): number {
  if (json.kind === "text") return /^[0-9]{1,10}$/.test(json.value) ? Number(json.value) : NaN;
  const value = json.kind === "number" ? json.value : NaN;
  return Number.isInteger(value) && value >= 0 ? value : NaN;
}
