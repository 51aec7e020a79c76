import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { isClean, NameTraits } from "../../lib/wire/field.ts";
import { Field } from "../../lib/wire/mod.ts";
import { STATIC_TABLE } from "../../lib/wire/static_table.ts";
import { ascii, type Pairs } from "../support/frames.ts";

Deno.test("Field counts as RFC 7541 §4.1 says: name, value and 32", () => {
  assertEquals(new Field("custom-key", "custom-header").size, 55);
  assertEquals(new Field("x", "").size, 33);
});

Deno.test("Field finds its static entries, but none for a sensitive value", () => {
  const post = new Field(":method", "POST");
  assertEquals([post.staticIndex, post.staticName], [3, 2]);
  const put = new Field(":method", "PUT");
  assertEquals([put.staticIndex, put.staticName], [0, 2]);
  const secret = new Field(":method", "POST", { sensitive: true });
  assertEquals([secret.staticIndex, secret.staticName], [0, 2]);
  assertEquals(new Field("x-own", "").staticName, 0);
});

Deno.test("Field finds no fault with what is legal", () => {
  const legal: Pairs = [
    ...STATIC_TABLE.filter(([name]) => name !== "transfer-encoding"),
    ["te", "trailers"],
    [":authority", "[::1]:50052"],
    ["x-all-!#$%&'*+-.^_`|~09az", "value"],
    ["x", ""],
    ["x", "a b\tc"],
    ["x", "\x80\xff"],
    ["grpc-status-details-bin", "CAUSE+/="],
  ];
  for (const [name, value] of legal) {
    assertEquals(new Field(name, value).fault, "", `${name}: ${value}`);
  }
});

for (
  const [what, name, values] of [
    ["an upper-case name", "Grpc-status", ["0"]],
    ["an upper-case letter at the end of a name", "grpc-statuS", ["0"]],
    ["an empty name", "", ["x"]],
    ["a colon alone", ":", ["x"]],
    ["a colon within a name", "a:b", ["x"]],
    ["two colons", "::a", ["x"]],
    ["a blank in a name", "a b", ["x"]],
    ["a line break in a name", "a\n", ["x"]],
    ["NUL in a name", "a\0", ["x"]],
    ["a name beyond ASCII", "caf\xe9", ["x"]],
    ["DEL in a name", "a\x7f", ["x"]],
    ["a connection field", "connection", ["close", "", "keep-alive"]],
    ["a keep-alive field", "keep-alive", ["timeout=5"]],
    ["a proxy-connection field", "proxy-connection", ["keep-alive"]],
    ["a transfer-encoding field", "transfer-encoding", ["chunked"]],
    ["an upgrade field", "upgrade", ["h2c"]],
    ["te of other than trailers", "te", ["gzip", "", "trailers, gzip"]],
    ["a control in a value", "x", ["a\0b", "a\nb", "a\rb", "\x01", "a\x1f", "a\x7fb", "a\n"]],
  ] as const
) {
  Deno.test(`Field faults ${what} (RFC 9113 §8.2)`, () => {
    for (const value of values) {
      const { fault } = new Field(name, value);
      assert(fault !== "", JSON.stringify([name, value]));
      assertMatch(fault, /^[\x20-\x7e]+$/);
    }
  });
}

Deno.test("Field lets blanks at the ends of a value through, since gRPC leaves them in grpc-message", () => {
  for (const value of ["failed: ", " x", "a\t", " "]) {
    assertEquals(new Field("grpc-message", value).fault, "");
  }
});

Deno.test("Field takes the verdict on its name from traits that it is handed", () => {
  for (const name of ["grpc-timeout", "connection", "te", ":path", "Upper"]) {
    for (const value of ["", "/", "trailers", "a\nb"]) {
      const traits = new NameTraits(name);
      const { fault, staticIndex, staticName } = new Field(name, value, { traits });
      const alone = new Field(name, value);
      assertEquals(
        [fault, staticIndex, staticName],
        [alone.fault, alone.staticIndex, alone.staticName],
      );
    }
  }
});

Deno.test("Field made by hand is right about any number of names", () => {
  for (let i = 0; i < 2_000; i++) {
    assertEquals(new Field(`x-${i}`, "v").fault, "");
    assert(new Field(`X-${i}`, "v").fault !== "");
  }
  assertEquals(new Field(":path", "/").staticIndex, 4);
});

Deno.test("isClean agrees with Field about every byte, first, last and between", () => {
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code);
    for (const value of [byte, `${byte}a`, `a${byte}`, `a${byte}a`]) {
      const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
      assertEquals(isClean(bytes, 0, bytes.length), new Field("x", value).fault === "", `${code}`);
    }
  }
});

Deno.test("isClean looks at its range alone", () => {
  const bytes = ascii("\nab\n");
  assert(isClean(bytes, 1, 3));
  assert(isClean(bytes, 0, 0));
  assertFalse(isClean(bytes, 0, 3));
  assertFalse(isClean(bytes, 1, 4));
});
