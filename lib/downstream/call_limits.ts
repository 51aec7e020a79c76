/** What every call is held to. */
export interface CallLimits {
  /**
   * How long a caller without a deadline waits for a shared answer to begin, and then for it to go on (BACKEND_TIMEOUT).
   */
  readonly backendTimeoutMs: number;
  /** How long a good result answers repeats; 0 keeps nothing (COLLAPSER_CACHE_DURATION). */
  readonly cacheDurationMs: number;
  /** How long after that a good result may answer stale, while it is fetched anew; 0 not at all (COLLAPSER_STALE_DURATION). */
  readonly staleDurationMs: number;
  /** How long after that it may answer where the backend cannot; 0 not at all (COLLAPSER_STALE_IF_ERROR). */
  readonly staleIfErrorMs: number;
  /** Share by which a time of a second or more is shortened at random (COLLAPSER_TTL_JITTER). */
  readonly ttlJitter: number;
  /** How long a key whose answer was private passes through; 0 is not at all (COLLAPSER_HIT_FOR_PASS). */
  readonly hitForPassMs: number;
  /** Whether error results are kept too (COLLAPSER_CACHE_ERRORS). */
  readonly cacheErrors: boolean;
  /** Largest request message, and largest reply in all, that is collapsed (COLLAPSER_MAX_MESSAGE_BYTES). */
  readonly maxMessageBytes: number;
  /** Longest that a reply waits unread by its caller (GRPC_STALL_TIMEOUT); 0 for ever. */
  readonly stallTimeoutMs: number;
  /** Bytes held at most for peers that do not take them, or to be sent again (COLLAPSER_MAX_BUFFERED_BYTES). */
  readonly maxBufferedBytes: number;
  /** Whether a call that is not eligible, once answered, makes older results of its service stale (COLLAPSER_INVALIDATE). */
  readonly invalidate: "service" | "off";
}
