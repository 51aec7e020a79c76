import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const DEMO = new URL("../../build/demo.ts", import.meta.url).pathname;

/** Stand-ins for kubectl and make that do as they are told. */
async function demo(kubectl: number, args: readonly string[] = []) {
  const folder = await Deno.makeTempDir();
  const script = (name: string, body: string) =>
    Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  await script("kubectl", `echo "$@" >> ${folder}/asked; exit ${kubectl}`);
  await script("make", 'echo "make $@"; exit 7');
  try {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", DEMO, ...args],
      env: { PATH: `${folder}:${Deno.env.get("PATH")}`, NO_COLOR: "1" },
    }).output();
    return { code, out: new TextDecoder().decode(stdout) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("demo runs in the cluster when that is up, says so, and ends as it does", async () => {
  const { code, out } = await demo(0);
  assertStringIncludes(out, "Using the cluster kind-collapser");
  assertEquals([code, out.includes("make --silent demo")], [7, true]);
});

Deno.test("demo runs in one process when no cluster is up or it has flags, says so, and counts at the backend", async () => {
  for (const kubectl of [1, 0]) {
    const { code, out } = await demo(kubectl, ["--callers", "50"]);
    assertEquals(code, 0);
    assert(!out.includes("make --silent demo"));
    assertStringIncludes(out, kubectl === 1 ? "No cluster kind-collapser is up" : "in one process");
    assertStringIncludes(out, "counted 1 call");
  }
});
