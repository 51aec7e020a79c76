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
