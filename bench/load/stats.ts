/** The middle value; of an even number the mean of the two; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return sorted.length === 0 ? NaN : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of what `figure` makes of each pair of samples of one round. */
export function medianOfRounds<S>(
  rounds: readonly { readonly through: S; readonly direct: S }[],
  figure: (through: S, direct: S) => number,
): number {
  return median(rounds.map(({ through, direct }) => figure(through, direct)));
}
