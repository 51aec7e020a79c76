/** How a call would have been answered, were its method's answers shared. */
export const SHADOW_OUTCOMES = ["hit", "joined", "led", "passed", "stale"] as const;
export type ShadowOutcome = typeof SHADOW_OUTCOMES[number];

/** What comparing a shared answer with the follower's own came to. */
export const COMPARISONS = ["match", "reordered", "raced", "unstable", "mismatch"] as const;
export type Comparison = typeof COMPARISONS[number];

/** What came of asking a follower's question once more. */
export const VERIFY_RESULTS = [...COMPARISONS, "error", "skipped"] as const;
export type VerifyResult = typeof VERIFY_RESULTS[number];

/** Why a follower's question was not asked once more. */
export const SKIP_REASONS = ["budget", "busy", "size", "deadline", "draining"] as const;
export type SkipReason = typeof SKIP_REASONS[number];

/** What shadow and verify have counted of one method. */
export class TrialCounters {
  readonly shadow = zeros(SHADOW_OUTCOMES);
  readonly compared = zeros(COMPARISONS);
  readonly verified = zeros(VERIFY_RESULTS);
  /** What sharing would have saved: backend calls, their time, and the bytes of their answers. */
  savedCalls = 0;
  savedMs = 0;
  savedBytes = 0;

  /** Adds what `other` has counted. */
  take(other: TrialCounters): void {
    addAll(this.shadow, other.shadow);
    addAll(this.compared, other.compared);
    addAll(this.verified, other.verified);
    this.savedCalls += other.savedCalls;
    this.savedMs += other.savedMs;
    this.savedBytes += other.savedBytes;
  }
}

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

function addAll<K extends string>(total: Record<K, number>, more: Readonly<Record<K, number>>) {
  for (const name of Object.keys(more) as K[]) total[name] += more[name];
}
