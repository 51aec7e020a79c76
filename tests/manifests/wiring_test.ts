/**
 * What the manifests promise of how their parts fit together: selectors and labels, Services and ports, volumes and
 * ConfigMaps, and the demo's parts among themselves. Skipped, with the reason in a test's name, where Go or its modules
 * cannot be had.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DEFAULT_IMAGE, LABEL, PORT_NAMES } from "../../lib/inject/mod.ts";
import type { Json } from "./go_program.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";
import { containersOf, isOurs, type Pod, podsOf, sidecarsOf } from "./pods.ts";

const BASE = "base";
const KIND = "overlays/kind";
const LOAD = "overlays/kind/load";
const EXAMPLE = "examples/your-service";
const STEPS = [`${EXAMPLE}/step_1`, `${EXAMPLE}/step_2`];
const OPERATOR = "overlays/prometheus-operator";

/** Where Prometheus and callers find a sidecar. */
const PORTS = { grpc: 50052, metrics: 2112 } as const;

type Labels = Readonly<Record<string, string>>;

skippedWithoutGo("manifests fit together");

manifestTest("manifests select by labels that exactly one kind of pod has", (reading) => {
  for (const [folder, objects] of Object.entries(reading.builds)) {
    for (const object of objects) {
      const selector = selectorOf(object);
      if (selector === undefined) continue;
      const found = podsOf(reading, folder).filter(({ labels }) => holds(labels, selector));
      assertEquals(found.length, 1, `${folder}: ${object.kind} ${object.metadata.name}`);
    }
  }
});

manifestTest("manifests lead every Service to a port that a container opens", (reading) => {
  for (const [folder, objects] of Object.entries(reading.builds)) {
    for (const { metadata, spec } of objects.filter(({ kind }) => kind === "Service")) {
      const [pod] = podsOf(reading, folder).filter(({ labels }) => holds(labels, spec.selector));
      const open = pod!.containers.flatMap(({ ports }) => ports ?? []);
      for (const { name, targetPort, appProtocol } of spec.ports) {
        const where = `${folder}: Service ${metadata.name} ${name}`;
        const isMeant = (port: Json) => [port.name, port.containerPort].includes(targetPort);
        assertEquals(open.filter(isMeant).length, 1, where);
        assertEquals(appProtocol, name === "grpc" ? "kubernetes.io/h2c" : "http", where);
      }
    }
  }
  const { ports } = only(reading.builds[BASE], "Service").spec;
  const told = ports.map(({ name, port, targetPort }: Json) => [name, port, targetPort]);
  assertEquals(told, [["grpc", PORTS.grpc, PORTS.grpc], ["metrics", PORTS.metrics, PORTS.metrics]]);
});

manifestTest("manifests mount every volume they have, made of ConfigMaps that exist", (reading) => {
  for (const pod of podsOf(reading)) {
    const mounts: Json[] = pod.containers.flatMap(({ volumeMounts }) => volumeMounts ?? []);
    const volumes: Json[] = pod.spec.volumes ?? [];
    const names = volumes.map(({ name }) => name);
    assertEquals(new Set(mounts.map(({ name }) => name)), new Set(names), pod.where);
    for (const volume of volumes) checkVolume(volume, pod, mounts);
  }
});

manifestTest("manifests run pods under ServiceAccounts that exist", (reading) => {
  for (const { where, spec, beside } of podsOf(reading)) {
    const { serviceAccountName } = spec;
    if (serviceAccountName !== undefined) only(beside, "ServiceAccount", serviceAccountName);
    else assert(!where.startsWith(BASE), where);
  }
});

manifestTest(
  "manifests name the images that are built here or published, and pull none of ours in kind",
  (reading) => {
    const all = containersOf(reading).map(({ container: { image } }) => image);
    const ours = new Set(all.filter((image) => image.includes("collapser")));
    assertEquals([...ours].sort(), ["collapser-backend:dev", "collapser:dev", DEFAULT_IMAGE]);
    for (const { where, container } of containersOf(reading)) {
      const { image, imagePullPolicy } = container;
      assert(/:v?\d|:dev$/.test(image), `${where}: ${image} has no version`);
      if (!where.startsWith(KIND)) continue;
      assertEquals(imagePullPolicy, isOurs(container) ? "Never" : "IfNotPresent", where);
    }
  },
);

manifestTest(
  "manifests let callers to the sidecar, Prometheus to its metrics, and nobody to the backend",
  (reading) => {
    for (const folder of [BASE, KIND]) {
      const { ingress, egress, policyTypes } = only(reading.builds[folder], "NetworkPolicy").spec;
      const ports = ingress.map(({ ports }: Json) => ports.map(({ port }: Json) => port));
      assertEquals(ports, [[PORTS.grpc], [PORTS.metrics]], folder);
      assertEquals([policyTypes, egress ?? []], [["Ingress", "Egress"], []], folder);
      const scrapers = ingress[1].from.map((from: Json) => from.podSelector?.matchLabels);
      const [prometheus] = podsOf(reading, KIND).filter(({ where }) =>
        where.endsWith(" prometheus")
      );
      assert(
        scrapers.some((labels: Labels | undefined) => labels && holds(prometheus!.labels, labels)),
      );
    }
  },
);

manifestTest("manifests let nodes be emptied however few pods there are", (reading) => {
  for (const folder of [BASE, KIND]) {
    const { maxUnavailable, minAvailable } =
      only(reading.builds[folder], "PodDisruptionBudget").spec;
    assertEquals([maxUnavailable, minAvailable], [1, undefined], folder);
  }
});

manifestTest("manifests put everything of the demo into one restricted namespace", ({ builds }) => {
  const { metadata } = only(builds[KIND], "Namespace");
  assertEquals(metadata.labels["pod-security.kubernetes.io/enforce"], "restricted");
  for (const object of [...builds[KIND]!, ...builds[LOAD]!]) {
    if (object.kind === "Namespace") continue;
    assertEquals(
      object.metadata.namespace,
      metadata.name,
      `${object.kind} ${object.metadata.name}`,
    );
  }
  const { subjects } = only(builds[KIND], "RoleBinding");
  assertEquals(subjects.map(({ namespace }: Json) => namespace), [metadata.name]);
});

manifestTest("manifests send the demo's load to the Service of the sidecar", (reading) => {
  const [load] = podsOf(reading, LOAD);
  const { metadata, spec } = only(reading.builds[KIND], "Service", "hello");
  const address = load!.containers[0].args.find((arg: string) => arg.startsWith("--address="));
  assertEquals(address, `--address=${metadata.name}:${spec.ports[0].port}`);
});

manifestTest("manifests scrape every 5 s in kind, where Grafana looks", ({ files, builds }) => {
  const [config] = files["overlays/kind/prometheus/prometheus.yaml"]!;
  const [sources] = files["overlays/kind/grafana/datasources.yaml"]!;
  const [providers] = files["overlays/kind/grafana/providers.yaml"]!;
  const [{ url, jsonData }] = sources.datasources;
  const { metadata, spec } = only(builds[KIND], "Service", "prometheus");
  assertEquals(config.global.scrape_interval, "5s");
  assertEquals(jsonData.timeInterval, "5s");
  assertEquals(url, `http://${metadata.name}:${spec.ports[0].port}`);
  const [{ volumeMounts }] =
    only(builds[KIND], "Deployment", "grafana").spec.template.spec.containers;
  const paths = volumeMounts.map(({ mountPath }: Json) => mountPath);
  assert(paths.includes(providers.providers[0].options.path));
});

manifestTest(
  "manifests have Prometheus in kind read its configuration and the alerts where they are mounted",
  ({ files, builds }) => {
    const [config] = files["overlays/kind/prometheus/prometheus.yaml"]!;
    const [{ args, volumeMounts }] =
      only(builds[KIND], "Deployment", "prometheus").spec.template.spec.containers;
    const pathOf = (name: string) =>
      volumeMounts.find((mount: Json) => mount.name === name).mountPath;
    assert(args.includes(`--config.file=${pathOf("config")}`));
    assertEquals(config.rule_files, [`${pathOf("alerts")}/*.yaml`]);
  },
);

manifestTest(
  "manifests find every pod that has a sidecar by the PodMonitor's label and port",
  (reading) => {
    const { selector, podMetricsEndpoints: [endpoint] } =
      only(reading.builds[OPERATOR], "PodMonitor").spec;
    assertEquals(selector.matchLabels, { [LABEL]: "true" });
    assertEquals(endpoint.port, PORT_NAMES.http);
    for (const { pod, sidecar } of sidecarsOf(reading)) {
      assert(holds(pod.labels, selector.matchLabels), pod.where);
      assert(sidecar.ports.some(({ name }: Json) => name === endpoint.port), pod.where);
    }
    const set = endpoint.relabelings.map((
      { sourceLabels, targetLabel, replacement }: Json,
    ) => [targetLabel, replacement ?? sourceLabels[0]]);
    assertEquals(set, [
      ["job", "collapser"],
      ["service", "__meta_kubernetes_pod_label_app"],
      ["service", "__meta_kubernetes_pod_label_app_kubernetes_io_name"],
    ]);
  },
);

manifestTest(
  "manifests tell Prometheus by annotations where the sidecar's figures are",
  (reading) => {
    const patch =
      only(reading.files["components/scrape-annotations/kustomization.yaml"], "Component")
        .patches[0].patch;
    assertStringIncludes(patch, `prometheus.io/port: "${PORTS.metrics}"`);
    assertStringIncludes(patch, "prometheus.io/path: /metrics");
  },
);

manifestTest("manifests change nothing that callers see in the example's first step", (reading) => {
  const [own, first] = [`${EXAMPLE}/own`, STEPS[0]!].map((folder) => reading.builds[folder]);
  assertEquals(only(first, "Service"), only(own, "Service"));
  const withoutSidecar = structuredClone(only(first, "Deployment"));
  delete withoutSidecar.spec.template.spec.initContainers;
  delete withoutSidecar.spec.template.metadata.labels[LABEL];
  assertEquals(withoutSidecar, only(own, "Deployment"));
});

manifestTest("manifests change the Service alone in the example's second step", (reading) => {
  const [first, second] = STEPS.map((folder) => reading.builds[folder]);
  assertEquals(only(second, "Deployment"), only(first, "Deployment"), "no pod restarts for it");
  const [before, after] = [first, second].map((objects) =>
    structuredClone(only(objects, "Service"))
  );
  assertEquals(after.spec.ports[0].targetPort, PORTS.grpc);
  delete before.spec.ports[0].targetPort;
  delete after.spec.ports[0].targetPort;
  assertEquals(after, before);
});

function checkVolume(
  { name, configMap }: Json,
  { where, beside }: Pod,
  mounts: readonly Json[],
): void {
  if (configMap === undefined) return;
  const { data } = only(beside, "ConfigMap", configMap.name);
  for (const mount of mounts) {
    if (mount.name !== name || mount.subPath === undefined) continue;
    assert(mount.subPath in data, `${where}: ${mount.subPath}`);
  }
}

/** The one object of a kind, of a name where there are several. */
function only(objects: readonly Json[] | undefined, kind: string, name?: string): Json {
  const found = (objects ?? []).filter((object) =>
    object.kind === kind && (name === undefined || object.metadata.name === name)
  );
  assertEquals(found.length, 1, `${kind} ${name ?? ""}`);
  return found[0];
}

/** The labels by which an object selects pods; undefined for those that select none. */
function selectorOf({ kind, spec }: Json): Labels | undefined {
  if (kind === "Service") return spec.selector;
  if (kind === "NetworkPolicy") return spec.podSelector.matchLabels;
  if (kind === "Deployment" || kind === "PodDisruptionBudget") return spec.selector.matchLabels;
  return undefined;
}

function holds(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
