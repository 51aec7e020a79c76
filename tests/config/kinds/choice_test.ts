import { assertEquals } from "@std/assert";
import { BOOLEAN, oneOf } from "../../../lib/config/kinds/choice.ts";

Deno.test("BOOLEAN reads what Go reads, in any case", () => {
  for (const text of ["1", "t", "T", "TRUE", "true", "True", "tRuE"]) {
    assertEquals(BOOLEAN.parse(text), { value: true }, text);
  }
  for (const text of ["0", "f", "F", "FALSE", "false", "False"]) {
    assertEquals(BOOLEAN.parse(text), { value: false }, text);
  }
  for (const text of ["", "yes", "on", "perhaps", "2", "constructor"]) {
    assertEquals(BOOLEAN.parse(text), { why: "expected true or false" }, text);
  }
  assertEquals([BOOLEAN.show(true), BOOLEAN.show(false)], ["true", "false"]);
});

Deno.test("oneOf reads its words and aliases in any case and offers the words alone", () => {
  const level = oneOf(["debug", "info", "warn"], new Map([["warning", "warn"]]));
  assertEquals(level.parse("INFO"), { value: "info" });
  assertEquals(level.parse("Warning"), { value: "warn" });
  for (const text of ["", "loud", "toString"]) {
    assertEquals(level.parse(text), { why: "expected debug, info or warn" }, text);
  }
  assertEquals(level.show("warn"), "warn");
  assertEquals(level.placeholder, "debug|info|warn");
});
