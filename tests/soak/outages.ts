import type { Outages } from "./judge.ts";

/**
 * A sidecar whose only backend was away takes no callers for some time after it is back, up to ten seconds where it
 * comes and goes; until then callers are sent elsewhere, of which there is nothing here.
 */
const GATE_MS = 12_000;

/** One that ended longer ago than any call lasts is forgotten. */
const MEMORY_MS = 60_000;

interface Span {
  /** Whose it was. */
  readonly backend: string;
  readonly fromMs: number;
  toMs: number;
}

/** The times during which a backend was away, or its connections were, or was left out after it had been ill. */
export class OutageLog implements Outages {
  #spans: Span[] = [];

  /** An outage of that backend begins now; returns how to end it. */
  begin(backend: string): () => void {
    const nowMs = performance.now();
    const span = { backend, fromMs: nowMs, toMs: Infinity };
    this.#spans = this.#spans.filter(({ toMs }) => toMs > nowMs - MEMORY_MS);
    this.#spans.push(span);
    return () => {
      span.toMs = performance.now();
    };
  }

  overlap(fromMs: number, toMs: number, backend?: string): boolean {
    return this.#during(fromMs, toMs).some((span) => (backend ?? span.backend) === span.backend);
  }

  /** Whether a sidecar may have sent its callers away at any time between: its only backend was away, or is just back. */
  mayBeShut(fromMs: number, toMs: number): boolean {
    return this.overlap(fromMs - GATE_MS, toMs);
  }

  /** That backend was well at all times between, and another was not. */
  overlapOthersOnly(fromMs: number, toMs: number, backend: string): boolean {
    return this.overlap(fromMs, toMs) && !this.overlap(fromMs, toMs, backend);
  }

  #during(fromMs: number, toMs: number): Span[] {
    return this.#spans.filter((span) => span.fromMs <= toMs && span.toMs >= fromMs);
  }
}
