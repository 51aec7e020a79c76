/**
 * Makes charts/collapser/values.schema.json, by which Helm refuses values that the chart does not know: its options are
 * those of the option table, each with its meaning and the shape of its value.
 *
 * @module
 */

import { type Option, OPTIONS } from "../lib/config/mod.ts";

const SCHEMA = new URL("../charts/collapser/values.schema.json", import.meta.url);

/** A JSON Schema, or a part of one. */
type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: "string" };
const FLAG: Schema = { type: "boolean" };
const COUNT: Schema = { type: "integer", minimum: 0 };
const PORT: Schema = { type: "integer", minimum: 1, maximum: 65_535 };
const OBJECT: Schema = { type: "object" };
const LIST: Schema = { type: "array" };
const TEXTS: Schema = { type: "object", additionalProperties: { type: "string" } };

/** The shape of a value by what stands for it in help texts; any other is text. */
const SHAPES: ReadonlyMap<string, Schema> = new Map([
  ["BOOL", FLAG],
  ["COUNT", COUNT],
  ["PORT", PORT],
  ["RATIO", { type: "number", minimum: 0, maximum: 1 }],
  // A Go duration: a number with a unit, or several, or a bare 0.
  ["DURATION", { type: "string", pattern: "^(0|([0-9]+(\\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+)$" }],
  // Plain bytes, or with a unit.
  ["SIZE", { type: ["integer", "string"], minimum: 0 }],
]);

/** Whether an option can stand among values, which everybody may read who may read the release. */
export function isInChart({ kind, flagless }: Option): boolean {
  return !flagless && !kind.secret;
}

/** `cacheDuration` for COLLAPSER_CACHE_DURATION, `backendTimeout` for BACKEND_TIMEOUT. */
export function chartName({ env }: Pick<Option, "env">): string {
  return env.replace(/^COLLAPSER_/, "").toLowerCase()
    .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema as JSON text. */
export function chartSchema(): string {
  const schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart collapser",
    ...closed({
      global: OBJECT, // charts that take this one for a part have it
      image: closed({
        repository: { type: "string", minLength: 1 },
        tag: TEXT,
        digest: { type: "string", pattern: "^(|sha256:[0-9a-f]{64})$" },
        pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
      }),
      imagePullSecrets: LIST,
      nameOverride: TEXT,
      fullnameOverride: TEXT,
      options: closed(Object.fromEntries(
        OPTIONS.filter(isInChart).map((option) => [
          chartName(option),
          { description: meaning(option), ...shapeOf(option) },
        ]),
      )),
      extraEnv: LIST,
      extraVolumes: LIST,
      extraVolumeMounts: LIST,
      resources: OBJECT,
      proxy: closed({
        enabled: FLAG,
        replicas: COUNT,
        labels: TEXTS,
        annotations: TEXTS,
        nodeSelector: TEXTS,
        tolerations: LIST,
        affinity: OBJECT,
        terminationGracePeriodSeconds: COUNT,
        service: closed({
          type: { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
          port: PORT,
          annotations: TEXTS,
        }),
        podDisruptionBudget: closed({
          enabled: FLAG,
          maxUnavailable: { type: ["integer", "string"] },
        }),
      }),
      podMonitor: closed({ enabled: FLAG, interval: TEXT, labels: TEXTS }),
      prometheusRule: closed({ enabled: FLAG, labels: TEXTS }),
      dashboard: closed({ enabled: FLAG, labels: TEXTS }),
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** An object with these fields and no others: a misspelt one is refused. */
function closed(properties: Readonly<Record<string, unknown>>): Schema {
  return { type: "object", properties, additionalProperties: false };
}

function shapeOf({ kind: { placeholder } }: Option): Schema {
  // Words are taken in any case, which an enumeration cannot say.
  if (/^[a-z]+(\|[a-z]+)+$/.test(placeholder)) return { enum: placeholder.split("|") };
  return SHAPES.get(placeholder) ?? TEXT;
}

function meaning({ env, help, required, sameAs, fallback }: Option): string {
  const unset = required ? "required" : sameAs ?? fallback;
  return `${env}: ${help}${unset === "" ? "" : ` (${unset})`}`;
}

if (import.meta.main) await Deno.writeTextFile(SCHEMA, chartSchema());
