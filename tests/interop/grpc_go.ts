import { go, whyNoGo as why } from "../support/go.ts";
import { within } from "../support/waiting.ts";
import { LineCaller } from "./line_caller.ts";

const SOURCE = new URL("./caller/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 240_000;

/** Why the Go client is not to be had here; "" when it is. */
export function whyNoGo(): Promise<string> {
  // Its modules alone, not those of the tools beside it; a newer Go included, where this one is too old and may fetch it.
  const fetch = ["list", "-deps", "."];
  return why(SOURCE, { takes: "a minute or two", fetch, limitMs: BUILD_LIMIT_MS });
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
      const building = go(SOURCE, ["build", "-o", program.path, "."]);
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

/** The server in `graceful_server/`, built beside the client. */
export async function buildGracefulServer(program: GoProgram): Promise<string> {
  const path = `${program.path}_server`;
  const building = go(SOURCE, ["build", "-o", path, "../graceful_server"]);
  const { success, said } = await within(building, "the Go server's build", BUILD_LIMIT_MS);
  if (!success) throw new Error(`Cannot build the Go server: ${said}`);
  return path;
}

/** A grpc-go client in a process of its own, with one connection. */
export class GrpcGo extends LineCaller {
  constructor(program: GoProgram, port: number) {
    super([program.path], port);
  }
}
