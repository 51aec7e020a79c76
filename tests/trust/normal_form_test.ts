import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { compileIgnoredFields, FIELD_WORK, normalForm } from "../../lib/trust/mod.ts";
import {
  changedOnce,
  encode,
  entries,
  type Field,
  randomFields,
  rng,
  shuffled,
} from "./messages.ts";

const SEEDS = 500;

function sorted(bytes: Uint8Array, ignore: readonly string[] = []): Uint8Array | undefined {
  return normalForm(bytes, { order: "sorted", ignored: compileIgnoredFields(ignore).ignored });
}

Deno.test("normalForm is the same for every order of the same fields at every depth", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = rng(seed);
    const fields = randomFields(random);
    const form = sorted(encode(fields));
    assert(form !== undefined, `seed ${seed}`);
    assertEquals(sorted(encode(shuffled(fields, random))), form, `seed ${seed}`);
  }
});

Deno.test("normalForm is another for every message of which one value is another", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = rng(seed);
    const fields = randomFields(random);
    const other = shuffled(changedOnce(fields, random), random);
    assertNotEquals(sorted(encode(other)), sorted(encode(fields)), `seed ${seed}`);
  }
});

Deno.test("normalForm takes values that changed fields for others", () => {
  const one = encode([[1, "Jane Doe"], [2, "John Roe"]]);
  assertNotEquals(sorted(encode([[2, "Jane Doe"], [1, "John Roe"]])), sorted(one));
});

Deno.test("normalForm counts how often a value stands", () => {
  assertNotEquals(
    sorted(encode([[1, "a"], [1, "a"], [1, "b"]])),
    sorted(encode([[1, "a"], [1, "b"], [1, "b"]])),
  );
});

Deno.test("normalForm does not mistake what is one level deeper for what is not", () => {
  const flat: Field[] = [[1, 5], [2, [[1, 6]]]];
  assertNotEquals(sorted(encode([[2, [[1, 5], [1, 6]]]])), sorted(encode(flat)));
});

Deno.test("normalForm leaves letters of a text in their places, protobuf though they may be", () => {
  // "(x" is also field 5, varint 120: without a schema an exchange would be a reordering.
  assertNotEquals(sorted(encode([[1, "(x(y"], [2, 1]])), sorted(encode([[1, "(y(x"], [2, 1]])));
  const bare = (text: string) => sorted(new TextEncoder().encode(text));
  assertEquals(bare("(x(y"), undefined);
});

Deno.test("normalForm reads a list of long texts in a message of its own", () => {
  const ids = ["0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"];
  const list = (texts: string[]) => encode([[3, texts.map((id): Field => [1, id])], [1, 1]]);
  assertEquals(sorted(list(ids)), sorted(list(ids.toReversed())));
});

Deno.test("normalForm with order kept sees a reordering", () => {
  const form = (keys: string[]) => normalForm(encode(entries(1, keys)), { order: "kept" });
  assertNotEquals(form(["a", "b"]), form(["b", "a"]));
  assertEquals(form(["a", "b"]), form(["a", "b"]));
});

Deno.test("normalForm leaves out ignored fields, in every value of a repeated one, and only those", () => {
  const thing = (stamp: string, name: string): Field[] => [[3, [[1, stamp], [2, name]]]];
  const list = (stamp: string, name: string) =>
    encode([...thing(stamp, name), ...thing(`${stamp}'`, name)]);
  assertEquals(sorted(list("now", "x"), ["3.1"]), sorted(list("then", "x"), ["3.1"]));
  assertNotEquals(sorted(list("now", "x"), ["3.1"]), sorted(list("now", "y"), ["3.1"]));
  assertNotEquals(sorted(list("now", "x"), ["1"]), sorted(list("then", "x"), ["1"]));
});

Deno.test("normalForm looks for an ignored field in what could be text as well", () => {
  const looksLikeText = (stamp: string) => encode([[3, [[4, stamp.padEnd(40)]]], [1, 1]]);
  assertEquals(sorted(looksLikeText("now"), ["3.4"]), sorted(looksLikeText("then"), ["3.4"]));
});

Deno.test("normalForm is undefined of what is no message, cut anywhere within a field", () => {
  const whole = encode([[1, [[1, 1]]]]);
  for (let length = 1; length < whole.length; length++) {
    assertEquals(sorted(whole.subarray(0, length)), undefined, `${length} bytes`);
  }
});

Deno.test("normalForm never throws, whatever the bytes", () => {
  const random = rng(7);
  for (let i = 0; i < 5_000; i++) {
    const bytes = Uint8Array.from({ length: Math.floor(random() * 64) }, () => random() * 256);
    sorted(bytes);
    sorted(bytes, ["1.1", "2"]);
  }
});

Deno.test("normalForm refuses a message over its bytes and reads one at them", () => {
  const bytes = encode([[1, 1], [2, 2]]);
  const limits = { maxBytes: bytes.length, maxDepth: 4, maxWork: 1_000 };
  assert(normalForm(bytes, { order: "sorted", limits }) !== undefined);
  const less = { ...limits, maxBytes: bytes.length - 1 };
  assertEquals(normalForm(bytes, { order: "sorted", limits: less }), undefined);
});

Deno.test("normalForm refuses a message over its work and reads one at it", () => {
  const bytes = encode([[1, 1], [2, 2]]);
  const limits = { maxBytes: 100, maxDepth: 4, maxWork: bytes.length + 2 * FIELD_WORK };
  assert(normalForm(bytes, { order: "sorted", limits }) !== undefined);
  const less = { ...limits, maxWork: limits.maxWork - 1 };
  assertEquals(normalForm(bytes, { order: "sorted", limits: less }), undefined);
});

Deno.test("normalForm compares what lies past its depth by its bytes", () => {
  const nested = (keys: string[]) => encode([[1, [[2, entries(3, keys)]]]]);
  const form = (keys: string[], maxDepth: number) =>
    normalForm(nested(keys), {
      order: "sorted",
      limits: { maxBytes: 1_000, maxDepth, maxWork: 10_000 },
    });
  assertEquals(form(["a", "b"], 3), form(["b", "a"], 3));
  assertNotEquals(form(["a", "b"], 2), form(["b", "a"], 2));
  assertEquals(form(["a", "b"], 2), form(["a", "b"], 2));
});

Deno.test("normalForm is bounded for a message that is nested as deep as its bytes allow", () => {
  let bytes: Uint8Array = encode([[1, 1]]);
  while (bytes.length < 2_000) bytes = encode([[1, bytes]]);
  assert(sorted(bytes) !== undefined);
});
