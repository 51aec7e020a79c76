import { rng } from "../support/cuts.ts";

const encoder = new TextEncoder();

/** A field as it stands on the wire: a text, bytes, a message of fields, or a number (varint). */
export type Field = readonly [number: number, value: string | number | Uint8Array | Field[]];

/** The fields of one message, encoded in the order given. */
export function encode(fields: readonly Field[]): Uint8Array {
  return Uint8Array.from(fields.flatMap(([number, value]) => {
    if (typeof value === "number") return [...varint(number * 8), ...varint(value)];
    const payload = typeof value === "string"
      ? encoder.encode(value)
      : value instanceof Uint8Array
      ? value
      : encode(value);
    return [...varint(number * 8 + 2), ...varint(payload.length), ...payload];
  }));
}

/** A map<string, string> in field `number`, its entries in the order given. */
export function entries(number: number, keys: readonly string[]): Field[] {
  return keys.map((key) => [number, [[1, key], [2, `value of ${key}`]]]);
}

/** The fields in an order that `random` chooses, at every depth. */
export function shuffled(fields: readonly Field[], random: () => number): Field[] {
  const out = fields.map(([number, value]): Field => [
    number,
    Array.isArray(value) ? shuffled(value, random) : value,
  ]);
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}

/** A message of up to six fields that a seed repeats, with messages in it down to `depth`. */
export function randomFields(random: () => number, depth = 3): Field[] {
  return Array.from({ length: 1 + Math.floor(random() * 6) }, (): Field => {
    // Numbers under 4, as most fields have: a message of those alone never looks like text.
    const number = 1 + Math.floor(random() * 3);
    const kind = random();
    if (kind < 0.4 && depth > 0) return [number, [[1, 0], ...randomFields(random, depth - 1)]];
    if (kind < 0.7) return [number, `text ${Math.floor(random() * 50)}`];
    return [number, Math.floor(random() * 1e6)];
  });
}

/** The fields with one number or text, wherever it lies, made another. */
export function changedOnce(fields: readonly Field[], random: () => number): Field[] {
  const at = Math.floor(random() * fields.length);
  return fields.map(([number, value], i): Field => {
    if (i !== at) return [number, value];
    if (Array.isArray(value)) return [number, changedOnce(value, random)];
    return [number, typeof value === "number" ? value + 1 : `${value as string}!`];
  });
}

export { rng };

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 + 0x80);
  return [...bytes, value];
}
