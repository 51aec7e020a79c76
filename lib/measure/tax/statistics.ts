/** A figure that was measured several times. */
export interface Spread {
  readonly median: number;
  /** The quartiles: half of the rounds lie between them, whatever the worst ones came to. */
  readonly low: number;
  readonly high: number;
  readonly least: number;
  readonly most: number;
  /** The number of measurements. */
  readonly count: number;
}

/** The spread of values in any order; undefined when there are none. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const inOrder = [...values].sort((one, other) => one - other);
  return {
    median: quantile(inOrder, 0.5),
    low: quantile(inOrder, 0.25),
    high: quantile(inOrder, 0.75),
    least: inOrder[0]!,
    most: inOrder.at(-1)!,
    count: inOrder.length,
  };
}

/** A quantile; one between two values lies in proportion to how near it is to each. */
function quantile(inOrder: readonly number[], share: number): number {
  const place = (inOrder.length - 1) * share;
  const below = inOrder[Math.floor(place)]!;
  const above = inOrder[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}
