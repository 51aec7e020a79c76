import { assertEquals, assertFalse } from "@std/assert";
import { optionFor } from "../../lib/config/options.ts";
import { notYet, UNBUILT } from "../../lib/config/unbuilt.ts";
import { problemsOf, settingsOf } from "./support.ts";

/** For each row a value that asks for it. A row that goes takes its line along. */
const ASKING: Readonly<Record<string, string>> = {
  COLLAPSER_SHARED_CACHE: "redis://me:hunter2@cache",
};

Deno.test("UNBUILT leaves the defaults alone", () => {
  const settings = settingsOf();
  assertEquals(UNBUILT.filter(({ asks }) => asks(settings)), []);
});

for (const { env, instead } of UNBUILT) {
  Deno.test(`readSettings refuses ${env} where this version cannot do what it asks`, () => {
    const text = ASKING[env] ?? "";
    const quoted = optionFor(env).kind.secret ? env : `${env} "${text}"`;
    assertEquals(problemsOf({ [env]: text }), [
      `Cannot use ${quoted}: this version does not have it yet; ${instead}`,
    ]);
  });
}

Deno.test("notYet marks what is missing, wholly or in part", () => {
  for (const { env, values } of UNBUILT) {
    assertEquals(notYet(env), values === undefined ? "(not yet)" : `(not yet: ${values})`);
  }
  assertFalse(notYet("GRPC_PORT"));
});
