import { COLLAPSER_KEYS } from "./collapser_keys.ts";
import { inEitherCase, orNull } from "./grpc_kind.ts";
import { ENTRY_KEYS, type GrpcKey, ROOT_KEYS } from "./grpc_keys.ts";
import type { JsonSchema } from "./value_kind.ts";

/**
 * The JSON Schema (2020-12) of a policy file, from the tables that the parser reads by. What a schema cannot say, the
 * parser alone does: names that stand twice, the longest duration, entries that are too many.
 */
export function policySchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Policy file of collapser: a gRPC service config with a collapser object in its entries",
    type: "object",
    ...withProperties({
      $schema: orNull({ type: "string", description: "this schema, for editors" }),
      methodConfig: orNull({
        type: "array",
        description: "what holds for methods; the entry that names one most closely holds whole",
        items: { $ref: "#/$defs/entry" },
      }),
      ...properties(ROOT_KEYS),
    }),
    $defs: { entry: entrySchema(), name: NAME, collapser: collapserSchema() },
  };
}

const NAME: JsonSchema = {
  type: "object",
  description: "a method; of a service all without `method`, of all services without both",
  ...inEitherCase({
    service: orNull({ type: "string", description: "with its package, such as pkg.Service" }),
    method: orNull({ type: "string" }),
  }),
  additionalProperties: false,
  // No method without its service.
  anyOf: [
    { properties: { service: { minLength: 1, type: "string" } }, required: ["service"] },
    { properties: { Service: { minLength: 1, type: "string" } }, required: ["Service"] },
    { properties: { method: { enum: ["", null] }, Method: { enum: ["", null] } } },
  ],
};

function entrySchema(): JsonSchema {
  return {
    type: "object",
    ...withProperties({
      name: orNull({
        type: "array",
        description: "the methods that the entry holds for",
        items: { $ref: "#/$defs/name" },
      }),
      collapser: { $ref: "#/$defs/collapser" },
      ...properties(ENTRY_KEYS),
    }),
    not: { properties: BOTH_POLICIES, required: Object.keys(BOTH_POLICIES) },
  };
}

/** gRPC takes one of the two. */
const BOTH_POLICIES = { retryPolicy: { type: "object" }, hedgingPolicy: { type: "object" } };

function collapserSchema(): JsonSchema {
  return {
    type: "object",
    description: "what holds for the answers of the entry's methods",
    properties: Object.fromEntries(
      COLLAPSER_KEYS.map(({ key, kind, help, isUnbuilt }) => {
        const description = `${help}${isUnbuilt ? " (not yet)" : ""}`.replaceAll("`", "");
        return [key, { ...kind.schema, description }];
      }),
    ),
    additionalProperties: false,
  };
}

/** Properties of which gRPC's own may have a capital in front. */
function withProperties(all: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const grpc = Object.entries(all).filter(([key]) => !OURS.includes(key));
  const { patternProperties } = inEitherCase(Object.fromEntries(grpc));
  return { properties: all, patternProperties };
}

const OURS = ["$schema", "collapser", "maxConcurrent"];

function properties(
  keys: Readonly<Record<string, GrpcKey>>,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(keys).map((
      [key, { kind, help }],
    ) => [key, { ...orNull(kind.schema), description: help }]),
  );
}
