import { within } from "../support/waiting.ts";
import { LineCaller } from "./line_caller.ts";

const SOURCE = new URL("./caller/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 240_000;

const NOT_INSTALLED = "Go is not installed";

/**
 * Why the Go client is not to be had here; "" when it is. Built for the first time it costs more than all other tests
 * together (the library is large), so that is done where changes are judged, and not to whoever tries the tests out.
 */
export async function whyNoGo(): Promise<string> {
  const state = await go(["list", "-f", "{{.StaleReason}}", "."]);
  if (state.said === NOT_INSTALLED) return NOT_INSTALLED;
  if (state.output.includes("available in build cache")) return "";
  if (!Deno.env.has("CI")) {
    return "its first build takes a minute or two: run `go build -o /dev/null .` in tests/interop/caller, or set CI";
  }
  // Its modules alone, not those of the tools beside it; a newer Go included, where this one is too old and may fetch it.
  const fetched = await within(go(["list", "-deps", "."]), "Go's modules", BUILD_LIMIT_MS);
  if (fetched.success) return "";
  return `Go cannot fetch its modules: ${fetched.said.trim().split("\n").at(-1)}`;
}

/** The client in `caller/`, built. */
export class GoProgram implements AsyncDisposable {
  readonly #folder: string;
  readonly path: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = `${folder}/caller`;
  }

  static async build(): Promise<GoProgram> {
    const program = new GoProgram(await Deno.makeTempDir({ prefix: "collapser-test-" }));
    try {
      const building = go(["build", "-o", program.path, "."]);
      const { success, said } = await within(building, "the Go client's build", BUILD_LIMIT_MS);
      if (!success) throw new Error(`Cannot build the Go client: ${said}`);
      return program;
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** A grpc-go client in a process of its own, with one connection. */
export class GrpcGo extends LineCaller {
  constructor(program: GoProgram, port: number) {
    super([program.path], port);
  }
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
