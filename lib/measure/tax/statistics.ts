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

/** Whether the figure may as well be nothing: zero lies within what was measured. */
export function isNoise({ least, most }: Spread): boolean {
  return least <= 0 && most >= 0;
}

/** A spread in another unit. */
export function scaled({ median, least, most, count }: Spread, factor: number): Spread {
  return { median: median * factor, least: least * factor, most: most * factor, count };
}

function medianOf(inOrder: readonly number[]): number {
  const middle = inOrder.length >> 1;
  if (inOrder.length % 2 === 1) return inOrder[middle]!;
  return (inOrder[middle - 1]! + inOrder[middle]!) / 2;
}
