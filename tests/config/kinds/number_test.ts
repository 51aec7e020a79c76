import { assertEquals } from "@std/assert";
import { count, ENTRIES, HALF_RATIO, PORT, RATIO } from "../../../lib/config/kinds/number.ts";

Deno.test("PORT reads 0 to 65535", () => {
  for (const text of ["0", "1", "50052", "65535"]) {
    assertEquals(PORT.parse(text), { value: Number(text) });
  }
  for (
    const text of ["", "-1", "65536", "99999", "1.5", "0x10", "http", "1e3", "tcp://10.0.0.1:1"]
  ) {
    assertEquals(PORT.parse(text), { why: "expected a port from 0 to 65535" }, text);
  }
});

Deno.test("count keeps its bounds and names them", () => {
  assertEquals(count({ min: 1 }).parse("1"), { value: 1 });
  assertEquals(count({ min: 1 }).parse("0"), { why: "expected a whole number of at least 1" });
  assertEquals(count({ min: 1, max: 8 }).parse("8"), { value: 8 });
  assertEquals(count({ min: 1, max: 8 }).parse("9"), {
    why: "expected a whole number from 1 to 8",
  });
  for (const text of ["", "ten", "1_000", "+1", "9007199254740992"]) {
    assertEquals("why" in count({ min: 0 }).parse(text), true, text);
  }
});

Deno.test("ENTRIES reads 0 as no bound of its own, like the original", () => {
  assertEquals(ENTRIES.parse("0"), { value: Infinity });
  assertEquals(ENTRIES.parse("10000"), { value: 10_000 });
  assertEquals(ENTRIES.parse("-1"), { why: "expected a whole number of at least 0" });
  assertEquals([ENTRIES.show(Infinity), ENTRIES.show(7)], ["0", "7"]);
});

Deno.test("RATIO reads 0 to 1", () => {
  const cases = { "0": 0, "1": 1, "0.01": 0.01, ".5": 0.5, "1.0": 1, "1.": 1 };
  for (const [text, value] of Object.entries(cases)) {
    assertEquals(RATIO.parse(text), { value }, text);
  }
  for (const text of ["", ".", "1.01", "2", "-0.1", "1%", "1e-3", "NaN"]) {
    assertEquals(RATIO.parse(text), { why: "expected a share from 0 to 1, such as 0.01" }, text);
  }
  assertEquals(RATIO.show(0.01), "0.01");
});

Deno.test("HALF_RATIO takes a share up to a half", () => {
  assertEquals(HALF_RATIO.parse("0.5"), { value: 0.5 });
  assertEquals(HALF_RATIO.parse("0"), { value: 0 });
  for (const text of ["0.51", "1", "-0.1", "x"]) {
    assertEquals(HALF_RATIO.parse(text), { why: "expected a share from 0 to 0.5, such as 0.1" });
  }
});
