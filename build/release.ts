/**
 * `deno task release`: in dist/, the binaries of every target, the bundle, the bill of materials, and the checksums of
 * them all. A target whose runtime is not to be had fails the release, at its end: the rest is there to be looked at.
 *
 * @module
 */

import { bundle } from "./bundle.ts";
import { compile, TARGETS } from "./compile.ts";
import { billOfMaterials } from "./sbom.ts";

const DIST = new URL("../dist/", import.meta.url);

async function main(): Promise<number> {
  const made = ["collapser.js", "collapser.cdx.json"];
  const missing: string[] = [];
  await bundle();
  await Deno.writeTextFile(new URL("collapser.cdx.json", DIST), await billOfMaterials());
  for (const [name, target] of Object.entries(TARGETS)) {
    try {
      await compile(target, `dist/collapser-${name}`);
      made.push(`collapser-${name}`);
    } catch (error) {
      missing.push(error instanceof Error ? error.message : String(error));
    }
  }
  const sums = await Promise.all(made.map(async (name) => `${await sha256(name)}  ${name}\n`));
  await Deno.writeTextFile(new URL("SHA256SUMS", DIST), sums.join(""));
  console.log(sums.join("").trimEnd());
  for (const problem of missing) console.error(problem);
  return missing.length === 0 ? 0 : 1;
}

/** As `sha256sum --check` reads it. */
async function sha256(name: string): Promise<string> {
  const bytes = await Deno.readFile(new URL(name, DIST));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

if (import.meta.main) Deno.exit(await main());
