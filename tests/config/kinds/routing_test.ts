import { assertEquals } from "@std/assert";
import { ROUTING } from "../../../lib/config/kinds/routing.ts";

Deno.test("ROUTING reads each way and shows it again", () => {
  const cases = {
    "key": { by: "key" },
    "Round-Robin": { by: "round-robin" },
    "least-loaded": { by: "least-loaded" },
    "header:X-Shard": { by: "header", name: "x-shard" },
  } as const;
  for (const [text, value] of Object.entries(cases)) {
    assertEquals(ROUTING.parse(text), { value }, text);
    assertEquals(ROUTING.show(value), text.toLowerCase());
  }
});

Deno.test("ROUTING refuses other words and a header without a name", () => {
  for (const text of ["", "anywhere", "header", "header:", "header: ", "header:a b"]) {
    assertEquals(ROUTING.parse(text), {
      why: "expected key, header:NAME, round-robin or least-loaded",
    }, text);
  }
});
