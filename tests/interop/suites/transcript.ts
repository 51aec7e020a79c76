/** Where in `output` the first of `words` is missing that should come in this order; undefined when all are there. */
export function missing(output: string, words: readonly string[]): string | undefined {
  let from = 0;
  for (const word of words) {
    const at = output.indexOf(word, from);
    if (at < 0) return word;
    from = at + word.length;
  }
  return undefined;
}
