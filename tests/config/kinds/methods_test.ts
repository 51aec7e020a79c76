import { assertEquals } from "@std/assert";
import { METHOD, METHODS } from "../../../lib/config/kinds/methods.ts";

const FORM = "expected auto, schema, *, /pkg.Service/Method or /pkg.Service/*";

Deno.test("METHODS keeps the entries in order, trimmed, base words in lower case", () => {
  const cases = {
    "auto": ["auto"],
    "AUTO": ["auto"],
    "schema": ["schema"],
    "*": ["*"],
    "*,!/a.B/C": ["*", "!/a.B/C"],
    "Auto, !/a.B/C, !/a.D/*": ["auto", "!/a.B/C", "!/a.D/*"],
    "/a.B/C": ["/a.B/C"],
    "/a.B/*,!/a.B/C,,/x.Y/Say,": ["/a.B/*", "!/a.B/C", "/x.Y/Say"],
    "!/a.B/C,/a.B/*": ["!/a.B/C", "/a.B/*"],
    "/deep/path/Method": ["/deep/path/Method"],
  };
  for (const [text, value] of Object.entries(cases)) {
    assertEquals(METHODS.parse(text), { value }, text);
  }
  assertEquals(METHODS.show(["auto", "!/a.B/C"]), "auto,!/a.B/C");
});

Deno.test("METHODS says what is wrong with a list", () => {
  const cases = {
    "": FORM,
    ",": FORM,
    "all": FORM,
    "a.B/C": FORM,
    "/a.B": FORM,
    "/a.B/": FORM,
    "/a.B/Get*": FORM,
    "!!/a.B/C": FORM,
    "!auto": FORM,
    "/a.B/C,auto": `"auto" in it: ${FORM}`,
    "auto,schema": `"schema" in it: ${FORM}`,
    "/a.B/C,/a B/D": `"/a B/D" in it: ${FORM}`,
    "*,/a.B/C": "only exclusions such as !/pkg.Service/Method may follow *",
    "!/a.B/C": "exclusions alone select nothing; expected auto or * before them",
  };
  for (const [text, why] of Object.entries(cases)) {
    assertEquals(METHODS.parse(text), { why }, text);
  }
});

Deno.test("METHOD reads one path", () => {
  assertEquals(METHOD.parse("/a.B/C"), { value: "/a.B/C" });
  for (const text of ["", "a.B/C", "/a.B/*", "!/a.B/C"]) {
    assertEquals(METHOD.parse(text), { why: "expected /pkg.Service/Method" }, text);
  }
  assertEquals(METHOD.show("/a.B/C"), "/a.B/C");
});

Deno.test("METHODS takes additions beside auto and schema", () => {
  for (const text of ["auto,/a.B/C,!/a.B/D", "schema,/a.B/*"]) {
    assertEquals(METHODS.parse(text), { value: text.split(",") });
  }
});
