/**
 * What can be said of the workflows without GitHub: actionlint reads them, and what they name is what the rest of the
 * repository names. They have never run when this passes.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { IMAGE_REPOSITORY } from "../../lib/inject/mod.ts";
import { go, whyNoGo } from "../support/go.ts";
import { within } from "../support/waiting.ts";

const ROOT = new URL("../../", import.meta.url);
const WORKFLOWS = new URL(".github/workflows/", ROOT);
const ACTIONLINT = new URL("go/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 200_000;

const reason = await whyNoGo(ACTIONLINT, {
  takes: "a minute",
  fetch: ["mod", "download"],
  limitMs: BUILD_LIMIT_MS,
});
const skipped = reason === "" ? "" : ` (skipped: ${reason})`;

const workflows = await textsOf(WORKFLOWS);

Deno.test({
  name: `actionlint finds nothing wrong with the workflows${skipped}`,
  ignore: reason !== "",
  async fn() {
    const paths = [...workflows.keys()].map((name) => new URL(name, WORKFLOWS).pathname);
    const { success, output } = await lint(paths);
    assertEquals([success, output], [true, ""]);
  },
});

Deno.test({
  name: `actionlint finds what is broken in a workflow${skipped}`,
  ignore: reason !== "",
  async fn() {
    const path = await Deno.makeTempFile({ prefix: "collapser-test-", suffix: ".yml" });
    try {
      const text = workflows.get("release.yml")!;
      for (
        const [from, to, said] of [
          ["needs: [version, gates]", "needs: [version, gate]", /gate/],
          ["steps.push.outputs.digest }}", "steps.pushed.outputs.digest }}", /pushed/],
          ["id-token: write", "id-token: yes", /id-token/],
        ] as const
      ) {
        assert(text.includes(from), from);
        await Deno.writeTextFile(path, text.replace(from, to));
        const { success, output } = await lint([path]);
        assertEquals(success, false, to);
        assertMatch(output, said);
      }
    } finally {
      await Deno.remove(path);
    }
  },
});

Deno.test("workflows take every action at a version", () => {
  for (const [name, text] of workflows) {
    const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
    assert(used.length > 0, name);
    for (const action of used) assertMatch(action, /^[\w.-]+(\/[\w.-]+)+@v\d+(\.\d+)*$/, name);
  }
});

Deno.test("workflows begin with no rights, and give each job those that it needs", () => {
  for (const [name, text] of workflows) {
    assertMatch(text, /^permissions: \{\}$/m, name);
    const jobs = text.slice(text.indexOf("\njobs:")).match(/^ {2}[\w-]+:$/gm) ?? [];
    assertEquals(text.match(/^ {4}permissions:$/gm)?.length, jobs.length, name);
  }
});

Deno.test("workflows publish the image that inject and the README name, with the Deno of CI", async () => {
  const text = workflows.get("release.yml")!;
  assertEquals(/^ {2}IMAGE: (\S+)$/m.exec(text)?.[1], IMAGE_REPOSITORY);
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));
  assert(readme.includes(IMAGE_REPOSITORY), "the README does not name the image");
  const ci = await Deno.readTextFile(new URL(".ci/run", ROOT));
  assertEquals(/^ {2}DENO_VERSION: (\S+)$/m.exec(text)?.[1], /^want=(\S+)$/m.exec(ci)?.[1]);
});

async function lint(paths: readonly string[]) {
  return await within(go(ACTIONLINT, ["run", ".", ...paths]), "actionlint", BUILD_LIMIT_MS);
}

async function textsOf(folder: URL): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) {
    texts.set(name, await Deno.readTextFile(new URL(name, folder)));
  }
  return texts;
}
