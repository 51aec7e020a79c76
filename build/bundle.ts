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

/**
 * What esbuild puts in the place of `require`, for the modules of the platform that CommonJS packages ask for, minified.
 * It throws, so Deno puts a `require` that works in its place; but Deno 2.9 does not find it where the minifier has
 * named it `$`, which any change of the code may bring about.
 */
const THROWING_REQUIRE =
  /var ([\w$]+)=\([\w$]+=>typeof require<"u"\?.{1,250}?throw Error\('Dynamic require of .{1,50}?\)\}\);/;

/** Writes dist/collapser.js, minified, with the commit in it. Throws when that cannot be done. */
export async function bundle(): Promise<void> {
  await Deno.mkdir(new URL("dist/", ROOT), { recursive: true });
  await succeeds(Deno.execPath(), [
    ...["bundle", "--quiet", "--frozen", "--platform", "deno", "--minify"],
    ...["--output", BUNDLE, "main.ts"],
  ]);
  const file = new URL(BUNDLE, ROOT);
  const code = withRequire(await Deno.readTextFile(file));
  if (code.includes("Dynamic require of ")) {
    throw new Error(`Cannot put a require into ${BUNDLE}: the bundler left one of another shape`);
  }
  if (!code.includes(COMMIT_MARK)) {
    throw new Error(`Cannot write the commit into ${BUNDLE}: it holds no "${COMMIT_MARK}"`);
  }
  await Deno.writeTextFile(file, code.replaceAll(COMMIT_MARK, await commit()));
}

/** The code with a `require` that works, also where Deno has left one that throws. */
export function withRequire(code: string): string {
  return code.replace(
    THROWING_REQUIRE,
    (_, name) =>
      'import{createRequire as __createRequire}from"node:module";' +
      `var ${name}=__createRequire(import.meta.url);`,
  );
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
