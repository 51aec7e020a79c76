import { STATUS } from "../grpc/mod.ts";
import { LatencyHistogram } from "./latency_histogram.ts";
import { type SkipReason, TrialCounters } from "./trial_counters.ts";

/** How a call was answered; each call has exactly one. */
export const OUTCOMES = ["hit", "joined", "led", "passed", "stale", "rejected"] as const;
export type Outcome = typeof OUTCOMES[number];

/** What came of fetching a stale result anew. */
export const REFRESH_RESULTS = ["ok", "error", "skipped", "removed", "raced"] as const;
export type RefreshResult = typeof REFRESH_RESULTS[number];

/** Why a call passed through on its own. */
export const PASS_REASONS = [
  "method",
  "streaming",
  "size",
  "followers",
  "mode",
  "no_store",
] as const;
export type PassReason = typeof PASS_REASONS[number];

/** Why a backend took no more. */
export const REFUSAL_REASONS = [
  "pending_full",
  "method_full",
  "unreachable",
  "ejected",
  "queue_timeout",
] as const;
export type RefusalReason = typeof REFUSAL_REASONS[number];

/** Methods, services and the like that get a label of their own; the rest share {@linkcode OTHER_LABEL}. */
export const MAX_LABELS = 200;
export const OTHER_LABEL = "other";

/** Statuses that gRPC defines; any other number is counted at {@linkcode OTHER_STATUS}. */
const STATUS_COUNT = STATUS.unauthenticated + 1;
export const OTHER_STATUS = STATUS_COUNT;

/** Answers by gRPC status. */
export class StatusCounts {
  readonly counts = new Float64Array(STATUS_COUNT + 1);

  add(status: number): void {
    this.counts[status < STATUS_COUNT ? status : OTHER_STATUS]!++;
  }

  /** Adds what `other` has counted, which starts again at nothing. */
  take({ counts }: StatusCounts): void {
    counts.forEach((count, status) => this.counts[status]! += count);
    counts.fill(0);
  }
}

/** Nothing of any outcome. */
export function noOutcomes(): Record<Outcome, number> {
  return { hit: 0, joined: 0, led: 0, passed: 0, stale: 0, rejected: 0 };
}

/** The counts of one method, or of all methods beyond the labels. */
export class MethodCounters {
  readonly label: string;
  readonly outcomes = noOutcomes();
  readonly responses = new StatusCounts();
  /** Stale answers in place of failures; the others were being fetched anew. */
  staleForErrors = 0;
  readonly refreshes: Record<RefreshResult, number> = {
    ok: 0,
    error: 0,
    skipped: 0,
    removed: 0,
    raced: 0,
  };
  /** Time of the backend calls that were led, in ms. */
  ledMs = 0;
  #trial: TrialCounters | undefined = undefined;

  constructor(label: string) {
    this.label = label;
  }

  /** What shadow and verify have counted; undefined while that is nothing. */
  get trial(): TrialCounters | undefined {
    return this.#trial;
  }

  /** {@linkcode trial}, to be counted in. */
  onTrial(): TrialCounters {
    return this.#trial ??= new TrialCounters();
  }

  /** Adds what `other` has counted, which starts again at nothing. */
  take(other: MethodCounters): void {
    if (other.#trial !== undefined) this.onTrial().take(other.#trial);
    other.#trial = undefined;
    this.ledMs += other.ledMs;
    other.ledMs = 0;
    for (const outcome of OUTCOMES) {
      this.outcomes[outcome] += other.outcomes[outcome];
      other.outcomes[outcome] = 0;
    }
    this.staleForErrors += other.staleForErrors;
    other.staleForErrors = 0;
    for (const result of REFRESH_RESULTS) {
      this.refreshes[result] += other.refreshes[result];
      other.refreshes[result] = 0;
    }
    this.responses.take(other.responses);
  }
}

/** The counts of one backend. */
export class BackendCounters {
  readonly name: string;
  readonly answers = new StatusCounts();
  readonly latency = new LatencyHistogram();
  readonly refused: Record<RefusalReason, number> = {
    pending_full: 0,
    method_full: 0,
    unreachable: 0,
    ejected: 0,
    queue_timeout: 0,
  };
  /** Calls sent to the backend, those sent again after a refusal included. */
  calls = 0;
  inflight = 0;
  pending = 0;
  up = false;
  /** The backend is left out for a while, since it fails while others do not. */
  ejected = false;
  /** Times that the backend began to be left out. */
  ejections = 0;
  /** Calls that may be under way at the backend at once now. */
  limit = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** Which of our connections: towards callers or towards a backend. */
export type Side = "caller" | "backend";

/**
 * Everything the proxy counts, as plain fields that the hot path increments and telemetry reads on scrape.
 * Label sets are bounded here: a caller cannot make them grow without end.
 */
export class ProxyCounters {
  /** By label. */
  readonly methods = new Map<string, MethodCounters>();
  /** Counters of methods that no backend has answered yet: they have no label, and are in no sum but that of all. */
  readonly unnamed = new Set<MethodCounters>();
  readonly backends: BackendCounters[] = [];
  readonly passed: Record<PassReason, number> = {
    method: 0,
    streaming: 0,
    size: 0,
    followers: 0,
    mode: 0,
    no_store: 0,
  };
  readonly durations: Record<Outcome, LatencyHistogram> = {
    hit: new LatencyHistogram(),
    joined: new LatencyHistogram(),
    led: new LatencyHistogram(),
    passed: new LatencyHistogram(),
    stale: new LatencyHistogram(),
    rejected: new LatencyHistogram(),
  };
  /** Writes answered, by service. */
  readonly invalidated = new Map<string, number>();
  /** Connections ended for a fault, by error code (RFC 9113 §7). */
  readonly connectionErrors: Record<Side, Map<number, number>> = {
    caller: new Map(),
    backend: new Map(),
  };
  /** Peers that said that they are going away, by error code (RFC 9113 §6.8). */
  readonly goAways: Record<Side, Map<number, number>> = { caller: new Map(), backend: new Map() };
  /** Calls ended since their callers did not read (GRPC_STALL_TIMEOUT). */
  stalled = 0;
  /** Calls ended or refused since too much was held already (COLLAPSER_MAX_BUFFERED_BYTES), by what they needed room for. */
  readonly overfull: Record<"reply" | "request", number> = { reply: 0, request: 0 };
  /** Callers' connections ended for the same reason: their sockets took nothing. */
  unreadConnections = 0;
  /** Calls whose outcome is not certain yet: they wait for a place, or for another's answer. */
  undecided = 0;
  /** Answers with OK, by how they were come by: what is saved is those of them that needed no backend call. */
  readonly good = noOutcomes();
  /** Questions of followers that verify did not ask once more. */
  readonly verifySkipped: Record<SkipReason, number> = {
    budget: 0,
    busy: 0,
    size: 0,
    deadline: 0,
    draining: 0,
  };
  /** Faults of ours that cost somebody a call, or a connection. */
  faults = 0;
  /** Counters of backends that are none any more and finish their last calls. */
  readonly leaving = new Set<BackendCounters>();
  /** What backends have counted that are gone: sums over all backends must not shrink. */
  readonly departed = new BackendCounters("");
  /** Callers' connections that are open. */
  connections = 0;

  /** The counters of a method; those of `other` once there are {@linkcode MAX_LABELS}. */
  method(path: string): MethodCounters {
    const known = this.methods.get(path);
    if (known !== undefined) return known;
    const labels = this.methods.size - (this.methods.has(OTHER_LABEL) ? 1 : 0);
    if (labels >= MAX_LABELS) return this.#other;
    const counters = new MethodCounters(path);
    this.methods.set(path, counters);
    return counters;
  }

  get #other(): MethodCounters {
    const known = this.methods.get(OTHER_LABEL);
    if (known !== undefined) return known;
    const other = new MethodCounters(OTHER_LABEL);
    this.methods.set(OTHER_LABEL, other);
    return other;
  }

  /** All methods' counters, named or not. */
  *all(): Generator<MethodCounters> {
    yield* this.methods.values();
    yield* this.unnamed;
  }

  /** Gives a method's counters their label or, once there are {@linkcode MAX_LABELS}, adds them to those of `other`. */
  name(own: MethodCounters): MethodCounters {
    this.unnamed.delete(own);
    const named = this.method(own.label);
    named.take(own);
    return named;
  }

  /** Adds what a method without a label has counted so far to the counters of `other`. */
  countAsOther(own: MethodCounters): void {
    this.#other.take(own);
  }

  /** A call was turned away before there was anything to call it by but its path. */
  countRejected(path: string, status: number): void {
    const counters = this.methods.get(path) ?? this.#other;
    counters.outcomes.rejected++;
    counters.responses.add(status);
    this.durations.rejected.observe(0);
  }

  countInvalidation(service: string): void {
    bump(this.invalidated, service, OTHER_LABEL);
  }

  countGoAway(side: Side, code: number): void {
    bump(this.goAways[side], code, -1);
  }

  /** A backend is none any more, and finishes its last calls. */
  backendLeaves(counters: BackendCounters): void {
    const at = this.backends.indexOf(counters);
    if (at >= 0) this.backends.splice(at, 1);
    this.leaving.add(counters);
  }

  /** A backend that leaves has no calls any more. */
  backendIsGone(counters: BackendCounters): void {
    if (!this.leaving.delete(counters)) return;
    this.departed.calls += counters.calls;
    this.departed.latency.take(counters.latency);
  }

  /** The counters of all backends there ever were, those that are gone in one. */
  *everyBackend(): Generator<BackendCounters> {
    yield* this.backends;
    yield* this.leaving;
    yield this.departed;
  }

  countConnectionError(side: Side, code: number): void {
    bump(this.connectionErrors[side], code, -1);
  }
}

function bump<K>(counts: Map<K, number>, key: K, other: K): void {
  const label = counts.has(key) || counts.size < MAX_LABELS ? key : other;
  counts.set(label, (counts.get(label) ?? 0) + 1);
}
