import { assert, assertEquals, assertFalse } from "@std/assert";
import { optionFor } from "../../lib/config/options.ts";
import { notYet, UNBUILT } from "../../lib/config/unbuilt.ts";
import { MINIMUM, problemsOf, read, settingsOf } from "./support.ts";

/** For each row a value that asks for it. A row that goes takes its line along. */
const ASKING: Readonly<Record<string, string>> = {
  COLLAPSER_STALE_DURATION: "1s",
  COLLAPSER_MODE: "shadow",
  COLLAPSER_VERIFY_RATIO: "1",
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

Deno.test("readSettings refuses each mode that is missing", () => {
  assertEquals(problemsOf({ COLLAPSER_MODE: "verify" }), [
    'Cannot use COLLAPSER_MODE "verify": this version does not have it yet; use collapse or off',
  ]);
});

Deno.test("readSettings takes the values of a half-built variable that are there", () => {
  const values = {
    COLLAPSER_STALE_DURATION: "0s",
    COLLAPSER_MODE: "off",
    COLLAPSER_VERIFY_RATIO: "0.01",
  };
  assert("settings" in read({ ...MINIMUM, ...values }));
});

Deno.test("notYet marks what is missing, wholly or in part", () => {
  for (const { env, values } of UNBUILT) {
    assertEquals(notYet(env), values === undefined ? "(not yet)" : `(not yet: ${values})`);
  }
  assertFalse(notYet("GRPC_PORT"));
});
