import { go, whyNoGo as why } from "../support/go.ts";
import { within } from "../support/waiting.ts";

const SOURCE = new URL("./go/", import.meta.url);
const MANIFESTS = new URL("../../manifests/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 400_000;

/** What is read of JSON that nobody has a type for: the tests ask for fields and compare what comes. */
// deno-lint-ignore no-explicit-any
export type Json = any;

/** What the Go program says of the manifests; see `go/main.go`. */
export interface Reading {
  /** Documents of each YAML file, by its path below `manifests/`. */
  readonly files: Readonly<Record<string, readonly Json[]>>;
  /** Objects that each folder with a kustomization builds. */
  readonly builds: Readonly<Record<string, readonly Json[]>>;
  readonly problems: readonly string[];
}

/** Why the Go program is not to be had here; "" when it is. */
export function whyNoGo(): Promise<string> {
  const fetch = ["mod", "download"];
  return why(SOURCE, { takes: "minutes", fetch, limitMs: BUILD_LIMIT_MS }); // Kubernetes' types are large
}

/** Reads all manifests, or those below another folder. */
export async function readManifests(folder: string = MANIFESTS.pathname): Promise<Reading> {
  const run = await within(
    go(SOURCE, ["run", ".", folder]),
    "the manifests, read by Go",
    BUILD_LIMIT_MS,
  );
  if (!run.success) throw new Error(`Cannot read the manifests: ${run.said}`);
  return JSON.parse(run.output);
}
