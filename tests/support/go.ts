import { within } from "./waiting.ts";

const ROOT = new URL("../../", import.meta.url);

const NOT_INSTALLED = "Go is not installed";

/** How a `go` command ended. */
export interface GoRun {
  readonly success: boolean;
  /** Its standard output. */
  readonly output: string;
  /** Its standard error. */
  readonly said: string;
}

/** `go ARGS` in a folder. */
export async function go(folder: URL, args: readonly string[]): Promise<GoRun> {
  try {
    const command = new Deno.Command("go", { args: [...args], cwd: folder, stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { success, output: decoder.decode(stdout), said: decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { success: false, output: "", said: NOT_INSTALLED };
  }
}

/**
 * Why the program in a folder is not to be had here; "" when it is. Built for the first time some cost more than all
 * other tests together, so that is done where changes are judged, and not to whoever tries the tests out.
 */
export async function whyNoGo(
  folder: URL,
  { takes, fetch, limitMs }: {
    /** How long its first build takes, in words. */
    takes: string;
    /** What fetches its modules. */
    fetch: readonly string[];
    limitMs: number;
  },
): Promise<string> {
  const state = await go(folder, ["list", "-f", "{{.StaleReason}}", "."]);
  if (state.said === NOT_INSTALLED) return NOT_INSTALLED;
  if (state.output.includes("available in build cache")) return "";
  if (!Deno.env.has("CI")) {
    const path = folder.pathname.slice(ROOT.pathname.length, -1);
    return `its first build takes ${takes}: run \`go build -o /dev/null .\` in ${path}, or set CI`;
  }
  const fetched = await within(go(folder, fetch), "Go's modules", limitMs);
  if (fetched.success) return "";
  return `Go cannot fetch its modules: ${fetched.said.trim().split("\n").at(-1)}`;
}
