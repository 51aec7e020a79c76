/**
 * What the suites need, built by the package client of its language into a folder that is kept from run to run.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { run } from "./command.ts";
import { unreachable } from "./registry.ts";
import { Unavailable } from "./suite.ts";

/** The folder of the interop tests. */
export const INTEROP = new URL("../", import.meta.url);

const KEPT = new URL(".build/", INTEROP);

/** From nothing, on two busy cores, with a slow registry. */
const BUILD_LIMIT_MS = 900_000;

/** What `go.mod` asks for at least; a newer one is fetched by Go itself where that is allowed. */
const OLDEST_GO = [1, 24] as const;

/** The Go programs that `packages` name, built; by the last part of their name. */
export async function buildGo(packages: readonly string[]): Promise<(name: string) => string> {
  const { output } = await run(["go", "version"], { limitMs: BUILD_LIMIT_MS });
  const why = tooOld(output);
  if (why !== undefined) throw new Unavailable(why);
  const bin = path("bin/");
  await Deno.mkdir(bin, { recursive: true });
  await build(["go", "build", "-o", bin, ...packages], INTEROP);
  return (name) => `${bin}${name}`;
}

/** Why Go says that it is too old, undefined when it is not. */
export function tooOld(goVersion: string): string | undefined {
  const [, major, minor] = /\bgo(\d+)\.(\d+)/.exec(goVersion) ?? [];
  if (major === undefined) return undefined;
  const [wantMajor, wantMinor] = OLDEST_GO;
  if (Number(major) > wantMajor || Number(minor) >= wantMinor) return undefined;
  return `Go ${major}.${minor} is older than ${OLDEST_GO.join(".")}`;
}

/**
 * A folder that `fill` fills once and that is kept for as long as `from` stays the same. Its path; a fill that fails
 * leaves none.
 */
export async function kept(
  name: string,
  { from, fill }: { from: readonly (string | URL)[]; fill: (folder: string) => Promise<void> },
): Promise<string> {
  const hash = createHash("sha256");
  for (const part of from) hash.update(part instanceof URL ? await Deno.readFile(part) : part);
  const folder = path(`${name}-${hash.digest("hex").slice(0, 12)}`);
  if (await exists(folder)) return folder;
  await Deno.mkdir(KEPT, { recursive: true });
  const partial = await Deno.makeTempDir({ dir: path(""), prefix: "partial-" });
  try {
    await fill(partial);
    await Deno.rename(partial, folder);
  } catch (error) {
    await Deno.remove(partial, { recursive: true });
    if (!await exists(folder)) throw error; // else another run was faster
  }
  return folder;
}

/** Runs a step of a build. */
export async function build(command: readonly string[], cwd: string | URL): Promise<string> {
  const { code, output } = await run(command, { cwd, limitMs: BUILD_LIMIT_MS });
  if (code === 0) return output;
  const why = unreachable(output);
  if (why !== undefined) throw new Unavailable(`${command[0]} cannot fetch what it needs: ${why}`);
  throw new Error(`${command.join(" ")} failed: ${output}`);
}

function path(name: string): string {
  return fileURLToPath(new URL(name, KEPT));
}

async function exists(folder: string): Promise<boolean> {
  try {
    await Deno.stat(folder);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
