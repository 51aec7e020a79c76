/**
 * What the manifests promise of pods, asked of what kustomize builds. Kubernetes' own types judge the fields. Skipped,
 * with the reason in a test's name, where Go or its modules cannot be had.
 *
 * @module
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { readSettings, type Settings } from "../../lib/config/mod.ts";
import { DEFAULT_IMAGE, inject, PORT_NAMES } from "../../lib/inject/mod.ts";
import type { Json } from "./go_program.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";
import { containersOf, isOurs, plainOf, podsOf, sidecarsOf, variableOf } from "./pods.ts";

const EXAMPLE = "examples/your-service";
const WITH_SIDECAR = [
  "base",
  `${EXAMPLE}/step_1`,
  `${EXAMPLE}/step_2`,
  "overlays/kind",
  "overlays/prometheus-operator",
];

/** The user of the images, who is nobody on the node. */
const NOBODY = 65532;

/** Where the kubelet, Prometheus and callers find a sidecar. */
const PORTS = { grpc: 50052, metrics: 2112 } as const;

skippedWithoutGo("manifests keep their promises of pods");

manifestTest(
  "manifests have only kinds and fields that Kubernetes knows, and pods that Pod Security lets in",
  ({ problems }) => {
    assertEquals(problems, []);
  },
);

manifestTest("manifests put a sidecar into every folder that a user applies", (reading) => {
  const folders = new Set(sidecarsOf(reading).map(({ pod }) => pod.where.split(":")[0]!));
  assertEquals([...folders].sort(), WITH_SIDECAR);
});

manifestTest(
  "manifests run our images as nobody, with nothing to write to and no privilege",
  (reading) => {
    for (const { container, pod, where } of containersOf(reading)) {
      if (!isOurs(container)) continue;
      const own = container.securityContext;
      assertEquals(own.readOnlyRootFilesystem, true, where);
      assertEquals(own.allowPrivilegeEscalation, false, where);
      assertEquals(own.capabilities, { drop: ["ALL"] }, where);
      const whole = { ...pod.spec.securityContext, ...own };
      const { runAsNonRoot, runAsUser, runAsGroup, seccompProfile } = whole;
      assertEquals([runAsNonRoot, runAsUser, runAsGroup], [true, NOBODY, NOBODY], where);
      assertEquals(seccompProfile, { type: "RuntimeDefault" }, where);
    }
  },
);

manifestTest(
  "manifests give a token to Prometheus alone, which may read pods and nothing else",
  (reading) => {
    const mayRead = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }];
    for (const { where, spec, beside } of podsOf(reading)) {
      if (where.startsWith(EXAMPLE)) continue; // somebody's own pod, from which the patch takes nothing
      const isPrometheus = spec.serviceAccountName === "prometheus";
      assertEquals(spec.automountServiceAccountToken, isPrometheus ? undefined : false, where);
      const roles = beside.filter(({ kind }) => /Role$/.test(kind));
      if (isPrometheus) assertEquals(roles.map(({ rules }) => rules), [mayRead]);
    }
  },
);

manifestTest(
  "manifests start the sidecar as one that restarts always, before everything else",
  (reading) => {
    for (const { pod, sidecar } of sidecarsOf(reading)) {
      assertEquals(pod.spec.initContainers[0], sidecar, pod.where);
      assertEquals(sidecar.restartPolicy, "Always", pod.where);
    }
  },
);

manifestTest(
  "manifests ask the sidecar's own health of its start and life, and its backend of readiness",
  (reading) => {
    for (const { pod: { where }, sidecar } of sidecarsOf(reading)) {
      const asked = [sidecar.startupProbe, sidecar.livenessProbe, sidecar.readinessProbe]
        .map(({ httpGet: { port, path } }) => `${port} ${path}`);
      // A start that waited for the backend would wait for ever: the backend starts after it.
      assertEquals(
        asked,
        ["/health", "/health", "/ready"].map((path) => `${PORT_NAMES.http} ${path}`),
        where,
      );
    }
  },
);

manifestTest("manifests name the sidecar's ports, and tell it the same ones", (reading) => {
  for (const { pod: { where }, sidecar } of sidecarsOf(reading)) {
    const ports = sidecar.ports.map(({ name, containerPort }: Json) => [name, containerPort]);
    // The example's own container has a port "grpc" already.
    const grpc = where.startsWith(EXAMPLE) ? PORT_NAMES.grpc : "grpc";
    assertEquals(ports, [[grpc, PORTS.grpc], [PORT_NAMES.http, PORTS.metrics]], where);
    const { grpcPort, metricsPort } = settingsOf(sidecar);
    assertEquals([grpcPort, metricsPort], [PORTS.grpc, PORTS.metrics], where);
    // Not left to the default: a Service named grpc or metrics would set them.
    assertEquals(variableOf(sidecar, "GRPC_PORT"), `${PORTS.grpc}`, where);
    assertEquals(variableOf(sidecar, "METRICS_PORT"), `${PORTS.metrics}`, where);
  }
});

manifestTest("manifests point the sidecar at the backend in its own pod", (reading) => {
  for (const { pod: { where }, sidecar } of sidecarsOf(reading)) {
    const backends = settingsOf(sidecar).backends.map(({ name }) => name);
    assertEquals(backends, ["127.0.0.1:50051"], where);
  }
});

manifestTest(
  "manifests leave a pod the time for its end: pause, backend, sidecar, one after another",
  (reading) => {
    for (const { pod: { where, spec }, sidecar } of sidecarsOf(reading)) {
      const { drainDelayMs, drainTimeoutMs, backendTimeoutMs } = settingsOf(sidecar);
      const pauseMs = spec.containers[0].lifecycle.preStop.sleep.seconds * 1_000;
      const graceMs = spec.terminationGracePeriodSeconds * 1_000;
      assertGreater(pauseMs, 0, where);
      assertGreater(graceMs, pauseMs + backendTimeoutMs + drainDelayMs + drainTimeoutMs, where);
      // Told to end when its backend is gone, it would only turn callers away for so long.
      assertEquals(drainDelayMs, 0, where);
    }
  },
);

manifestTest(
  "manifests bound memory, with room for what is stored, and leave the CPU unbounded",
  (reading) => {
    for (const { container: { resources, ...container }, where } of containersOf(reading)) {
      if (!isOurs(container)) continue;
      assertEquals(Object.keys(resources.requests).sort(), ["cpu", "memory"], where);
      assertEquals(Object.keys(resources.limits), ["memory"], where);
    }
    for (const { pod: { where }, sidecar } of sidecarsOf(reading)) {
      const storedMiB = settingsOf(sidecar).maxCacheBytes / 2 ** 20;
      assertGreater(mebibytes(sidecar.resources.limits.memory), 4 * storedMiB, where);
      assertEquals(variableOf(sidecar, "DENO_USE_CGROUPS"), "1", where);
    }
  },
);

manifestTest("manifests have in their component the sidecar that inject writes", ({ builds }) => {
  const [own] = builds[`${EXAMPLE}/own`]!.filter(({ kind }) => kind === "Deployment");
  const asking = structuredClone(own);
  asking.spec.template.metadata.labels["collapser.dev/inject"] = "true";
  const done = inject(JSON.stringify(asking), { image: DEFAULT_IMAGE, services: false });
  if ("problems" in done) throw new Error(done.problems.join("\n"));
  const [step] = builds[`${EXAMPLE}/step_1`]!.filter(({ kind }) => kind === "Deployment");
  assertEquals(step, JSON.parse(done.text));
});

manifestTest(
  "manifests let the service outlive collapser where both are told to end at once",
  (reading) => {
    const plain = plainOf(reading);
    assertEquals(plain.map(({ pod }) => pod.where.split(":")[0]), [`${EXAMPLE}/plain_container`]);
    for (const { pod: { where, spec }, collapser } of plain) {
      assertEquals(collapser.lifecycle.preStop.exec.command, ["/collapser", "drain"], where);
      const { drainDelayMs, drainTimeoutMs, backendTimeoutMs } = settingsOf(collapser);
      const server = spec.containers.find(({ name }: Json) => name === "server");
      const pauseMs = server.lifecycle.preStop.sleep.seconds * 1_000;
      assertGreater(drainDelayMs, 0, where);
      assertGreater(pauseMs, drainDelayMs + drainTimeoutMs, where);
      assertGreater(spec.terminationGracePeriodSeconds * 1_000, pauseMs + backendTimeoutMs, where);
    }
  },
);

manifestTest(
  "manifests have the same container plain as beside, but for how it ends",
  (reading) => {
    const { collapser } = plainOf(reading)[0]!;
    const beside = sidecarsOf(reading).find(({ pod }) => pod.where.startsWith(EXAMPLE))!.sidecar;
    const { lifecycle: _, env, ...plain }: Json = collapser;
    const { restartPolicy: __, env: known, ...rest }: Json = beside;
    assertEquals(plain, rest);
    const own = env.filter(({ name }: Json) => !name.startsWith("DRAIN_"));
    assertEquals(own, known);
  },
);

/** What the sidecar makes of its container's variables. */
function settingsOf(sidecar: Json): Settings {
  const result = readSettings((name) => variableOf(sidecar, name));
  if ("problems" in result) throw new Error(result.problems.join("\n"));
  return result.settings;
}

function mebibytes(quantity: string): number {
  const [, number] = /^(\d+)Mi$/.exec(quantity) ?? [];
  assert(number !== undefined, quantity);
  return Number(number);
}
