import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { billOfMaterials } from "../../build/sbom.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

Deno.test("billOfMaterials lists what the program imports, held to its digests, and no more", async () => {
  const { bomFormat, specVersion, components, dependencies } = JSON.parse(await billOfMaterials());
  assertEquals([bomFormat, specVersion], ["CycloneDX", "1.6"]);
  const names = components.map(({ name }: Component) => name);
  for (const name of ["deno", "prom-client", "@grpc/grpc-js"]) assert(names.includes(name), name);
  assertFalse(names.includes("@cyclonedx/cyclonedx-library"));
  for (const { name, version, purl, licenses, hashes } of components as Component[]) {
    assertEquals(licenses.length, 1, name);
    if (name === "deno") continue;
    assertEquals(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`);
    assertEquals(hashes?.map(({ alg }) => alg), ["SHA-512"], name);
    assertMatch(hashes![0]!.content, /^[0-9a-f]{128}$/);
  }
  const refs = dependencies.map(({ ref }: { ref: string }) => ref);
  assert(refs.some((ref: string) => ref.startsWith("pkg:npm/prom-client@")));
});

Deno.test("billOfMaterials says the same each time", async () => {
  assertEquals(await billOfMaterials(), await billOfMaterials());
});
