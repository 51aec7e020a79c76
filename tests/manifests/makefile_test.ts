/**
 * The Makefile's targets, with tools that only write down how they are called. Skipped where make is not installed.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Writes its call down, and passes on what it may be asked for. */
const STAND_IN = `#!/bin/sh
echo "\${0##*/} $*" >>"$CALLS"
case "$*" in *" -f -"*|*/dev/stdin*) while read -r line; do :; done ;; kustomize*) echo "image: collapser:dev" ;; esac
exit 0
`;

const make = whereIs("make");

Deno.test({
  name: make
    ? "make says all that a target lacks at once"
    : "make (skipped: make is not installed)",
  ignore: make === undefined,
  async fn() {
    const lacking: readonly [target: string, tools: readonly string[], missing: string][] = [
      ["cluster", [], "docker or podman, kind"],
      ["deploy", [], "docker or podman, kind, kubectl"],
      ["deploy", ["podman", "kubectl"], "kind"],
      ["demo", [], "docker or podman, kubectl"],
      ["grafana", ["docker", "kind"], "kubectl"],
      ["cluster-down", ["docker"], "kind"],
    ];
    for (const [target, tools, missing] of lacking) {
      const { success, said, calls } = await runMake(target, tools);
      assertEquals(success, false, target);
      assertStringIncludes(said, `Cannot make ${target}: not on PATH: ${missing}\n`);
      assertEquals(calls, [], target);
    }
  },
});

Deno.test({
  name: "make deploy builds, loads and applies, with docker as with podman",
  ignore: make === undefined,
  async fn() {
    for (const [engine, prefix] of [["docker", ""], ["podman", "localhost/"]] as const) {
      const { success, said, calls } = await runMake("deploy", [engine, "kind", "kubectl"]);
      assert(success, said);
      assertEquals(calls.filter((call) => call.startsWith(engine)).sort(), [
        `${engine} build --target backend --tag collapser-backend:dev .`,
        `${engine} build --target collapser --tag collapser:dev .`,
        `${engine} save ${prefix}collapser-backend:dev`,
        `${engine} save ${prefix}collapser:dev`,
      ]);
      const loads = calls.filter((call) => call.startsWith("kind"));
      assertEquals(
        new Set(loads),
        new Set(["kind load image-archive /dev/stdin --name collapser"]),
      );
      assert(calls.includes("kubectl kustomize manifests/overlays/kind"));
      assertStringIncludes(said, `s|image: collapser|image: ${prefix}collapser|`);
    }
  },
});

Deno.test({
  name: "make touches its own cluster alone",
  ignore: make === undefined,
  async fn() {
    for (const target of ["deploy", "demo", "grafana"]) {
      const { success, said, calls } = await runMake(target, ["docker", "kind", "kubectl"]);
      assert(success, said);
      const reaching = calls.filter((call) => /^kubectl (?!kustomize)/.test(call));
      assert(reaching.length > 0, target);
      for (const call of reaching) assertStringIncludes(call, "--context kind-collapser ");
    }
    const { calls } = await runMake("cluster", ["docker", "kind"]);
    assertEquals(calls, ["kind get clusters", "kind create cluster --name collapser --wait 180s"]);
    const down = await runMake("cluster-down", ["docker", "kind"]);
    assertEquals(down.calls, ["kind delete cluster --name collapser"]);
  },
});

Deno.test("make builds targets that the Dockerfile has, and only reads folders that are there", async () => {
  const makefile = await Deno.readTextFile(`${ROOT}Makefile`);
  const targets = [...makefile.matchAll(/--target (\S+)/g)].map(([, name]) => name!);
  assertEquals(targets, ["collapser", "backend"]);
  assert((await Deno.stat(`${ROOT}manifests/overlays/kind/load/kustomization.yaml`)).isFile);
  const dockerfile = await Deno.readTextFile(`${ROOT}Dockerfile`).catch(() => undefined);
  if (dockerfile === undefined) return;
  const stages = [...dockerfile.matchAll(/^FROM .* AS (\S+)/gim)].map(([, name]) => name!);
  for (const target of targets) assert(stages.includes(target), `${target} of ${stages}`);
});

/** Runs one target where nothing but stand-ins for `tools` is on PATH, and what the recipes themselves are made of. */
async function runMake(target: string, tools: readonly string[]) {
  const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
  try {
    for (const tool of tools) {
      await Deno.writeTextFile(`${folder}/${tool}`, STAND_IN, { mode: 0o755 });
    }
    for (const tool of ["sed", "grep"]) await Deno.symlink(whereIs(tool)!, `${folder}/${tool}`);
    const { success, stdout, stderr } = await new Deno.Command(make!, {
      args: ["--no-print-directory", target],
      cwd: ROOT,
      clearEnv: true,
      env: { PATH: folder, CALLS: `${folder}/calls` },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    const calls = await Deno.readTextFile(`${folder}/calls`).catch(() => "");
    return {
      success,
      said: decoder.decode(stdout) + decoder.decode(stderr),
      calls: calls.split("\n").filter((call) => call !== ""),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The path of a tool; undefined when it is not installed. */
function whereIs(tool: string): string | undefined {
  const paths = (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/${tool}`);
  return paths.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}
