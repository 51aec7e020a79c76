import { assert, assertEquals, assertThrows } from "@std/assert";
import { formatTimeout, MALFORMED_TIMEOUT, parseTimeout } from "../../lib/grpc/mod.ts";
import { rng } from "../support/cuts.ts";

const GRAMMAR = /^[0-9]{1,8}[HMSmun]$/;

Deno.test("parseTimeout reads each unit as milliseconds", () => {
  for (
    const [text, timeoutMs] of [
      ["2H", 7_200_000],
      ["3M", 180_000],
      ["1S", 1_000],
      ["250m", 250],
      ["1500u", 1.5],
      ["1n", 0.000001],
      ["007m", 7],
      ["99999999H", 359_999_996_400_000],
      ["99999999M", 5_999_999_940_000],
      ["99999999S", 99_999_999_000],
      ["99999999m", 99_999_999],
      ["99999999u", 99_999.999],
      ["99999999n", 99.999999],
    ] as const
  ) assertEquals(parseTimeout(text), timeoutMs, text);
});

Deno.test("parseTimeout reads zero as already expired, in every unit", () => {
  for (const text of ["0H", "0M", "0S", "0m", "0u", "0n", "00000000m"]) {
    assertEquals(parseTimeout(text), 0, text);
  }
});

Deno.test("parseTimeout returns MALFORMED_TIMEOUT for everything outside the grammar", () => {
  const malformed = [
    "",
    "S",
    "m",
    "10",
    "1",
    "5s",
    "5h",
    "5N",
    "5U",
    "-5S",
    "+5S",
    " 5S",
    "5S ",
    "5 S",
    "5mS",
    "5ms",
    "1e3m",
    "1.5S",
    "0x1m",
    "123456789m",
    "000000001m",
    "m5",
    "５S",
    "5µ",
    "/m",
    ":m",
    "NaNm",
  ];
  for (const text of malformed) {
    assertEquals(parseTimeout(text), MALFORMED_TIMEOUT, JSON.stringify(text));
  }
});

Deno.test("parseTimeout accepts of all characters in each place only those of the grammar", () => {
  for (let code = 0; code < 0x180; code++) {
    const character = String.fromCharCode(code);
    for (const text of [`${character}m`, `1${character}m`, `${character}1m`, `1${character}`]) {
      assertEquals(parseTimeout(text) !== MALFORMED_TIMEOUT, GRAMMAR.test(text), text);
    }
  }
});

Deno.test("formatTimeout writes the shortest form that is exact or nearly so", () => {
  for (
    const [timeLeftMs, text] of [
      [7_200_000, "2H"],
      [180_000, "3M"],
      [5_000, "5S"],
      [90_000, "90S"],
      [250, "250m"],
      [3_600_001, "3600001m"],
      [4_999.73, "4999m"],
      [1_000.5, "1S"],
      [999.5, "999500u"],
      [1.5, "1500u"],
      [1.0000001, "1000u"],
      [0.25, "250u"],
      [0.001, "1u"],
      [0.0015, "1500n"],
      [0.999999, "999999n"],
      [0.000001, "1n"],
    ] as const
  ) assertEquals(formatTimeout(timeLeftMs), text, String(timeLeftMs));
});

Deno.test("formatTimeout stays within eight digits by taking a coarser unit", () => {
  for (
    const [timeLeftMs, text] of [
      [99_999_999, "99999999m"],
      [99_999_999.9, "99999999m"],
      [100_000_001, "100000S"],
      [99_999_999_001, "99999999S"],
      [100_000_000_000 + 1_000, "1666666M"],
      [5_999_999_940_000, "99999999M"],
      [6_000_000_060_000, "1666666H"],
      [359_999_996_400_000, "99999999H"],
      [360_000_000_000_000, "99999999H"],
      [Number.MAX_VALUE, "99999999H"],
      [Infinity, "99999999H"],
    ] as const
  ) assertEquals(formatTimeout(timeLeftMs), text, String(timeLeftMs));
});

Deno.test("formatTimeout writes 1n when nothing is left", () => {
  for (const timeLeftMs of [0, -0, -0.5, -7, -Infinity, 1e-7, Number.MIN_VALUE]) {
    assertEquals(formatTimeout(timeLeftMs), "1n", String(timeLeftMs));
  }
});

Deno.test("formatTimeout throws for NaN", () => {
  assertThrows(() => formatTimeout(NaN), RangeError, "Cannot write grpc-timeout");
});

Deno.test("formatTimeout never writes more than is left, and loses little", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = rng(seed);
    for (let i = 0; i < 200; i++) {
      // Any magnitude from one nanosecond to eleven hours.
      const timeLeftMs = 10 ** (random() * 13.6 - 6);
      const text = formatTimeout(timeLeftMs);
      const said = parseTimeout(text);
      const context = `seed ${seed}: ${timeLeftMs} as ${text}`;
      assert(GRAMMAR.test(text), context);
      assert(said > 0 && said <= timeLeftMs, context);
      // Below a microsecond the grammar itself has no thousandths.
      const lostMs = timeLeftMs - said;
      assert(lostMs < Math.max(timeLeftMs / 1000, 0.000001) && lostMs < 1, context);
    }
  }
});

Deno.test("formatTimeout keeps what parseTimeout read of whole microseconds up to a second", () => {
  const changed: string[] = [];
  for (let micros = 1; micros < 1_000_000; micros++) {
    const timeoutMs = parseTimeout(`${micros}u`);
    if (parseTimeout(formatTimeout(timeoutMs)) !== timeoutMs) changed.push(`${micros}u`);
  }
  assertEquals(changed, []);
});

Deno.test("formatTimeout floors where the product with the unit rounds up", () => {
  // One bit below 1117 and 5: times the unit they are whole, yet that whole is more than is left.
  assertEquals(formatTimeout(0.0000049999999999999996), "4n");
  const timeLeftMs = 1.1169999999999998;
  assert(timeLeftMs < parseTimeout("1117u"));
  assertEquals(formatTimeout(timeLeftMs), "1116u");
});
