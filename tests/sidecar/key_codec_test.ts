import { assertEquals } from "@std/assert";
import { KEY_CODEC } from "../../lib/sidecar/key_codec.ts";

Deno.test("KEY_CODEC digests the bytes of a view, not those around it", () => {
  // SHA-256 of "abc" (FIPS 180-2, appendix B.1).
  const digest = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
  const around = new TextEncoder().encode("xabcx");
  assertEquals(KEY_CODEC.digest(around.subarray(1, 4)), digest);
});

Deno.test("KEY_CODEC has a character for each byte", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const text = KEY_CODEC.latin1(bytes, 0, 256);
  assertEquals(Array.from(text, (character) => character.charCodeAt(0)), [...bytes]);
});
