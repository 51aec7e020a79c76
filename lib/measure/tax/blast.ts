/** What callers of one healthy backend saw while another one stood still. */
export interface BlastRow {
  /** Who stood between callers and backends: `collapser`, `envoy`, `direct`. */
  readonly name: string;
  /** Of the calls to healthy backends. */
  readonly calls: number;
  readonly failed: number;
  /** Before one backend stood still, and while it did. */
  readonly healthyP99Ms: number;
  readonly stalledP99Ms: number;
}

/** The third bill: what one slow backend does to the callers of the healthy ones. */
export interface BlastResult {
  /** In one sentence. */
  readonly summary: string;
  readonly rows: readonly BlastRow[];
}
