import { assertEquals, fail } from "@std/assert";
import { huffmanDecode, huffmanEncode, huffmanLength } from "../../lib/wire/huffman.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { hex } from "../support/hex.ts";

/** Codes of RFC 7541 Appendix B from every length that there is, as printed there. */
const CODES: [symbol: number | string, bits: string][] = [
  ["0", "00000"],
  ["a", "00011"],
  ["t", "01001"],
  [" ", "010100"],
  ["u", "101101"],
  [":", "1011100"],
  ["z", "1111011"],
  ["&", "11111000"],
  ["Z", "11111101"],
  ["!", "1111111000"],
  [")", "1111111011"],
  ["'", "11111111010"],
  ["|", "11111111100"],
  ["#", "111111111010"],
  [">", "111111111011"],
  [0, "1111111111000"],
  ["~", "1111111111101"],
  ["^", "11111111111100"],
  ["<", "111111111111100"],
  ["{", "111111111111110"],
  ["\\", "1111111111111110000"],
  [128, "11111111111111100110"],
  [153, "111111111111111011100"],
  [129, "1111111111111111010010"],
  [1, "11111111111111111011000"],
  [9, "111111111111111111101010"],
  [199, "1111111111111111111101100"],
  [192, "11111111111111111111100000"],
  [203, "111111111111111111111011110"],
  [2, "1111111111111111111111100010"],
  [10, "111111111111111111111111111100"],
  [22, "111111111111111111111111111110"],
];

Deno.test("huffmanEncode writes the codes of RFC 7541 Appendix B, filled up with ones", () => {
  for (const [symbol, bits] of CODES) {
    const text = typeof symbol === "string" ? symbol : String.fromCharCode(symbol);
    const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
    const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2));
    assertEquals([...encode(text)], bytes, JSON.stringify(text));
  }
});

Deno.test("huffmanDecode gives back every byte, alone and beside every other", () => {
  for (let a = 0; a < 256; a++) {
    assertRoundTrip(String.fromCharCode(a));
    for (let b = 0; b < 256; b++) assertRoundTrip(String.fromCharCode(a, b));
  }
});

Deno.test("huffmanDecode gives back random strings", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = rng(seed);
    const printable = random() < 0.5;
    const length = Math.floor(random() * 80);
    const text = Array.from(
      { length },
      () =>
        String.fromCharCode(
          printable ? 32 + Math.floor(random() * 95) : Math.floor(random() * 256),
        ),
    );
    assertRoundTrip(text.join(""), `seed ${seed}`);
  }
});

Deno.test("huffmanDecode agrees with a decoder that tries one bit after another", () => {
  const bySymbol = codes();
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = rng(seed);
    const length = Math.floor(random() * 10);
    // Codes begin with ones; so more of those reach more of them.
    const bytes = Uint8Array.from(
      { length },
      () => random() < 0.6 ? 0xff : Math.floor(random() * 256),
    );
    assertEquals(decode(bytes), slowDecode(bytes, bySymbol), `seed ${seed}: ${bytes}`);
  }
});

Deno.test("huffmanDecode agrees with it about every input of one byte, of two, and of three that end alike", () => {
  const bySymbol = codes();
  for (let value = 0; value < 65_536; value++) {
    const [high, low] = [value >>> 8, value & 0xff];
    for (const bytes of [[low], [high, low], [0x00, high, low]].slice(high === 0 ? 0 : 1)) {
      const input = Uint8Array.from(bytes);
      if (decode(input) !== slowDecode(input, bySymbol)) fail(`${bytes}: ${decode(input)}`);
    }
  }
});

Deno.test("huffmanDecode takes up to seven bits of padding, all ones", () => {
  assertEquals(decode(hex("")), "");
  assertEquals(decode(hex("f8")), "&"); // eight bits: no padding
  assertEquals(decode(hex("07")), "0"); // 00000 and three ones
  assertEquals(decode(hex("07 ff")), undefined, "eleven bits of padding");
  assertEquals(decode(hex("ff")), undefined, "eight bits of padding and nothing else");
  assertEquals(decode(hex("f8 ff")), undefined, "eight bits of padding after a symbol");
  assertEquals(decode(hex("ff ff ff")), undefined, "three bytes of ones");
  for (const padding of ["000", "001", "010", "011", "100", "101", "110"]) {
    const byte = parseInt(`00000${padding}`, 2);
    assertEquals(decode(Uint8Array.of(byte)), undefined, `padding ${padding}`);
  }
});

Deno.test("huffmanDecode refuses EOS, at the end and before something", () => {
  assertEquals(decode(hex("ff ff ff ff")), undefined, "EOS and two bits");
  assertEquals(decode(hex("07 ff ff ff ff")), undefined, "a zero, then EOS");
  assertEquals(decode(hex("ff ff ff fc 1f")), undefined, "EOS, then a zero");
});

Deno.test("huffmanDecode refuses a code that is cut off", () => {
  const bytes = encode("\n"); // 30 bits
  for (let length = 1; length < bytes.length; length++) {
    assertEquals(decode(bytes.subarray(0, length)), undefined, `${length} bytes`);
  }
});

Deno.test("huffmanDecode reads only its range", () => {
  const bytes = hex("00  f8  00");
  const target = new Uint8Array(8);
  assertEquals(huffmanDecode(bytes, 1, 2, target), 1);
  assertEquals(target[0], 0x26);
});

function assertRoundTrip(text: string, message = ""): void {
  assertEquals(decode(encode(text)), text, `${message} ${JSON.stringify(text)}`);
}

function encode(text: string): Uint8Array {
  const length = huffmanLength(text);
  const target = new Uint8Array(length + 1).fill(0xa5);
  huffmanEncode(text, target, 0);
  assertEquals(target[length], 0xa5, "wrote beyond what huffmanLength said");
  return target.subarray(0, length);
}

function decode(bytes: Uint8Array): string | undefined {
  const target = new Uint8Array(2 * bytes.length);
  const written = huffmanDecode(bytes, 0, bytes.length, target);
  return written < 0 ? undefined : latin1(target, 0, written);
}

function toBits(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
}

/** The bits of one symbol, counted over eight of them, which end at a byte. */
function codeBits(text: string): number {
  return huffmanLength(text.repeat(8));
}

/** Which symbol has a code, found by encoding it. */
function codes(): Map<string, number> {
  const bySymbol = new Map<string, number>();
  for (let symbol = 0; symbol < 256; symbol++) {
    const text = String.fromCharCode(symbol);
    // What comes after it in the last byte is padding.
    bySymbol.set(toBits(encode(text)).slice(0, codeBits(text)), symbol);
  }
  assertEquals(bySymbol.size, 256);
  return bySymbol;
}

function slowDecode(bytes: Uint8Array, bySymbol: Map<string, number>): string | undefined {
  let text = "";
  let code = "";
  for (const bit of toBits(bytes)) {
    code += bit;
    const symbol = bySymbol.get(code);
    if (symbol === undefined) continue;
    text += String.fromCharCode(symbol);
    code = "";
  }
  return code.length < 8 && !code.includes("0") ? text : undefined;
}
