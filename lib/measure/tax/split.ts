/** Where the time that a proxy adds goes, in ms. The three add up to what it adds. */
export interface Split {
  /** What a relay adds that does nothing: two more sockets and a turn of an event loop. */
  readonly hopMs: number;
  /** What the proxy adds at the lowest rate beyond the hop: its own work for one call. */
  readonly processingMs: number;
  /** What it adds at this rate beyond what it adds at the lowest: calls waiting for each other. */
  readonly queueingMs: number;
}

export interface AddedTimes {
  /** What the relay adds at the lowest rate. */
  readonly relayMs: number;
  /** What the proxy adds at the lowest rate. */
  readonly lowestRateMs: number;
  /** What the proxy adds at the rate that is split. */
  readonly atRateMs: number;
}

/** Nothing is rounded up to zero: a part that comes out negative is smaller than the noise of the others. */
export function splitAdded({ relayMs, lowestRateMs, atRateMs }: AddedTimes): Split {
  return {
    hopMs: relayMs,
    processingMs: lowestRateMs - relayMs,
    queueingMs: atRateMs - lowestRateMs,
  };
}
