import type { Kind } from "./kind.ts";

/** Spellings that Go's strconv.ParseBool takes, in any case. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["t", true],
  ["true", true],
  ["0", false],
  ["f", false],
  ["false", false],
]);

export const BOOLEAN: Kind<boolean> = {
  placeholder: "BOOL",
  bare: true,
  parse(text) {
    const value = BOOLEANS.get(text.toLowerCase());
    return value === undefined ? { why: "expected true or false" } : { value };
  },
  show: String,
};

/** One of a few words, in any case. `aliases` are further spellings, not offered in messages. */
export function oneOf<const W extends string>(
  words: readonly W[],
  aliases: ReadonlyMap<string, NoInfer<W>> = new Map(),
): Kind<W> {
  return {
    placeholder: words.join("|"),
    parse(text) {
      const lower = text.toLowerCase();
      const value = words.find((word) => word === lower) ?? aliases.get(lower);
      return value === undefined ? { why: `expected ${listed(words)}` } : { value };
    },
    show: (word) => word,
  };
}

/** `a, b or c`. */
function listed(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " or $1");
}
