import { assertEquals, assertMatch } from "@std/assert";
import { readManifests } from "./go_program.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";

/** A kind of mistake in a file of its own, and what is said of it. */
const BROKEN: readonly [name: string, text: string, said: RegExp][] = [
  [
    "unknown_field.yaml",
    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 1}\n",
    /unknown field "port"/,
  ],
  [
    "key_twice.yaml",
    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nmetadata: {name: b}\n",
    /"metadata" already set|already defined/,
  ],
  [
    "wrong_type.yaml",
    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: 1}\n",
    /cannot unmarshal number/,
  ],
  ["unknown_kind.yaml", "apiVersion: v1\nkind: Servise\n", /nobody knows the kind "v1 Servise"/],
  [
    "root/kustomization.yaml",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]\n",
    /root: Deployment root: not restricted: .*runAsNonRoot/,
  ],
  [
    "lost/kustomization.yaml",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [lost.yaml]\n",
    /lost\.yaml/,
  ],
];

const ROOT_POD = `apiVersion: apps/v1
kind: Deployment
metadata: {name: root}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: a}]}
`;

skippedWithoutGo("readManifests");

manifestTest("readManifests lists each kind of mistake", async () => {
  const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
  try {
    for (const [name, text] of [...BROKEN, ["root/pod.yaml", ROOT_POD] as const]) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const { problems } = await readManifests(folder);
    assertEquals(problems.length, BROKEN.length, problems.join("\n"));
    for (const [name, , said] of BROKEN) {
      const [problem] = problems.filter((line) => line.startsWith(name.split("/kustom")[0]!));
      assertMatch(problem ?? "", said);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
