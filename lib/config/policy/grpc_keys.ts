import {
  ANY_OBJECT,
  ATTEMPTS,
  GRPC_DURATION,
  GRPC_POSITIVE_DURATION,
  GRPC_TEXT,
  GRPC_TRUTH,
  type GrpcKind,
  list,
  message,
  positive,
  UINT32,
} from "./grpc_kind.ts";
import { statuses, whole } from "./value_kind.ts";

/** A key that gRPC's service config defines, or one of ours beside gRPC's. */
export interface GrpcKey {
  readonly kind: GrpcKind;
  readonly help: string;
  /** Whether the sidecar heeds it; what it does not is a client's, is read as gRPC reads it, and named. */
  readonly isUsed?: true;
}

const RETRYABLE = statuses(0);

/** How a call that failed is made again (gRFC A6). */
const RETRY_POLICY = message({
  maxAttempts: { kind: ATTEMPTS, isRequired: true },
  initialBackoff: { kind: GRPC_POSITIVE_DURATION, isRequired: true },
  maxBackoff: { kind: GRPC_POSITIVE_DURATION, isRequired: true },
  backoffMultiplier: { kind: positive(), isRequired: true },
  perAttemptRecvTimeout: { kind: GRPC_POSITIVE_DURATION },
  retryableStatusCodes: {
    isRequired: true,
    kind: {
      schema: { ...RETRYABLE.schema, minItems: 1 },
      read(at, report) {
        const codes = RETRYABLE.read(at, report);
        return codes?.length === 0 ? report.expected(at, "one status at least") : codes;
      },
    },
  },
});

/** How a call is made at several places before one has answered (gRFC A6). */
const HEDGING_POLICY = message({
  maxAttempts: { kind: ATTEMPTS, isRequired: true },
  hedgingDelay: { kind: GRPC_DURATION },
  nonFatalStatusCodes: { kind: RETRYABLE },
});

/** Keys of an entry of `methodConfig` besides `name` and `collapser` (grpc/doc/service_config.md). */
export const ENTRY_KEYS: Readonly<Record<string, GrpcKey>> = {
  maxConcurrent: {
    kind: whole(1),
    isUsed: true,
    help: "calls of the method at one backend at once, those that wait there included; a key of " +
      "collapser's own, beside gRPC's",
  },
  timeout: {
    kind: GRPC_DURATION,
    isUsed: true,
    help: "what the backend of a call that may be shared is told at most, in seconds",
  },
  waitForReady: { kind: GRPC_TRUTH, help: "a client's" },
  maxRequestMessageBytes: { kind: UINT32, help: "a client's" },
  maxResponseMessageBytes: { kind: UINT32, help: "a client's" },
  retryPolicy: { kind: RETRY_POLICY, help: "a client's" },
  hedgingPolicy: { kind: HEDGING_POLICY, help: "a client's; not beside retryPolicy" },
};

/** Keys of the file as a whole besides `$schema` and `methodConfig`. */
export const ROOT_KEYS: Readonly<Record<string, GrpcKey>> = {
  retryThrottling: {
    kind: message({
      maxTokens: { kind: positive(1_000), isRequired: true },
      tokenRatio: { kind: positive(), isRequired: true },
    }),
    help: "a client's",
  },
  loadBalancingPolicy: { kind: GRPC_TEXT, help: "a client's" },
  loadBalancingConfig: {
    kind: list(ANY_OBJECT, 'a list such as [{ "round_robin": {} }]'),
    help: "a client's",
  },
  healthCheckConfig: {
    kind: message({ serviceName: { kind: GRPC_TEXT } }),
    help: "a client's",
  },
};
