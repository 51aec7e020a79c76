import { assert, assertEquals } from "@std/assert";
import { readEnvironment } from "../../lib/config/environment.ts";

const NAME = "COLLAPSER_ENVIRONMENT_TEST";

Deno.test("readEnvironment gives values and names", () => {
  Deno.env.set(NAME, "1");
  try {
    const { get, names } = readEnvironment();
    assertEquals(get(NAME), "1");
    assertEquals(get(`${NAME}_UNSET`), undefined);
    assert(names.includes(NAME));
  } finally {
    Deno.env.delete(NAME);
  }
});

Deno.test({
  name: "readEnvironment lists no names where only some variables may be read",
  permissions: { env: [NAME] },
  fn() {
    const { get, names } = readEnvironment();
    assertEquals([get(NAME), names], [undefined, []]);
  },
});
