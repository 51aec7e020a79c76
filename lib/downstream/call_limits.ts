/** What every call is held to. */
export interface CallLimits {
  /**
   * How long a caller without a deadline waits for a shared answer to begin, and then for it to go on (BACKEND_TIMEOUT).
   */
  readonly backendTimeoutMs: number;
  /** Longest that a reply waits unread by its caller (GRPC_STALL_TIMEOUT); 0 for ever. */
  readonly stallTimeoutMs: number;
  /** Bytes held at most for peers that do not take them, or to be sent again (COLLAPSER_MAX_BUFFERED_BYTES). */
  readonly maxBufferedBytes: number;
}
