/** Characters of all fields together that are read; a sensible list of directives has a tenth of them. */
const MAX_CHARACTERS = 4_096;

/** RFC 9111 §1.2.2: a larger number of seconds is taken for this one. */
const MAX_SECONDS = 2 ** 31;

const MS_PER_SECOND = 1_000;

/** What `cache-control` says, of a request or of a reply (RFC 9111 §5.2), as far as it is heeded here. */
export interface CacheDirectives {
  readonly isNoStore: boolean;
  readonly isNoCache: boolean;
  readonly isPrivate: boolean;
  readonly isOnlyIfCached: boolean;
  /** From `max-age`; Infinity where it is not said. */
  readonly maxAgeMs: number;
  /** From `s-maxage`; Infinity where it is not said. */
  readonly sharedMaxAgeMs: number;
  /** `must-revalidate`, or `proxy-revalidate`, which says the same to shared caches (RFC 9111 §5.2.2.8). */
  readonly isMustRevalidate: boolean;
  /** From `stale-while-revalidate` (RFC 5861 §3); Infinity where it is not said. */
  readonly staleWhileRevalidateMs: number;
  /** From `stale-if-error` (RFC 5861 §4); Infinity where it is not said. */
  readonly staleIfErrorMs: number;
}

/**
 * Reads the values of all `cache-control` fields of one message together (RFC 9111 §5.2, RFC 9110 §5.6). Names of
 * directives are told in any case, and an age may stand in quotes. A directive that names fields (`private="x-user"`)
 * counts for the whole message, as RFC 9111 §5.2.2.7 allows; of two ages of one name the smaller counts. What is no
 * directive, or has no number where there must be one, is not there. Directives are parted by a semicolon as well,
 * which servers write by mistake: the stricter reading is the safe one. So is `no-store` for a list that is too long to
 * be read to its end.
 */
export function parseCacheControl(values: readonly string[]): CacheDirectives {
  const text = values.join(",");
  const read = {
    isNoStore: text.length > MAX_CHARACTERS,
    isNoCache: false,
    isPrivate: false,
    isOnlyIfCached: false,
    maxAgeMs: Infinity,
    sharedMaxAgeMs: Infinity,
    isMustRevalidate: false,
    staleWhileRevalidateMs: Infinity,
    staleIfErrorMs: Infinity,
  };
  // Each field apart: a quote that one of them leaves open must not hide the next.
  if (!read.isNoStore) { for (const value of values) splitDirectives(value).forEach(heed); }
  return read;

  function heed(directive: string): void {
    const [name, argument] = nameAndArgument(directive);
    if (name === "no-store") read.isNoStore = true;
    else if (name === "no-cache") read.isNoCache = true;
    else if (name === "private") read.isPrivate = true;
    else if (name === "only-if-cached") read.isOnlyIfCached = true;
    else if (name === "max-age") read.maxAgeMs = Math.min(read.maxAgeMs, parseAgeMs(argument));
    else if (name === "s-maxage") {
      read.sharedMaxAgeMs = Math.min(read.sharedMaxAgeMs, parseAgeMs(argument));
    } else if (name === "must-revalidate" || name === "proxy-revalidate") {
      read.isMustRevalidate = true;
    } else if (name === "stale-while-revalidate") {
      read.staleWhileRevalidateMs = Math.min(read.staleWhileRevalidateMs, parseAgeMs(argument));
    } else if (name === "stale-if-error") {
      read.staleIfErrorMs = Math.min(read.staleIfErrorMs, parseAgeMs(argument));
    }
  }
}

/** The directives of a list, parted where a separator stands outside of quotes. */
function splitDirectives(text: string): string[] {
  const directives: string[] = [];
  let from = 0;
  let mayQuote = true;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "," || character === ";") {
      directives.push(text.slice(from, i));
      from = i + 1;
    } else if (character === '"' && mayQuote) {
      const end = closingQuote(text, i);
      mayQuote = end >= 0; // a quote that nobody closes hides nothing; looked for once, so time is linear
      if (mayQuote) i = end;
    }
  }
  directives.push(text.slice(from));
  return directives;
}

/** Where the quoted string that begins at `from` ends (RFC 9110 §5.6.4), or -1. */
function closingQuote(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return -1;
}

/** `name`, or `name=argument`, the quotes around that taken off. */
function nameAndArgument(directive: string): readonly [name: string, argument: string] {
  const equals = directive.indexOf("=");
  if (equals < 0) return [directive.trim().toLowerCase(), ""];
  const argument = directive.slice(equals + 1).trim();
  return [
    directive.slice(0, equals).trim().toLowerCase(),
    /^".*"$/.test(argument) ? argument.slice(1, -1) : argument,
  ];
}

/** Whole seconds in milliseconds; Infinity where there is no such number. */
function parseAgeMs(text: string): number {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) * MS_PER_SECOND : Infinity;
}
