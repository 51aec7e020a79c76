import { type HelloBackend, type HelloOptions, startHello } from "../../lib/hello/mod.ts";
import { LocalSidecar, type Variables } from "./local_sidecar.ts";

/** A backend in this process with its way to be cut off. */
type Backend = { readonly port: number } & Disposable;

/** Long enough that a result stays stored while a busy machine gets to the next call. */
export const STORED_LONG = { COLLAPSER_CACHE_DURATION: "1m" } as const;

/**
 * A sidecar beside a backend that is a node:http2 server underneath. Both end with the scope: the backend is cut off
 * before the sidecar could tell it to go away, which on Deno 2.9 may end the process once some thousand calls were
 * answered. Resolves when the sidecar is ready.
 */
export async function beside(backend: Backend, variables: Variables = {}): Promise<LocalSidecar> {
  try {
    const local = await LocalSidecar.before(backend, variables);
    local.cutOffFirst = () => backend[Symbol.dispose]();
    return local;
  } catch (error) {
    backend[Symbol.dispose]();
    throw error;
  }
}

/** A Hello backend and a sidecar beside it, in this process. */
export interface Pair extends AsyncDisposable {
  readonly hello: HelloBackend;
  readonly local: LocalSidecar;
}

/** Starts both; see {@linkcode beside}. */
export async function besideHello(
  variables: Variables = {},
  options: HelloOptions = {},
): Promise<Pair> {
  const hello = await startHello(options);
  const { port } = hello;
  const local = await beside({ port, [Symbol.dispose]: () => hello.kill() }, variables);
  return { hello, local, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
}
