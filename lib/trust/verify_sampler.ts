/** Calls of a method that are always re-run, the first ones: where sharing is wrong, they mostly show it. */
const FIRST_RUNS = 20;

/** Runs that each new set of differing names gets at once: the pair that shows a leak may be rare. */
const NOVEL_RUNS = 3;

/** Sets of differing names told apart; callers choose names, so what comes later counts as one set. */
const MAX_STRATA = 32;

/** Names told of two callers; a person reads the first few. */
const MAX_NAMES = 16;

/** Longer names are left out: they are nobody's to read. */
const MAX_NAME_CHARS = 64;

/** Metadata as HTTP/2 carries it, names in lower case. */
export interface Metadata {
  readonly name: string;
  readonly value: string;
}

/** Followers of one method whose metadata differed from their leader's in the same names. */
interface Stratum {
  seen: number;
  ran: number;
}

/**
 * Chooses which of a method's followers are re-run: its first 20, and then a share of them all that is divided evenly
 * among the sets of names in which followers differ from their leaders. A uniform sample would spend nearly all of it
 * on callers that are alike, and a leak shows where they are not.
 */
export class VerifySampler {
  #firstLeft = FIRST_RUNS;
  #seen = 0;
  readonly #ratio: number;
  readonly #strata = new Map<string, Stratum>();
  readonly #others: Stratum = { seen: 0, ran: 0 };

  /** `ratio` is the share of followers re-run after the first 20, 0 to 1. */
  constructor(ratio: number) {
    this.#ratio = ratio;
  }

  /**
   * Whether to re-run a follower that differs from its leader in these names; `first` stands outside the backend's
   * budget. `chance` is from 0 up to and not including 1.
   */
  choose(names: readonly string[], chance: number): "first" | "sampled" | undefined {
    const stratum = this.#stratum(names);
    stratum.seen++;
    this.#seen++;
    if (this.#firstLeft > 0) {
      this.#firstLeft--;
      return "first";
    }
    if (this.#ratio === 0) return undefined;
    if (stratum.ran < NOVEL_RUNS) return "sampled";
    // Shares of 1/n each of all that is to be run; over the strata they add up to the ratio.
    const share = this.#ratio * this.#seen / (this.#size * stratum.seen);
    return chance < share ? "sampled" : undefined;
  }

  /** A follower that was chosen has been re-run rather than skipped. */
  ran(names: readonly string[]): void {
    this.#stratum(names).ran++;
  }

  get #size(): number {
    return this.#strata.size + (this.#others.seen > 0 ? 1 : 0);
  }

  #stratum(names: readonly string[]): Stratum {
    const signature = names.join(" ");
    const known = this.#strata.get(signature);
    if (known !== undefined) return known;
    if (this.#strata.size >= MAX_STRATA) return this.#others;
    const made = { seen: 0, ran: 0 };
    this.#strata.set(signature, made);
    return made;
  }
}

/** The names of metadata in which two requests differ, sorted: 16 at most, never a value, no pseudo-header. */
export function differingNames(a: readonly Metadata[], b: readonly Metadata[]): string[] {
  const [ofA, ofB] = [valuesByName(a), valuesByName(b)];
  const names = new Set([...ofA.keys(), ...ofB.keys()]);
  for (const name of names) {
    const isLong = name.length > MAX_NAME_CHARS;
    if (isLong || name.startsWith(":") || ofA.get(name) === ofB.get(name)) names.delete(name);
  }
  return [...names].sort().slice(0, MAX_NAMES);
}

/** The values of each name in their order; a character that no value has (RFC 9113 §8.2.1) stands between several. */
function valuesByName(fields: readonly Metadata[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { name, value } of fields) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return values;
}
