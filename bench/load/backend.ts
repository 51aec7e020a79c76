import { Child } from "./child.ts";

const ECHO_FOLDER = new URL("./echo/", import.meta.url);
const RAW_BACKEND = new URL("./raw_backend.ts", import.meta.url);

/** A running echo backend that counts. */
export interface Backend {
  /** What it is, in words. */
  readonly name: string;
  readonly child: Child;
  readonly host: string;
  readonly port: number;
  /** Calls that have reached it. */
  calls(): Promise<number>;
}

/** The backends of one benchmark. */
export interface Backends {
  /** What calls are measured against. */
  readonly main: Backend;
  /** Bare frames, which cost next to nothing; undefined where `main` is of that kind. */
  readonly raw: Backend | undefined;
}

/**
 * Starts the Go backends, built into `folder`, or, with a word on why, the TypeScript one. What was started is in
 * `children` at once, so that it ends whatever happens.
 */
export async function startBackends(
  folder: string,
  { children, say }: { children: Child[]; say: (line: string) => void },
): Promise<Backends> {
  const built = await buildEcho(`${folder}/echo`);
  if ("why" in built) {
    say(
      `No Go backend: ${built.why}. A backend of our own server role stands in, and is much faster.`,
    );
    const command = [Deno.execPath(), "run", "-A", RAW_BACKEND.href];
    return { main: await start("our own frames", command, children), raw: undefined };
  }
  return {
    main: await start("grpc-go", [built.path], children),
    raw: await start("raw frames in Go", [built.path, "-raw"], children),
  };
}

async function buildEcho(path: string): Promise<{ path: string } | { why: string }> {
  try {
    const { success, stderr } = await new Deno.Command("go", {
      args: ["build", "-o", path, "."],
      cwd: ECHO_FOLDER,
      stderr: "piped",
    }).output();
    if (success) return { path };
    const [why = ""] = new TextDecoder().decode(stderr).trim().split("\n");
    return { why: `go build failed (${why})` };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { why: "Go is not on the PATH" };
    throw error;
  }
}

async function start(
  name: string,
  [command, ...args]: readonly string[],
  children: Child[],
): Promise<Backend> {
  const child = new Child(command!, args);
  children.push(child);
  const { addr, admin } = JSON.parse(await child.line());
  const [host, port] = addr.split(":");
  return {
    name,
    child,
    host,
    port: Number(port),
    calls: async () => Number(await (await fetch(`http://${admin}/calls`)).text()),
  };
}
