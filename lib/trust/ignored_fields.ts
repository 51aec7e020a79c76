/** Largest field number (protobuf encoding, "Field Numbers"). */
const MAX_FIELD_NUMBER = 2 ** 29 - 1;

/**
 * The fields of a message that may differ, by number: `all` leaves the field out, a map says which fields inside it
 * are left out.
 */
export type IgnoredFields = ReadonlyMap<number, "all" | IgnoredFields>;

/** What a descriptor says of one field. */
export interface DescribedField {
  readonly number: number;
  /** Full name of its message type, when it is a message. */
  readonly message?: string;
}

/** Where names are looked up: a message type by its full name, in it a field by its name. */
export interface MessageNames {
  readonly fieldOf: (message: string, name: string) => DescribedField | undefined;
  /** Full name of the message type that the method answers with. */
  readonly answer: string;
}

/** Compiled `ignoreFields`, and the paths among them that say nothing here. */
export interface CompiledIgnore {
  /** Undefined when nothing is left out. */
  readonly ignored: IgnoredFields | undefined;
  /** Paths with a name that no descriptor knows (yet): they ignore nothing. */
  readonly unknown: readonly string[];
}

type Open = Map<number, "all" | Open>;

/**
 * Reads the `ignoreFields` of a policy: paths such as `3.1`, or `stamp.made` where `names` has descriptors; numbers and
 * names may be mixed. A path within another adds nothing to it. What cannot be read ignores nothing: the comparison
 * is then stricter than asked for, never laxer.
 */
export function compileIgnoredFields(
  paths: readonly string[],
  names?: MessageNames,
): CompiledIgnore {
  const root: Open = new Map();
  const unknown: string[] = [];
  for (const path of paths) {
    const numbers = fieldNumbers(path, names);
    if (numbers === undefined) unknown.push(path);
    else add(root, numbers);
  }
  return { ignored: root.size === 0 ? undefined : root, unknown };
}

function add(root: Open, numbers: readonly number[]): void {
  let at = root;
  for (const [i, number] of numbers.entries()) {
    const known = at.get(number);
    if (known === "all") return;
    if (i === numbers.length - 1) at.set(number, "all");
    else if (known === undefined) {
      const inside: Open = new Map();
      at.set(number, inside);
      at = inside;
    } else at = known;
  }
}

function fieldNumbers(path: string, names: MessageNames | undefined): number[] | undefined {
  const numbers: number[] = [];
  let message = names?.answer;
  for (const part of path.split(".")) {
    const isNumber = /^[1-9]\d*$/.test(part);
    const described = isNumber || message === undefined ? undefined : names?.fieldOf(message, part);
    const number = isNumber ? Number(part) : described?.number;
    if (number === undefined || number > MAX_FIELD_NUMBER) return undefined;
    numbers.push(number);
    message = described?.message;
  }
  return numbers;
}
