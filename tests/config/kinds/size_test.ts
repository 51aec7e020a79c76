import { assertEquals } from "@std/assert";
import { SIZE } from "../../../lib/config/kinds/size.ts";

Deno.test("SIZE reads plain bytes, decimal and binary units", () => {
  const cases = {
    "0": 0,
    "1": 1,
    "512B": 512,
    "1KB": 1_000,
    "1MB": 1_000_000,
    "2GB": 2_000_000_000,
    "64KiB": 65_536,
    "1MiB": 1_048_576,
    "64 MiB": 67_108_864,
    "1GiB": 1_073_741_824,
    "1gib": 1_073_741_824,
  };
  for (const [text, bytes] of Object.entries(cases)) {
    assertEquals(SIZE.parse(text), { value: bytes }, text);
  }
});

Deno.test("SIZE refuses other units, fractions, signs and more than can be counted", () => {
  const bad = ["", "10k", "10Ki", "1.5MiB", "-1", "+1", "MiB", "1 2", "64Mouse", "1TiB"];
  for (const text of [...bad, "none", "1none", "9007199254740992", "99999999GiB"]) {
    assertEquals(SIZE.parse(text), {
      why: "expected a size such as 64KiB, 1MiB or plain bytes",
    }, text);
  }
});

Deno.test("SIZE shows the largest unit that divides the bytes", () => {
  for (const text of ["0", "1", "1000", "1023", "1KiB", "1025", "4MiB", "64MiB", "3GiB"]) {
    const parsed = SIZE.parse(text);
    assertEquals("value" in parsed && SIZE.show(parsed.value), text);
  }
});
