/** A known word, and how many edits it is away from what was written. */
export interface Nearest {
  readonly word: string;
  readonly distance: number;
}

/** The known word that takes the fewest edits; the first of equals. `known` must not be empty. */
export function nearest(written: string, known: readonly string[]): Nearest {
  const ranked = known.map((word) => ({ word, distance: editDistance(written, word) }));
  return ranked.reduce((best, next) => next.distance < best.distance ? next : best);
}

/** Characters to insert, delete or replace to get from `a` to `b` (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(above, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, at(above, column) + 1, at(current, column - 1) + 1));
    }
    above = current;
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
