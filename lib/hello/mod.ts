/**
 * The demo backend: a gRPC service that is slow on purpose and counts every call it gets.
 *
 * It is collapser's second opinion. Server, codec and HTTP/2 stack are grpc-js, and no other room is imported: when
 * the sidecar's numbers agree with the ones from here, they do not agree by sharing a mistake. `hello.proto` is the
 * contract: it marks the reads NO_SIDE_EFFECTS and leaves the write unmarked, and reflection serves it so.
 *
 * Invariants: a call of hello.v1.Hello is counted exactly once, when its handler begins, and is in flight until it is
 * answered or its caller has gone; its number comes back in `from`, in the initial metadata `x-hello-call` and in the
 * trailer `x-hello`. The count is told in process (`counts`, `report`) and to others by hello.v1.Stats/ReportCounts,
 * whose name no collapser takes for a read. Stats, health and reflection are not counted.
 *
 * grpc-js is loaded when a backend is started, not when this room is; the message helpers are free of it. No path is
 * read while it runs: the .proto texts are part of the program.
 *
 * It refuses replies over 64 MiB and delays over an hour, offers no TLS, and is no place for real work.
 *
 * @module
 */

export type { CallCounts } from "./call_ledger.ts";
export type { HelloBackend, HelloOptions } from "./hello_backend.ts";
export { startHello } from "./start_hello.ts";
export {
  type CountsReply,
  decodeCountsReply,
  decodeGreetingReply,
  encodeGreetingRequest,
  type GreetingReply,
  type GreetingRequest,
  HELLO_PATHS,
} from "./messages.ts";
export { type BackendSurroundings, runBackend } from "./run_backend.ts";
