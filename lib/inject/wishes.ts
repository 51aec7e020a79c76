import { nearest, OPTIONS, PORT, readSettings } from "../config/mod.ts";
import type { PodTemplate } from "./manifests.ts";
import { LABEL, PREFIX } from "./names.ts";
import type { SidecarWish } from "./sidecar_container.ts";
import { at, fieldsAt, listAt, textAt } from "./values.ts";

/** What a pod template asks for. */
export type Wish =
  | {
    readonly sidecar: Omit<SidecarWish, "image">;
    /** Where the pod's own service takes calls. */
    readonly backendPort: number;
  }
  | { readonly problems: readonly string[] };

const BACKEND_PORT = `${PREFIX}backend-port`;
const GRPC_PORT = `${PREFIX}port`;
const OPTION = `${PREFIX}option.`;

/** Left out of the name of an option where that is short for the variable's. */
const SHORT = "COLLAPSER_";

/**
 * Variables of every sidecar, which annotations may change. The ports are written out because a Service named grpc or
 * metrics would otherwise set them: Kubernetes tells pods about Services in variables of such names. The page and
 * its API are for people who forward a port, so they are on the loopback address. The heap's bound follows from the
 * container's memory limit instead of the node's memory.
 */
const VARIABLES: Readonly<Record<string, string>> = {
  METRICS_PORT: "2112",
  ADMIN_HOST: "127.0.0.1",
  ADMIN_PORT: "2113",
  DENO_USE_CGROUPS: "1",
};

/** Variables that no annotation sets, and what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  BACKEND_ADDRESS: `${BACKEND_PORT} says where the pod's own service listens`,
  GRPC_PORT: `${GRPC_PORT} says where the sidecar does`,
  GRPC_HOST: "callers reach a pod at all its addresses",
  METRICS_HOST: "the kubelet's probes reach a pod at its own address",
  ADMIN_TOKEN:
    "a secret has no place in an annotation; admin-token-file names a file that is mounted",
};

/** Whether a pod template asks for a sidecar, and what is wrong with how it does. */
export function asksForSidecar({ value }: PodTemplate): boolean | { readonly why: string } {
  const label = fieldsAt(value, "metadata", "labels").get(LABEL);
  if (label === undefined || label === "false") return false;
  if (label === "true") return true;
  const written = typeof label === "string" ? `"${label}"` : String(label);
  return { why: `expected ${LABEL} to be "true" or "false", in quotes, and not ${written}` };
}

/** Reads the annotations of a pod template; finds every problem in one go. */
export function readWish({ value }: PodTemplate): Wish {
  const problems: string[] = [];
  const annotations = textsUnderPrefix(value, problems);
  const given = variablesOf(annotations, problems);
  const grpc = PORT.parse(annotations.get(GRPC_PORT) ?? "50052");
  if (!("value" in grpc) || grpc.value === 0) {
    problems.push(`expected ${GRPC_PORT} to be a port from 1 to 65535`);
  }
  const backend = backendPort(value, annotations.get(BACKEND_PORT));
  if ("why" in backend) problems.push(backend.why);
  if (problems.length > 0 || !("value" in grpc) || "why" in backend) return { problems };

  if (grpc.value === backend.value) {
    return { problems: [`${BACKEND_PORT} and ${GRPC_PORT} are both ${grpc.value}`] };
  }
  const variables = new Map([
    ["BACKEND_ADDRESS", `127.0.0.1:${backend.value}`],
    ["GRPC_PORT", `${grpc.value}`],
    ...Object.entries(VARIABLES),
    ...given,
  ]);
  const reading = readSettings((name) => variables.get(name));
  if ("problems" in reading) return { problems: reading.problems };
  const { metricsPort, adminPort } = reading.settings;
  for (const port of new Set([grpc.value, metricsPort, adminPort])) {
    const owner = ownerOf(value, port);
    if (owner !== undefined) problems.push(portIsTaken(port, owner, grpc.value));
    if (port === 0) problems.push("expected ports that are known beforehand, and not 0");
  }
  if (problems.length > 0) return { problems: [...new Set(problems)] };
  return { sidecar: { variables, grpcPort: grpc.value, metricsPort }, backendPort: backend.value };
}

/** The annotations that are collapser's: the part behind the prefix is known, and the value is text. */
function textsUnderPrefix(template: unknown, problems: string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of fieldsAt(template, "metadata", "annotations")) {
    if (!name.startsWith(PREFIX)) continue;
    if (typeof value !== "string") {
      problems.push(`expected ${name} to be text: put ${value} in quotes`);
    } else if (name !== BACKEND_PORT && name !== GRPC_PORT && !name.startsWith(OPTION)) {
      const { word } = nearest(name, [BACKEND_PORT, GRPC_PORT, `${OPTION}cache-duration`]);
      problems.push(`nobody knows ${name}; the nearest is ${word}`);
    } else found.set(name, value.trim());
  }
  return found;
}

/** The variables that `option.` annotations set, by the names of the option table. */
function variablesOf(
  annotations: ReadonlyMap<string, string>,
  problems: string[],
): readonly [string, string][] {
  const found: [string, string][] = [];
  for (const [annotation, text] of annotations) {
    if (!annotation.startsWith(OPTION)) continue;
    const name = annotation.slice(OPTION.length);
    const env = name.toUpperCase().replaceAll("-", "_");
    const option = OPTIONS.find((row) => row.env === env || row.env === SHORT + env);
    if (option === undefined) {
      const { word } = nearest(name, OPTIONS.flatMap(optionNames));
      problems.push(`nobody knows ${annotation}; the nearest is ${OPTION}${word}`);
    } else if (Object.hasOwn(ELSEWHERE, option.env)) {
      problems.push(`${annotation} cannot be set: ${ELSEWHERE[option.env]}`);
    } else found.push([option.env, text]);
  }
  return found;
}

/** What an option may be called in an annotation: `cache-duration`, and `collapser-cache-duration` too. */
function optionNames({ env }: { readonly env: string }): readonly string[] {
  const whole = env.toLowerCase().replaceAll("_", "-");
  return env.startsWith(SHORT) ? [whole.slice(SHORT.length), whole] : [whole];
}

/** The port of the pod's own service: as written, by a container port's name, or the only one that it can be. */
function backendPort(
  template: unknown,
  written: string | undefined,
): { value: number } | { why: string } {
  const ports = containerPorts(template);
  if (written === undefined) {
    const named = ports.filter(({ name }) => name !== undefined && /(^|-)grpc(-|$)/.test(name));
    const [one, ...more] = named.length > 0 ? named : ports;
    if (one !== undefined && more.length === 0) return { value: one.port };
    return {
      why: `cannot tell which port its service listens on: set the annotation ${BACKEND_PORT}`,
    };
  }
  const byName = ports.find(({ name }) => name === written);
  if (byName !== undefined) return { value: byName.port };
  const parsed = PORT.parse(written);
  if ("value" in parsed && parsed.value > 0) return parsed;
  return {
    why: `expected ${BACKEND_PORT} to be a port, or the name of one of its containers' ports`,
  };
}

/** A port that a container of the pod says it has. */
interface ContainerPort {
  readonly container: string;
  readonly name: string | undefined;
  readonly port: number;
}

/** The ports that the pod's containers declare. */
export function containerPorts(template: unknown): readonly ContainerPort[] {
  return ["containers", "initContainers"].flatMap((list) =>
    listAt(template, "spec", list).flatMap((container) =>
      listAt(container, "ports").flatMap((port) => {
        const number = at(port, "containerPort");
        if (typeof number !== "number") return [];
        const owner = textAt(container, "name") ?? "";
        return [{ container: owner, name: textAt(port, "name"), port: number }];
      })
    )
  );
}

function ownerOf(template: unknown, port: number): string | undefined {
  return containerPorts(template).find((taken) => taken.port === port)?.container;
}

function portIsTaken(port: number, owner: string, grpcPort: number): string {
  const remedy = port === grpcPort ? GRPC_PORT : `${OPTION}metrics-port or ${OPTION}admin-port`;
  return `port ${port} is container ${owner}'s already: set the annotation ${remedy}`;
}
