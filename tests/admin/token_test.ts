import { assert, assertFalse } from "@std/assert";
import { isAuthorized } from "../../lib/admin/token.ts";

Deno.test("isAuthorized takes the token as a bearer, the scheme in any case, and nothing else", () => {
  for (const good of ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret"]) {
    assert(isAuthorized(good, "s3cret"), good);
  }
  const bad = [null, "", "s3cret", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crett"];
  for (
    const given of [...bad, "Bearer S3cret", "Basic s3cret", "Bearer s3cret x", "Bearer\ts3cret"]
  ) {
    assertFalse(isAuthorized(given, "s3cret"), String(given));
  }
});
