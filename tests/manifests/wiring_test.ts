/**
 * What the manifests promise of how their parts fit together: selectors and labels, Services and ports, volumes and
 * ConfigMaps, and the demo's parts among themselves. Skipped, with the reason in a test's name, where Go or its modules
 * cannot be had.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Json } from "./go_program.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";
import { containersOf, isOurs, type Pod, podsOf } from "./pods.ts";

const BASE = "base";
const KIND = "overlays/kind";
const LOAD = "overlays/kind/load";
const EXAMPLE = "examples/your-service";
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
  "manifests name the two images that are built here, and never pull them in kind",
  (reading) => {
    const all = containersOf(reading).map(({ container: { image } }) => image);
    const ours = new Set(all.filter((image) => image.includes("collapser")));
    assertEquals([...ours].sort(), ["collapser-backend:dev", "collapser:dev"]);
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
  "manifests find the sidecars' Services by the ServiceMonitor's labels and port",
  ({ builds }) => {
    const { selector, endpoints: [endpoint] } = only(builds[OPERATOR], "ServiceMonitor").spec;
    for (const folder of [OPERATOR, EXAMPLE]) {
      const { metadata, spec } = only(builds[folder], "Service");
      assert(holds(metadata.labels, selector.matchLabels), folder);
      assert(spec.ports.some(({ name }: Json) => name === endpoint.port), folder);
    }
    assertEquals(endpoint.relabelings, [{ targetLabel: "job", replacement: "collapser" }]);
  },
);

manifestTest(
  "manifests keep the example's Service as callers know it, and lead it to the sidecar",
  ({ builds, files }) => {
    const [before] = files[`${EXAMPLE}/service.yaml`]!;
    const after = only(builds[EXAMPLE], "Service");
    const known = (
      { metadata, spec: { ports: [{ name, port }] } }: Json,
    ) => [metadata.name, name, port];
    assertEquals(known(after), known(before));
    assertEquals(after.spec.ports[0].targetPort, PORTS.grpc);
    const [{ spec: { template: { spec: own } } }] = files[`${EXAMPLE}/deployment.yaml`]!;
    const { containers } = only(builds[EXAMPLE], "Deployment").spec.template.spec;
    const { lifecycle: _, ...unchanged } = containers[0];
    assertEquals([unchanged], own.containers);
  },
);

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
