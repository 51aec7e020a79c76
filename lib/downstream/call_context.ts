import type { KeyCodec } from "../collapse/mod.ts";
import type { ProxyCounters } from "../observe/mod.ts";
import type { Shadow, Verifier } from "../trial/mod.ts";
import type { BackendInstances } from "../upstream/mod.ts";
import type { BufferedBytes } from "../wire/mod.ts";
import type { FlightCall } from "./flight_call.ts";
import type { FlightContext } from "./flight_context.ts";
import type { MethodTable } from "./method_table.ts";
import type { MissedSharing } from "./missed_sharing.ts";

/** What every call needs and none owns. */
export interface CallContext extends FlightContext<FlightCall> {
  readonly counters: ProxyCounters;
  readonly methods: MethodTable;
  readonly missed: MissedSharing;
  readonly shadow: Shadow;
  readonly verifier: Verifier;
  readonly codec: KeyCodec;
  /** Backends that are processes of this program: a caller that says the same as one of them is that one. */
  readonly instances: Pick<BackendInstances, "has">;
  /** Counts what is held for peers. */
  readonly buffered: BufferedBytes;
  /** The sidecar's own answer to grpc.health.v1 for the service `collapser`. */
  readonly isServing: () => boolean;
}
