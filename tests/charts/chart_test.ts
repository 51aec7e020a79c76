/**
 * The Helm chart, judged by Helm's own code (lint and template) and by Kubernetes' own types. Skipped, with the reason in
 * a test's name, where Go or its modules cannot be had.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { chartName, isInChart } from "../../build/chart_schema.ts";
import { OPTIONS } from "../../lib/config/mod.ts";
import { DEFAULT_IMAGE, inject } from "../../lib/inject/mod.ts";
import { type Json, readManifests, whyNoGo } from "../manifests/go_program.ts";
import { CHART, render, whyNoHelm } from "./helm.ts";

const reason = await whyNoHelm() || await whyNoGo();
const BACKEND = { backendAddress: "dns:///items.shop.svc:50051" };

/** Everything that can be switched on. */
const ALL = {
  options: BACKEND,
  podMonitor: { enabled: true, labels: { release: "kube-prometheus-stack" } },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
  proxy: { labels: { team: "shop" }, annotations: { a: "b" }, nodeSelector: { c: "d" } },
  extraEnv: [{ name: "ADMIN_TOKEN", valueFrom: { secretKeyRef: { name: "a", key: "b" } } }],
  extraVolumes: [{ name: "tls", secret: { secretName: "tls" } }],
  extraVolumeMounts: [{ name: "tls", mountPath: "/tls", readOnly: true }],
};

/** A chart of somebody's service that takes the sidecar from this one. */
const BORROWED = `apiVersion: v1
kind: Pod
metadata: {name: borrows}
spec:
  initContainers:
    {{- include "collapser.sidecar" . | nindent 4 }}
  containers: [{name: server, image: "items:1", ports: [{containerPort: 50051}]}]
`;

function chartTest(name: string, fn: () => Promise<void>): void {
  const skipped = reason === "" ? "" : ` (skipped: ${reason})`;
  Deno.test({ name: `chart ${name}${skipped}`, ignore: reason !== "", fn });
}

chartTest("passes Helm's linter and renders what Kubernetes' own types take", async () => {
  const cases = await render(
    { values: { options: BACKEND } },
    { values: ALL },
    { values: { proxy: { enabled: false }, dashboard: { enabled: true } } },
  );
  const kinds = [];
  for (const { lint, manifest, error } of cases) {
    assertEquals([lint, error], [[], ""]);
    const { objects, problems } = await read(manifest);
    assertEquals(problems, []);
    kinds.push(objects.map(({ kind }) => kind).sort());
  }
  const proxy = ["Deployment", "PodDisruptionBudget", "Service"];
  const more = ["ConfigMap", "PodMonitor", "PrometheusRule"];
  assertEquals(kinds, [proxy, [...proxy, ...more].sort(), ["ConfigMap"]]);
});

chartTest("lends the sidecar that inject writes", async () => {
  const values = { proxy: { enabled: false }, options: { backendAddress: "127.0.0.1:50051" } };
  const [rendered] = await render({ values, templates: { "borrowed.yaml": BORROWED } });
  assertEquals(rendered!.error, "");
  const { objects: [pod], problems } = await read(rendered!.manifest);
  assertEquals(problems, []);
  const asking = structuredClone(pod);
  delete asking.spec.initContainers;
  asking.metadata.labels = { "collapser.dev/inject": "true" };
  const done = inject(JSON.stringify(asking), { image: DEFAULT_IMAGE, services: false });
  if ("problems" in done) throw new Error(done.problems.join("\n"));
  assertEquals(sorted(pod.spec), sorted(JSON.parse(done.text).spec));
});

chartTest("sets each option's own variable, numbers written out", async () => {
  const options: Record<string, unknown> = {};
  const wanted = new Map<string, string>();
  for (const option of OPTIONS.filter(isInChart)) {
    const value = sampleOf(option.kind.placeholder);
    options[chartName(option)] = value;
    wanted.set(option.env, String(value));
  }
  const [rendered] = await render({ values: { options } });
  assertEquals(rendered!.error, "");
  const { objects } = await read(rendered!.manifest);
  const { env } = objects.find(({ kind }) =>
    kind === "Deployment"
  ).spec.template.spec.containers[0];
  const set = new Map(env.map(({ name, value }: Json) => [name, value]));
  for (const [name, value] of wanted) assertEquals(set.get(name), value, name);
  assertEquals(env.length, wanted.size + 1, "and DENO_USE_CGROUPS");
});

chartTest(
  "refuses values that are not there, of another kind, or that miss the backend",
  async () => {
    for (
      const [values, said] of [
        [{ options: { ...BACKEND, cashDuration: "1s" } }, /cashDuration/],
        [{ options: { ...BACKEND, cacheDuration: 100 } }, /cacheDuration/],
        [{ options: { ...BACKEND, cacheDuration: "100" } }, /cacheDuration/],
        [{ options: { ...BACKEND, mode: "on" } }, /mode/],
        [{ options: { ...BACKEND, grpcPort: 70_000 } }, /grpcPort/],
        [{ options: { ...BACKEND, adminToken: "0123456789abcdef" } }, /adminToken/],
        [{ options: BACKEND, replicas: 3 }, /replicas/],
        [{ options: BACKEND, image: { digest: "latest" } }, /digest/],
        [{}, /Set options\.backendAddress to the service/],
      ] as const
    ) {
      const [rendered] = await render({ values });
      assertMatch(rendered!.error, said, JSON.stringify(values));
    }
  },
);

chartTest("gives its proxy time to go on while nodes hear of its end", async () => {
  const [usual, set] = await Promise.all([{}, { drainDelay: "1s" }].map(async (more) => {
    const [rendered] = await render({ values: { options: { ...BACKEND, ...more } } });
    return rendered!.manifest;
  }));
  assertMatch(usual!, /name: DRAIN_DELAY\s+value: "5s"/);
  assertMatch(set!, /name: DRAIN_DELAY\s+value: "1s"/);
});

chartTest("takes an image by digest", async () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const [rendered] = await render({ values: { options: BACKEND, image: { digest } } });
  assertStringIncludes(rendered!.manifest, `image: ${DEFAULT_IMAGE.split(":")[0]}@${digest}\n`);
});

Deno.test("chart has the version of deno.json", async () => {
  const text = await Deno.readTextFile(new URL("Chart.yaml", CHART));
  for (const name of ["version", "appVersion"]) {
    assert(text.includes(`\n${name}: ${config.version}\n`), name);
  }
});

/** The objects of a stream, and what Kubernetes' own types find wrong with them. */
async function read(manifest: string): Promise<{ objects: Json[]; problems: readonly string[] }> {
  const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
  try {
    await Deno.writeTextFile(`${folder}/all.yaml`, manifest);
    const { files, problems } = await readManifests(folder);
    return { objects: [...files["all.yaml"] ?? []], problems };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The pod's spec with its variables by name: the order in which they stand says nothing. */
function sorted(spec: Json): Json {
  const byName = (a: Json, b: Json) => a.name < b.name ? -1 : 1;
  const [sidecar, ...rest] = spec.initContainers;
  return { ...spec, initContainers: [{ ...sidecar, env: sidecar.env.toSorted(byName) }, ...rest] };
}

/** A value that an option of a kind takes; a number for which YAML would write an exponent, where it is one. */
function sampleOf(placeholder: string): unknown {
  const samples: Readonly<Record<string, unknown>> = {
    BOOL: true,
    COUNT: 123_456_789,
    PORT: 2_114,
    RATIO: 0.25,
    DURATION: "1.5s",
    SIZE: 67_108_864,
  };
  return samples[placeholder] ?? placeholder.split("|")[0];
}
