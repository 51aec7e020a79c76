/**
 * Makes the one file that holds all of collapser and its dependencies: what `deno task compile` embeds, and what
 * runs with Deno alone, in an empty folder.
 *
 * @module
 */

import { succeeds } from "./run.ts";

const ROOT = new URL("../", import.meta.url);

/** Where it is written, from the project's root. */
export const BUNDLE = "dist/collapser.js";

/** What lib/config/version.ts has in the commit's place until this puts it there. */
const COMMIT_MARK = "@collapser-commit@";

/** Writes dist/collapser.js, minified, with the commit in it. Throws when that cannot be done. */
export async function bundle(): Promise<void> {
  await Deno.mkdir(new URL("dist/", ROOT), { recursive: true });
  await succeeds(Deno.execPath(), [
    ...["bundle", "--quiet", "--frozen", "--platform", "deno", "--minify"],
    ...["--output", BUNDLE, "main.ts"],
  ]);
  const file = new URL(BUNDLE, ROOT);
  const code = await Deno.readTextFile(file);
  if (!code.includes(COMMIT_MARK)) {
    throw new Error(`Cannot write the commit into ${BUNDLE}: it holds no "${COMMIT_MARK}"`);
  }
  await Deno.writeTextFile(file, code.replaceAll(COMMIT_MARK, await commit()));
}

/** The commit under the work tree, with `-dirty` when files differ from it; outside of git, what COMMIT says. */
async function commit(): Promise<string> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: ["describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"],
      cwd: ROOT,
      stderr: "null",
    }).output();
    if (success) return new TextDecoder().decode(stdout).trim();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // there may be no git at all
  }
  return Deno.env.get("COMMIT") || "unknown";
}

if (import.meta.main) {
  await bundle();
  const { size } = await Deno.stat(new URL(BUNDLE, ROOT));
  console.log(`${BUNDLE}  ${Math.round(size / 1024)} KiB`);
}
