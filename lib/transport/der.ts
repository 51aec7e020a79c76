/** A value in DER: where it starts, what it is, and where its content lies. */
export interface DerValue {
  readonly tag: number;
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

export const DER_TAG = {
  boolean: 0x01,
  octetString: 0x04,
  sequence: 0x30,
} as const;

/**
 * The values that lie one after the other in `bytes[from, to)` (X.690 §8.1, §10.1). Throws a RangeError for what is no
 * DER, long tags among it: a certificate has none.
 */
export function derValues(bytes: Uint8Array, from: number, to: number): DerValue[] {
  const values: DerValue[] = [];
  for (let at = from; at < to; at = values.at(-1)!.to) values.push(valueAt(bytes, at, to));
  return values;
}

/** What `value` is made of. */
export function derContent(bytes: Uint8Array, value: DerValue | undefined): DerValue[] {
  if (value === undefined) throw new RangeError("Cannot read DER: a value is missing");
  return derValues(bytes, value.from, value.to);
}

function valueAt(bytes: Uint8Array, start: number, end: number): DerValue {
  const tag = bytes[start]!;
  const first = bytes[start + 1] ?? NaN;
  let from = start + 2;
  let length = first;
  if (first > 0x7f) {
    const count = first & 0x7f;
    length = count === 0 || count > 4 ? NaN : 0; // neither indefinite nor beyond 4 GiB
    for (; from < start + 2 + count; from++) length = length * 256 + (bytes[from] ?? NaN);
  }
  const to = from + length;
  if ((tag & 0x1f) === 0x1f || !(to <= end)) {
    throw new RangeError(`Cannot read DER: malformed at byte ${start}`);
  }
  return { tag, start, from, to };
}
