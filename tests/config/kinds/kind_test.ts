import { assertEquals } from "@std/assert";
import { optional } from "../../../lib/config/kinds/kind.ts";
import { count } from "../../../lib/config/kinds/number.ts";

Deno.test("optional takes no text as a value and leaves the rest to the kind", () => {
  const kind = optional(count({ min: 1 }));
  assertEquals(kind.parse(""), { value: undefined });
  assertEquals(kind.parse("2"), { value: 2 });
  assertEquals(kind.parse("0"), { why: "expected a whole number of at least 1" });
  assertEquals([kind.show(undefined), kind.show(2), kind.placeholder], ["", "2", "COUNT"]);
});
