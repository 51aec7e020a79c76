import { type Fault, type Json, pointerTo, shortened } from "./json.ts";

/** Faults that are told at once; a file of ten thousand wrong entries is wrong in a few ways. */
const MAX_FAULTS = 20;

/** A value of the file, and how it is reached; the pointer is made when somebody has something to say of it. */
export class Place {
  readonly json: Json;
  /** Line, from 1, on which the value begins, or the name that it is the value of. */
  readonly line: number;
  readonly #parent: Place | undefined;
  readonly #key: string | number;

  constructor(json: Json, within?: { parent: Place; key: string | number; line: number }) {
    this.json = json;
    this.line = within?.line ?? json.line;
    this.#parent = within?.parent;
    this.#key = within?.key ?? "";
  }

  /** JSON pointer (RFC 6901) of the value. */
  get pointer(): string {
    return this.#parent === undefined ? "" : pointerTo(this.#parent.pointer, this.#key);
  }

  /**
   * The values of an object by name, in the order of the file; those that are null are absent where `nullIsAbsent`. Names
   * of `eitherCase` may be written with a capital: Go's encoding/json takes them so, and many files have them so.
   */
  members(
    { nullIsAbsent = false, eitherCase = [] }: {
      nullIsAbsent?: boolean;
      eitherCase?: readonly string[];
    } = {},
  ): ReadonlyMap<string, Place> {
    const { json } = this;
    if (json.kind !== "object") return new Map();
    const places = [...json.members]
      .filter(([, { value }]) => !(nullIsAbsent && value.kind === "null"))
      .map(([key, { line, value }]) => {
        const usual = eitherCase.find((each) => capitalised(each) === key) ?? key;
        return [usual, new Place(value, { parent: this, key, line })] as const;
      });
    return new Map(places);
  }

  /** The values of a list. */
  items(): readonly Place[] {
    const { json } = this;
    if (json.kind !== "list") return [];
    return json.items.map((item, key) => new Place(item, { parent: this, key, line: item.line }));
  }

  /** The value as it is repeated to whoever wrote it. */
  get said(): string {
    const { json } = this;
    if (json.kind === "object") return "an object";
    if (json.kind === "list") return "a list";
    return json.kind === "null" ? "null" : shortened(JSON.stringify(json.value));
  }
}

/** What is found while a file is read: what is wrong with it, and what its author should know. */
export class Report {
  readonly #faults: Fault[] = [];
  readonly #warnings: string[] = [];
  #leftOut = 0;

  /** Whether anything is wrong. */
  get isBad(): boolean {
    return this.#faults.length > 0;
  }

  /** All that is wrong, and how much more of it there is when that is a lot. */
  get faults(): readonly Fault[] {
    if (this.#leftOut === 0) return this.#faults;
    return [...this.#faults, { line: 0, pointer: "", why: `and ${this.#leftOut} problems more` }];
  }

  /** Worth knowing, each once. */
  get warnings(): readonly string[] {
    const all = [...new Set(this.#warnings)];
    const more = all.length - MAX_FAULTS;
    return more > 0 ? [...all.slice(0, MAX_FAULTS), `and ${more} warnings more`] : all;
  }

  /** The value is not what was expected; `what` follows that word. */
  expected(at: Place, what: string): undefined {
    this.wrong(at, () => `expected ${what}, not ${at.said}`);
  }

  /** Something is wrong with a value; `why` is asked only where it will be told. */
  wrong(at: Place, why: () => string): undefined {
    if (this.#faults.length === MAX_FAULTS) this.#leftOut++;
    else this.#faults.push({ line: at.line, pointer: at.pointer, why: why() });
  }

  /** Takes over what was found before. */
  take(faults: readonly Fault[]): void {
    const room = MAX_FAULTS - this.#faults.length;
    this.#faults.push(...faults.slice(0, room));
    this.#leftOut += Math.max(0, faults.length - room);
  }

  /** Something that is right and may surprise. */
  warn(text: string): void {
    this.#warnings.push(text);
  }
}

/** A fault in words. */
export function faultText({ line, pointer, why }: Fault): string {
  if (line === 0) return why;
  return pointer === "" ? `line ${line}: ${why}` : `line ${line}, ${pointer}: ${why}`;
}

/** A name with a capital in front. */
export function capitalised(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
