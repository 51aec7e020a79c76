import { at, textAt } from "./values.ts";
import { isMap, isSeq, pairOf, type YamlDocument, type YAMLMap } from "./yaml.ts";

/** One Kubernetes object in a stream. */
export interface Manifest {
  readonly kind: string;
  /** `Deployment your-service`, for messages. */
  readonly title: string;
  readonly namespace: string | undefined;
  /** The manifest as it stands in the text. */
  readonly node: YAMLMap;
  readonly value: unknown;
}

/** A pod that a manifest makes, or is. */
export interface PodTemplate {
  readonly manifest: Manifest;
  /** The template as plain values: `metadata` and `spec`. */
  readonly value: unknown;
  /** From the manifest to the template. */
  readonly path: readonly string[];
}

/** Where each kind has its pod, by API group and kind. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  "/Pod": [],
  "/ReplicationController": ["spec", "template"],
  "apps/Deployment": ["spec", "template"],
  "apps/DaemonSet": ["spec", "template"],
  "apps/ReplicaSet": ["spec", "template"],
  "apps/StatefulSet": ["spec", "template"],
  "argoproj.io/Rollout": ["spec", "template"],
  "batch/CronJob": ["spec", "jobTemplate", "spec", "template"],
  "batch/Job": ["spec", "template"],
};

/** The objects of a document: one, or those of a list such as `kubectl get -o yaml` prints. */
export function manifestsOf({ root, value }: YamlDocument): readonly Manifest[] {
  if (!isMap(root)) return [];
  const kind = textAt(value, "kind");
  if (kind === undefined) return [];
  const items = pairOf(root, "items")?.value;
  const values = at(value, "items");
  if (kind.endsWith("List") && isSeq(items) && Array.isArray(values)) {
    return items.items.flatMap((item, index) => manifestsOf({ root: item, value: values[index] }));
  }
  const name = textAt(value, "metadata", "name") ?? textAt(value, "metadata", "generateName");
  return [{
    kind,
    title: `${kind} ${name ?? "without a name"}`,
    namespace: textAt(value, "metadata", "namespace"),
    node: root,
    value,
  }];
}

/** The pod of a manifest; undefined for kinds that make none. */
export function podTemplateOf(manifest: Manifest): PodTemplate | undefined {
  const version = textAt(manifest.value, "apiVersion") ?? "";
  const group = version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
  const key = `${group}/${manifest.kind}`;
  if (!Object.hasOwn(TEMPLATES, key)) return undefined;
  const path = TEMPLATES[key]!;
  return { manifest, path, value: at(manifest.value, ...path) };
}
