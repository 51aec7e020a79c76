const HOURS_PER_MONTH = 730;
const SECONDS_PER_MONTH = HOURS_PER_MONTH * 3_600;
const BYTES_PER_GB = 1e9;

/** The rate that everything is priced at. */
export const PRICED_PER_SECOND = 1_000;

/** Prices of a unit to whoever runs the proxy, in a currency of theirs. */
export interface Prices {
  /** Price of one virtual CPU for one hour. */
  readonly perVcpuHour: number;
  /** Price of one GB (10^9 bytes) that leaves one zone for another. */
  readonly perCrossZoneGb: number;
}

/** The cost of a proxy each month for every 1,000 calls a second. */
export interface MonthlyCost {
  /** Cost of its CPU; undefined where that was not measured. */
  readonly cpu: number | undefined;
  /** Cost of its bytes when it stands in another zone than its callers; a proxy beside its caller has none. */
  readonly crossZone: number;
}

export interface CostBasis {
  /** CPU time of one call, user and system; undefined where it was not measured. */
  readonly cpuMsPerCall: number | undefined;
  /** Bytes of one call on the wire between caller and proxy, both ways. */
  readonly bytesPerCall: number;
}

export function monthlyCost(
  { cpuMsPerCall, bytesPerCall }: CostBasis,
  prices: Prices,
): MonthlyCost {
  // A thousand calls a second at x ms each keep x CPUs busy.
  const vcpus = cpuMsPerCall === undefined ? undefined : cpuMsPerCall * PRICED_PER_SECOND / 1_000;
  const gb = bytesPerCall * PRICED_PER_SECOND * SECONDS_PER_MONTH / BYTES_PER_GB;
  return {
    cpu: vcpus === undefined ? undefined : vcpus * HOURS_PER_MONTH * prices.perVcpuHour,
    crossZone: gb * prices.perCrossZoneGb,
  };
}
