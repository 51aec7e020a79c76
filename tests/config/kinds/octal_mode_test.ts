import { assertEquals } from "@std/assert";
import { OCTAL_MODE } from "../../../lib/config/kinds/octal_mode.ts";

Deno.test("OCTAL_MODE reads three octal digits, with a 0 before them or not, and shows four", () => {
  const cases = { "0660": 0o660, "660": 0o660, "0000": 0, "007": 7, "0777": 0o777 };
  for (const [text, value] of Object.entries(cases)) {
    assertEquals(OCTAL_MODE.parse(text), { value }, text);
  }
  assertEquals([0o660, 0o7, 0].map(OCTAL_MODE.show), ["0660", "0007", "0000"]);
});

Deno.test("OCTAL_MODE refuses everything else", () => {
  const why = "expected an octal mode from 0000 to 0777, such as 0660";
  for (const text of ["", "66", "0668", "1660", "00660", "0o660", "rw-rw----", "-660", "660 "]) {
    assertEquals(OCTAL_MODE.parse(text), { why }, text);
  }
});
