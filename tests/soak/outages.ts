import type { Outages } from "./judge.ts";

/** One that ended longer ago than any call lasts is forgotten. */
const MEMORY_MS = 60_000;

/** The times during which the backend was away, or its connections were. */
export class OutageLog implements Outages {
  #spans: { fromMs: number; toMs: number }[] = [];

  /** An outage begins now; returns how to end it. */
  begin(): () => void {
    const nowMs = performance.now();
    const span = { fromMs: nowMs, toMs: Infinity };
    this.#spans = this.#spans.filter(({ toMs }) => toMs > nowMs - MEMORY_MS);
    this.#spans.push(span);
    return () => {
      span.toMs = performance.now();
    };
  }

  overlap(fromMs: number, toMs: number): boolean {
    return this.#spans.some((span) => span.fromMs <= toMs && span.toMs >= fromMs);
  }
}
