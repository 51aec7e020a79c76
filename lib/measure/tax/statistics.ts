/** A figure that was measured several times. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** How often it was measured. */
  readonly count: number;
}

/** undefined when there is nothing to spread. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const inOrder = [...values].sort((one, other) => one - other);
  return {
    median: medianOf(inOrder),
    least: inOrder[0]!,
    most: inOrder.at(-1)!,
    count: inOrder.length,
  };
}

function medianOf(inOrder: readonly number[]): number {
  const middle = inOrder.length >> 1;
  if (inOrder.length % 2 === 1) return inOrder[middle]!;
  return (inOrder[middle - 1]! + inOrder[middle]!) / 2;
}
