import type { HelloBackend, HelloOptions } from "./hello_backend.ts";

/** Starts a Hello backend. Rejects when its address cannot be listened on. */
export async function startHello(options: HelloOptions = {}): Promise<HelloBackend> {
  // grpc-js is loaded when a backend is wanted, not when this room is: a client needs only the messages.
  const { startServer } = await import("./server.ts");
  return await startServer(options);
}
