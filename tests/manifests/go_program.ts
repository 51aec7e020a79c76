import { within } from "../support/waiting.ts";

const SOURCE = new URL("./go/", import.meta.url);
const MANIFESTS = new URL("../../manifests/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 400_000;

const NOT_INSTALLED = "Go is not installed";

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

/**
 * Why the Go program is not to be had here; "" when it is. Kubernetes' types are large, so it is built for the first
 * time where changes are judged, and not by whoever tries the tests out.
 */
export async function whyNoGo(): Promise<string> {
  const state = await go(["list", "-f", "{{.StaleReason}}", "."]);
  if (state.said === NOT_INSTALLED) return NOT_INSTALLED;
  if (state.output.includes("available in build cache")) return "";
  if (!Deno.env.has("CI")) {
    return "its first build takes minutes: run `go build -o /dev/null .` in tests/manifests/go, or set CI";
  }
  const fetched = await within(go(["mod", "download"]), "Go's modules", BUILD_LIMIT_MS);
  if (fetched.success) return "";
  return `Go cannot fetch its modules: ${fetched.said.trim().split("\n").at(-1)}`;
}

/** Reads all manifests, or those below another folder. */
export async function readManifests(folder: string = MANIFESTS.pathname): Promise<Reading> {
  const run = await within(go(["run", ".", folder]), "the manifests, read by Go", BUILD_LIMIT_MS);
  if (!run.success) throw new Error(`Cannot read the manifests: ${run.said}`);
  return JSON.parse(run.output);
}

interface Run {
  readonly success: boolean;
  /** Its standard output. */
  readonly output: string;
  /** Its standard error. */
  readonly said: string;
}

async function go(args: readonly string[]): Promise<Run> {
  try {
    const command = new Deno.Command("go", { args: [...args], cwd: SOURCE, stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { success, output: decoder.decode(stdout), said: decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { success: false, output: "", said: NOT_INSTALLED };
  }
}
