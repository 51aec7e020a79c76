/** The time that a proxy adds, split into three parts that add up to it, in ms. */
export interface Split {
  /** The time that a relay adds which does nothing: two more sockets and a turn of an event loop. */
  readonly hopMs: number;
  /** The time that the proxy adds at the lowest rate beyond the hop: its own work for one call. */
  readonly processingMs: number;
  /** The time that the proxy adds at this rate beyond that at the lowest: calls waiting for each other. */
  readonly queueingMs: number;
}

export interface AddedTimes {
  /** The time that the relay adds at the lowest rate. */
  readonly relayMs: number;
  /** The time that the proxy adds at the lowest rate. */
  readonly lowestRateMs: number;
  /** The time that the proxy adds at the rate that is split. */
  readonly atRateMs: number;
}

/** Splits added time. A negative part stays so: it is smaller than the noise of the others. */
export function splitAdded({ relayMs, lowestRateMs, atRateMs }: AddedTimes): Split {
  return {
    hopMs: relayMs,
    processingMs: lowestRateMs - relayMs,
    queueingMs: atRateMs - lowestRateMs,
  };
}
