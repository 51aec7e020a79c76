/**
 * Bytes as RFCs print them: `hex("82 86 84  # three indexed fields")`. What follows a `#` is a note
 * up to the end of the line; spaces and line breaks mean nothing.
 *
 * @module
 */

/** The bytes that `text` spells out. */
export function hex(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/#.*$/gm, "").replace(/\s/g, "");
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error(`Cannot read "${digits}" as hex`);
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The other way round: two digits a byte, a space between bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
