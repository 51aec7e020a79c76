import { applyEdits, type Edit, insertContainer } from "./insertion.ts";
import { type Manifest, manifestsOf, type PodTemplate, podTemplateOf } from "./manifests.ts";
import { CONTAINER_NAME, LABEL, PORT_NAMES } from "./names.ts";
import { pointService, type Target } from "./services.ts";
import { sidecarContainer } from "./sidecar_container.ts";
import { at, fieldsAt, listAt, textAt } from "./values.ts";
import { asksForSidecar, containerPorts, readWish } from "./wishes.ts";
import { readStream } from "./yaml.ts";

/** How manifests are injected into. */
export interface InjectOptions {
  /** The sidecar's image. */
  readonly image: string;
  /**
   * Whether the Services of the stream are led to the sidecars, by their port's name (Kubernetes 1.33 and later finds
   * it there) or its number; false leaves every Service as it is.
   */
  readonly services: "name" | "number" | false;
}

/** What came of it: the text with a line on each thing that was looked at, or every problem. */
export type Injection =
  | { readonly text: string; readonly notes: readonly string[] }
  | { readonly problems: readonly string[] };

/** What is known once all pods of a stream have been gone through. */
interface Findings {
  readonly edits: Edit[];
  readonly notes: string[];
  readonly problems: string[];
  readonly targets: Target[];
}

/** Writes sidecars into a stream of manifests, YAML or JSON. Never throws. */
export function inject(text: string, options: InjectOptions): Injection {
  const stream = readStream(text);
  if ("problems" in stream) return stream;
  const manifests = stream.documents.flatMap(manifestsOf);
  const found: Findings = { edits: [], notes: [], problems: [], targets: [] };
  for (const manifest of manifests) {
    const template = podTemplateOf(manifest);
    if (template === undefined) continue;
    const line = stream.lineOf(manifest.node.range?.[0] ?? 0);
    for (const why of injectPod(text, template, options, found)) {
      found.problems.push(`Cannot inject into ${manifest.title} (line ${line}): ${why}`);
    }
  }
  if (found.problems.length > 0) return { problems: found.problems };
  if (options.services !== false) pointServices(text, manifests, found);
  return { text: applyEdits(text, found.edits), notes: found.notes };
}

/** Adds to `found` what one pod needs; returns what is wrong. */
function injectPod(
  text: string,
  template: PodTemplate,
  { image, services }: InjectOptions,
  found: Findings,
): readonly string[] {
  const { manifest, value, path } = template;
  const asked = asksForSidecar(template);
  if (typeof asked === "object") return [asked.why];
  if (!asked) {
    if (hasStrayLabel(template)) {
      found.notes.push(`${manifest.title}: left alone: ${LABEL} belongs on its pod template`);
    }
    return [];
  }
  const existing = sidecarOf(value);
  if (existing !== undefined) {
    found.notes.push(`${manifest.title}: has a container called ${CONTAINER_NAME} already`);
    if (services !== false) found.targets.push(...targetOfExisting(template, existing, services));
    return [];
  }
  const wish = readWish(template);
  if ("problems" in wish) return wish.problems;
  const container = sidecarContainer({ ...wish.sidecar, image });
  const place = insertContainer(text, manifest.node, path, container);
  if ("why" in place) return [place.why];
  found.edits.push(place.edit);
  const { grpcPort } = wish.sidecar;
  found.notes.push(
    `${manifest.title}: collapser added, port ${grpcPort} before ${wish.backendPort}`,
  );
  const to = services === "number" ? grpcPort : PORT_NAMES.grpc;
  found.targets.push(targetOf(template, wish.backendPort, to));
  return [];
}

function pointServices(text: string, manifests: readonly Manifest[], found: Findings): void {
  let pointed = 0;
  for (const manifest of manifests) {
    const edits = pointService(text, manifest, found.targets);
    if (edits.length === 0) continue;
    pointed += edits.length;
    found.edits.push(...edits);
    found.notes.push(`${manifest.title}: leads to collapser now`);
  }
  if (pointed === 0) found.notes.push("No Service here was leading past a sidecar");
}

/** The label where it is often put by mistake: on the object that makes the pods. */
function hasStrayLabel({ manifest, path }: PodTemplate): boolean {
  return path.length > 0 && fieldsAt(manifest.value, "metadata", "labels").has(LABEL);
}

function sidecarOf(template: unknown): unknown {
  return ["initContainers", "containers"].flatMap((list) => listAt(template, "spec", list))
    .find((container) => at(container, "name") === CONTAINER_NAME);
}

/** Where a Service would be led to a sidecar that was there before, as far as its variables tell. */
function targetOfExisting(
  template: PodTemplate,
  container: unknown,
  services: "name" | "number",
): readonly Target[] {
  const variable = (wanted: string) =>
    listAt(container, "env").find((one) => at(one, "name") === wanted);
  const backend = textAt(variable("BACKEND_ADDRESS"), "value")?.match(/:(\d+)$/)?.[1];
  const grpcPort = Number(textAt(variable("GRPC_PORT"), "value") ?? NaN);
  const port = listAt(container, "ports").find((one) => at(one, "containerPort") === grpcPort);
  const to = services === "number" ? grpcPort : textAt(port, "name");
  if (backend === undefined || to === undefined || Number.isNaN(to)) return [];
  return [targetOf(template, Number(backend), to)];
}

function targetOf({ manifest, value }: PodTemplate, port: number, to: string | number): Target {
  const names = containerPorts(value).filter((own) => own.port === port).map(({ name }) => name);
  return {
    namespace: manifest.namespace,
    labels: fieldsAt(value, "metadata", "labels"),
    past: new Set([port, ...names.filter((name) => name !== undefined)]),
    to,
  };
}
