import { assertEquals } from "@std/assert";
import { HEADER_NAMES, METADATA } from "../../../lib/config/kinds/header_names.ts";

Deno.test("HEADER_NAMES lowers, trims, drops empty entries and repetitions", () => {
  assertEquals(HEADER_NAMES.parse(" Authorization, x-tenant,,authorization ,"), {
    value: ["authorization", "x-tenant"],
  });
  assertEquals(HEADER_NAMES.parse(""), { value: [] });
  assertEquals(HEADER_NAMES.show(["a", "b"]), "a,b");
});

Deno.test("HEADER_NAMES refuses what is no name, patterns, and a list of nothing", () => {
  const cases = {
    "x tenant": '"x tenant" is not a metadata name',
    "a,:path": '":path" is not a metadata name',
    "x-team-*": '"x-team-*" is not a metadata name',
    "caf\u00e9": '"caf\u00e9" is not a metadata name',
    ",": "expected metadata names separated by commas",
  };
  for (const [text, why] of Object.entries(cases)) {
    assertEquals(HEADER_NAMES.parse(text), { why }, text);
  }
});

Deno.test("METADATA splits at the first equals sign", () => {
  assertEquals(METADATA.parse("X-Tenant=a=b"), { value: ["x-tenant", "a=b"] });
  assertEquals(METADATA.parse("x-empty="), { value: ["x-empty", ""] });
  assertEquals(METADATA.show(["a", "b"]), "a=b");
  for (const text of ["", "x-tenant", "=a", "a b=c"]) {
    assertEquals(METADATA.parse(text), { why: "expected metadata such as x-tenant=a" }, text);
  }
});
