/**
 * The static Huffman code of RFC 7541 Appendix B. It is canonical: codes of one length are consecutive in
 * the order of their symbols, so the lengths alone define it.
 */

/** Code length in bits of each byte; EOS, the 257th symbol, has 30. One row is 32 symbols. */
const CODE_BITS = (
  "13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 " +
  "6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 " +
  "13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6 " +
  "15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 " +
  "20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 " +
  "22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23 " +
  "26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27 " +
  "20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26 30"
).split(" ").map(Number);

const EOS = 256;
const MAX_CODE_BITS = 30;

/**
 * Bits looked up at once: two codes of what metadata is made of, letters and digits, fit in, and every printable
 * character but eleven has a code this short. The table takes 16 KiB; one of twice the size gains nothing (measured).
 */
const FAST_BITS = 12;
const FAST_MASK = (1 << FAST_BITS) - 1;

const CODES = new Uint32Array(257);
/** Symbols ordered by code; those of one length begin at FIRST_INDEX, their codes at FIRST_CODE. */
const SORTED = Array.from(CODE_BITS.keys()).sort((a, b) => CODE_BITS[a]! - CODE_BITS[b]! || a - b);
const FIRST_INDEX = new Uint16Array(MAX_CODE_BITS + 2);
const FIRST_CODE = new Uint32Array(MAX_CODE_BITS + 2);
/**
 * For each run of FAST_BITS bits the one or two symbols whose codes it begins with, or 0 where a longer code begins:
 * first symbol | second << 8 | bits of them << 16 | how many << 20.
 */
const FAST = new Uint32Array(1 << FAST_BITS);

buildTables();
pairUp();

function buildTables(): void {
  let code = 0;
  let index = 0;
  for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
    code *= 2;
    FIRST_INDEX[bits] = index;
    FIRST_CODE[bits] = code;
    for (; index < SORTED.length && CODE_BITS[SORTED[index]!] === bits; index++, code++) {
      const symbol = SORTED[index]!;
      CODES[symbol] = code;
      if (bits > FAST_BITS) continue;
      const first = code << (FAST_BITS - bits);
      const alone = symbol | (bits << 16) | (1 << 20);
      FAST.fill(alone, first, first + (1 << (FAST_BITS - bits)));
    }
  }
  FIRST_INDEX[MAX_CODE_BITS + 1] = index;
}

/** Adds the second symbol to each run that has room for it. */
function pairUp(): void {
  const alone = FAST.slice();
  for (const [run, first] of alone.entries()) {
    const firstBits = (first >>> 16) & 15;
    const second = alone[(run << firstBits) & FAST_MASK]!;
    const bits = firstBits + ((second >>> 16) & 15);
    if (first === 0 || second === 0 || bits > FAST_BITS) continue;
    FAST[run] = (first & 0xff) | ((second & 0xff) << 8) | (bits << 16) | (2 << 20);
  }
}

/**
 * Decodes `bytes[from, to)` into `target` from its start and returns the number of bytes written, or -1 when
 * the padding is longer than 7 bits or not all ones, or EOS is coded (RFC 7541 §5.2). `target` must have room for
 * twice the input: the shortest code has five bits, and one byte behind the last may be written, too.
 */
export function huffmanDecode(
  bytes: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
): number {
  let at = from;
  let written = 0;
  let held = 0; // its last heldBits are not decoded yet; what is above them is spent
  let heldBits = 0;
  for (;;) {
    if (heldBits < FAST_BITS) {
      if (at + 1 < to) {
        held = (held << 16) | (bytes[at]! << 8) | bytes[at + 1]!;
        heldBits += 16;
        at += 2;
      } else if (at < to) {
        held = (held << 8) | bytes[at++]!;
        heldBits += 8;
      }
    }
    const hit = FAST[window(held, heldBits)]!;
    if (hit !== 0) {
      target[written] = hit;
      target[written + 1] = hit >>> 8;
      written += hit >>> 20;
      heldBits -= (hit >>> 16) & 15;
      // It took ones that are not there. Padding alone completes no code, so the last one is cut off.
      if (heldBits < 0) return -1;
      continue;
    }
    held &= (1 << heldBits) - 1;
    if (heldBits < 8 && at === to) return held === (1 << heldBits) - 1 ? written : -1;
    const long = decodeLong(held, heldBits, bytes, at, to);
    if (long === undefined) return -1;
    target[written++] = long.symbol;
    ({ held, heldBits, at } = long);
  }
}

/** The next FAST_BITS bits, with ones where there are no more, as in the padding. */
function window(held: number, heldBits: number): number {
  const missing = FAST_BITS - heldBits;
  return missing <= 0
    ? (held >>> -missing) & FAST_MASK
    : ((held << missing) | ((1 << missing) - 1)) & FAST_MASK;
}

/** Decodes a code of more than FAST_BITS bits: rare, so it may allocate. Undefined when there is none, or it is EOS. */
function decodeLong(held: number, heldBits: number, bytes: Uint8Array, at: number, to: number) {
  let code = 0;
  for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
    if (heldBits === 0) {
      if (at === to) return undefined;
      held = bytes[at++]!;
      heldBits = 8;
    }
    heldBits--;
    code = (code << 1) | ((held >>> heldBits) & 1);
    held &= (1 << heldBits) - 1;
    const index = FIRST_INDEX[bits]! + code - FIRST_CODE[bits]!;
    if (index < FIRST_INDEX[bits + 1]! && code >= FIRST_CODE[bits]!) {
      const symbol = SORTED[index]!;
      return symbol === EOS ? undefined : { symbol, held, heldBits, at };
    }
  }
  return undefined;
}

/** How many bytes `text`, one byte a character, takes when coded. */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += CODE_BITS[text.charCodeAt(i) & 0xff]!;
  return (bits + 7) >>> 3;
}

/** Writes `text`, coded, at `at`; {@linkcode huffmanLength} says how much room that takes. */
export function huffmanEncode(text: string, target: Uint8Array, at: number): void {
  let held = 0;
  let heldBits = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let code = CODES[symbol]!;
    let bits = CODE_BITS[symbol]!;
    for (; bits > 0;) { // at most eight bits a step: a code of 30 beside 7 held ones would not fit
      const take = Math.min(bits, 8);
      held = (held << take) | (code >>> (bits - take));
      heldBits += take;
      bits -= take;
      code &= (1 << bits) - 1;
      if (heldBits >= 8) {
        heldBits -= 8;
        target[at++] = held >>> heldBits;
        held &= (1 << heldBits) - 1;
      }
    }
  }
  if (heldBits > 0) target[at] = (held << (8 - heldBits)) | ((1 << (8 - heldBits)) - 1);
}
