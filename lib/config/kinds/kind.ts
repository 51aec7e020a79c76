/** What a text turned out to be: a value, or why it is none. `why` is written to follow `Cannot parse NAME "text": `. */
export type Parsed<T> = { readonly value: T } | { readonly why: string };

/** One kind of value: how it is read, how it is written back, what help calls it. */
export interface Kind<T> {
  /** Stands for the value in help text, such as DURATION. */
  readonly placeholder: string;
  /** True when the flag alone, without a value, means "true". */
  readonly bare?: true;
  /** True when the text must never be repeated in a message. */
  readonly secret?: true;
  /** Reads a text that is trimmed, and empty where neither a value nor a default is given. Never throws. */
  parse(text: string): Parsed<T>;
  /** Text that `parse` would read as the same value; a secret is masked instead. */
  show(value: T): string;
}

/** `kind`, with no text at all for a value too: undefined. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    ...kind,
    parse: (text) => text === "" ? { value: undefined } : kind.parse(text),
    show: (value) => value === undefined ? "" : kind.show(value),
  };
}
