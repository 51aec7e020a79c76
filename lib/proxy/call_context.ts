import type { CollapseMap, KeyCodec } from "../collapse/mod.ts";
import type { Timers } from "../transport/mod.ts";
import type { Backend } from "./backend.ts";
import type { ProxyCounters } from "./counters.ts";
import type { MissedSharing } from "./missed_sharing.ts";
import type { ProxyObserver } from "./observer.ts";
import type { SharedCall } from "./shared_call.ts";

/** How long things may take and how large they may be; see INTERFACE's table of variables. */
export interface CallLimits {
  /** BACKEND_TIMEOUT. */
  readonly backendTimeoutMs: number;
  /** COLLAPSER_CACHE_DURATION. */
  readonly cacheDurationMs: number;
  /** COLLAPSER_CACHE_ERRORS. */
  readonly cacheErrors: boolean;
  /** COLLAPSER_MAX_MESSAGE_BYTES. */
  readonly maxMessageBytes: number;
  /** COLLAPSER_INVALIDATE is `service`. */
  readonly invalidates: boolean;
}

/** What every call needs and none owns. */
export interface CallContext {
  readonly map: CollapseMap<SharedCall>;
  readonly backend: CallBackend;
  readonly timers: Timers;
  readonly counters: ProxyCounters;
  readonly observer: ProxyObserver;
  readonly missed: MissedSharing;
  readonly limits: CallLimits;
  readonly codec: KeyCodec;
  /** Anything is collapsed at all (COLLAPSER_MODE). */
  readonly collapses: boolean;
  /** The sidecar's own answer to grpc.health.v1 for the service `collapser`. */
  readonly isServing: () => boolean;
}

/** The backend as calls see it: several may stand behind it. */
export type CallBackend = Pick<Backend, "start" | "bodyGrew" | "cancel">;
