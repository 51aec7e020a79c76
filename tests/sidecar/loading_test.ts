import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);
const SIDECAR = new URL("lib/sidecar/mod.ts", ROOT).href;

/** As `deno info --json` tells it. */
interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: true;
      /** Missing where only a type is imported. */
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

Deno.test("runSidecar reaches what reads certificates by dynamic imports alone: without TLS it is never loaded", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--frozen", SIDECAR],
    cwd: ROOT,
  }).output();
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const isAsn1 = (specifier: string) => specifier.startsWith("npm:asn1js@");
  const loaded = reached(graph, { dynamic: false });
  assertEquals([...loaded].filter(isAsn1), []);
  assert([...loaded].some((specifier) => specifier.startsWith("npm:prom-client@")));
  assertEquals([...reached(graph, { dynamic: true })].filter(isAsn1).length, 1);
});

/** All that is loaded with the sidecar, or may be later. */
function reached({ modules }: Graph, { dynamic }: { dynamic: boolean }): Set<string> {
  const found = new Set([SIDECAR]);
  for (const each of found) {
    const { dependencies = [] } = modules.find(({ specifier }) => specifier === each) ?? {};
    for (const { code, isDynamic = false } of dependencies) {
      if (code?.specifier !== undefined && (dynamic || !isDynamic)) found.add(code.specifier);
    }
  }
  return found;
}
