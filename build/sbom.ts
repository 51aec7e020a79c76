/**
 * The bill of materials: every package in the program, as a CycloneDX document. The packages are those that main.ts
 * reaches, as Deno resolves them; their digests are those that deno.lock holds them to.
 *
 * @module
 */

import * as CycloneDX from "@cyclonedx/cyclonedx-library";
import config from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);

/** As `deno info --json` tells it. */
interface Graph {
  /** From what an import says to what it got, such as `npm:/prom-client@15.1.3`. */
  readonly redirects: Readonly<Record<string, string>>;
  /** All that deno.json names, imported or not. */
  readonly npmPackages: Readonly<Record<string, NpmPackage>>;
}

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Keys of the packages it depends on. */
  readonly dependencies: readonly string[];
  /** Where it lies unpacked. */
  readonly localPath: string;
}

/** As deno.lock has it. */
interface Lock {
  readonly npm: Readonly<Record<string, { readonly integrity: string }>>;
}

/** The document as JSON text, the same each time for the same packages. */
export async function billOfMaterials(): Promise<string> {
  const npmPackages = reached(await graph());
  const lock: Lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT)));
  const bom = new CycloneDX.Models.Bom();
  const program = component(config.name, config.version, config.license);
  program.type = CycloneDX.Enums.ComponentType.Application;
  const deno = component("deno", Deno.version.deno, "MIT");
  deno.type = CycloneDX.Enums.ComponentType.Platform;
  bom.metadata.component = program;

  const components = new Map<string, CycloneDX.Models.Component>();
  for (const [key, npm] of Object.entries(npmPackages)) {
    components.set(key, await npmComponent(npm, lock.npm[key]?.integrity));
  }
  for (const [key, { dependencies }] of Object.entries(npmPackages)) {
    for (const other of dependencies) {
      const { bomRef } = components.get(other) ?? {};
      if (bomRef) components.get(key)?.dependencies.add(bomRef);
    }
  }
  for (const each of [deno, ...components.values()]) {
    bom.components.add(each);
    program.dependencies.add(each.bomRef);
  }
  const factory = new CycloneDX.Serialize.JSON.Normalize.Factory(CycloneDX.Spec.Spec1dot6);
  const serializer = new CycloneDX.Serialize.JsonSerializer(factory);
  return serializer.serialize(bom, { sortLists: true, space: 2 }) + "\n";
}

/** The packages that the program imports, and those that these need. */
function reached({ redirects, npmPackages }: Graph): Record<string, NpmPackage> {
  const found: Record<string, NpmPackage> = {};
  const waiting = Object.values(redirects).map((specifier) => specifier.replace(/^npm:\//, ""));
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const npm = npmPackages[key];
    if (npm === undefined) throw new Error(`Cannot list the packages: ${key} is not among them`);
    if (key in found) continue;
    found[key] = npm;
    waiting.push(...npm.dependencies);
  }
  return found;
}

async function npmComponent(npm: NpmPackage, integrity = ""): Promise<CycloneDX.Models.Component> {
  const about = JSON.parse(await Deno.readTextFile(`${npm.localPath}/package.json`));
  const made = component(npm.name, npm.version, about.license);
  const purl = `pkg:npm/${npm.name.replace("@", "%40")}@${npm.version}`;
  Object.assign(made, { purl });
  made.bomRef.value = purl;
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? [];
  if (digest === undefined) throw new Error(`Cannot find ${npm.name} in deno.lock by its SHA-512`);
  const { "SHA-512": algorithm } = CycloneDX.Enums.HashAlgorithm;
  made.hashes.set(algorithm, Uint8Array.fromBase64(digest).toHex());
  return made;
}

function component(name: string, version: string, license: string): CycloneDX.Models.Component {
  const made = new CycloneDX.Models.Component(CycloneDX.Enums.ComponentType.Library, name);
  made.version = version;
  made.bomRef.value = `${name}@${version}`;
  made.licenses.add(new CycloneDX.Models.SpdxLicense(license));
  return made;
}

async function graph(): Promise<Graph> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--frozen", "main.ts"],
    cwd: ROOT,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("Cannot list the packages: deno info failed");
  return JSON.parse(new TextDecoder().decode(stdout));
}

if (import.meta.main) console.log(await billOfMaterials());
