import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { hash } from "node:crypto";
import {
  bodyKey,
  compileKeyPolicy,
  headKey,
  isKeyMetadata,
  type KeyCodec,
  pathInKey,
} from "../../lib/collapse/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { ascii, pattern } from "../support/frames.ts";

/** A message of more bytes is keyed by its digest. */
const MAX_INLINE_BYTES = 2_048;

type Pair = readonly [name: string, value: string];

/** A usual head. */
const HEAD: readonly Pair[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a.S/GetItem"],
  [":authority", "service.test"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
  ["user-agent", "grpc-node/1.2"],
];

const byDefault = compileKeyPolicy({ keyHeaders: undefined, ignoreHeaders: [] });

const CODEC: KeyCodec = {
  latin1,
  digest: (bytes) => hash("sha256", bytes, "base64"),
  digestText: (text) => hash("sha256", text, "base64"),
};

function key(
  pairs: readonly Pair[],
  { inKey = byDefault, identity = "" }: { inKey?: (name: string) => boolean; identity?: string } =
    {},
): string {
  return headKey(pairs.map(([name, value]) => ({ name, value })), {
    inKey,
    identity,
    codec: CODEC,
  });
}

function withMore(...more: Pair[]): string {
  return key([...HEAD, ...more]);
}

/** Fails when two of them are the same; `keys` are by what they stand for. */
function assertDistinct(keys: readonly (readonly [what: string, key: string])[]): void {
  const seen = new Map<string, string>();
  for (const [what, text] of keys) {
    assertEquals(seen.get(text), undefined, `${what} has the same key`);
    seen.set(text, what);
  }
}

// ---- the head

Deno.test("headKey is the same for the same head, and for one that differs in what is ignored", () => {
  const usual = key(HEAD);
  assertEquals(key([...HEAD]), usual);
  const ignored: Pair[] = [
    ["grpc-timeout", "100m"],
    ["cache-control", "no-cache"],
    ["traceparent", "00-abc"],
    ["x-request-id", "1"],
    ["x-b3-traceid", "1"],
    ["x-datadog-parent-id", "1"],
    ["grpc-previous-rpc-attempts", "2"],
    ["x-collapser-debug", "1"],
    ["content-length", "17"],
  ];
  for (const pair of ignored) assertEquals(withMore(pair), usual, pair[0]);
  assertEquals(withMore(...ignored), usual);
  assertEquals(key(HEAD.filter(([name]) => name !== "te" && name !== "user-agent")), usual);
});

Deno.test("headKey tells apart heads that differ in any part", () => {
  assertDistinct([
    ["usual", key(HEAD)],
    ...[":path", ":authority", "content-type"].map((name) =>
      [name, key(HEAD.map(([n, v]) => [n, n === name ? `${v}x` : v]))] as const
    ),
    ["encoding", withMore(["grpc-encoding", "gzip"])],
    ["accept", withMore(["grpc-accept-encoding", "gzip"])],
    ["authorization", withMore(["authorization", "gzip"])],
    ["baggage", withMore(["baggage", "gzip"])],
    ["x-forwarded-for", withMore(["x-forwarded-for", "gzip"])],
    ["cookie", withMore(["cookie", "gzip"])],
    ["identity", key(HEAD, { identity: "gzip" })],
    ["a -bin name", withMore(["id-bin", "gzip"])],
  ]);
});

Deno.test("headKey tells an absent part from an empty one", () => {
  const without = (name: string) => key(HEAD.filter(([n]) => n !== name));
  assertDistinct([
    ["usual", key(HEAD)],
    ...[":path", ":authority", "content-type"].flatMap((name) =>
      [
        [`no ${name}`, without(name)],
        [`empty ${name}`, key(HEAD.map(([n, v]) => [n, n === name ? "" : v]))],
      ] as const
    ),
    ["empty encoding", withMore(["grpc-encoding", ""])],
    ["empty accept", withMore(["grpc-accept-encoding", ""])],
    ["empty authorization", withMore(["authorization", ""])],
    ["empty authorization twice", withMore(["authorization", ""], ["authorization", ""])],
  ]);
});

Deno.test("headKey tells apart where one part ends and the next begins", () => {
  const marks = [
    "",
    ":",
    "-",
    "0:",
    "1:a",
    "-0:",
    "1:",
    "a",
    "2:1:",
    "\u0000",
    ",",
    "10:aaaaaaaaaa",
  ];
  const keys: [string, string][] = [];
  for (const [i, a] of marks.entries()) {
    for (const [j, b] of marks.entries()) {
      const what = `${i} ${j}`;
      keys.push([`path ${what}`, key([[":path", a], [":authority", b]])]);
      keys.push([`type ${what}`, key([["content-type", a], ["grpc-encoding", b]])]);
      keys.push([`meta ${what}`, key([["x", a], ["x", b]])]);
      if (a !== "") keys.push([`name ${what}`, key([[`n${a}`, b]])]);
      keys.push([`identity ${what}`, key([["y", b]], { identity: `i${a}` })]);
    }
  }
  assertDistinct(keys);
});

Deno.test("headKey has no separator that a value could hold", () => {
  for (let code = 0; code < 256; code++) {
    const mark = String.fromCharCode(code);
    assertDistinct([
      [`${code} ends the path`, key([[":path", `a${mark}`], [":authority", "b"]])],
      [`${code} begins the authority`, key([[":path", "a"], [":authority", `${mark}b`]])],
      [`${code} ends a value`, key([["x", `a${mark}`], ["x", "b"]])],
      [`${code} begins the next`, key([["x", "a"], ["x", `${mark}b`]])],
    ]);
  }
});

Deno.test("headKey does not let a value pass for another name and its value", () => {
  assertDistinct([
    ["two", withMore(["a", "1"], ["b", "2"])],
    ["one that spells the other", withMore(["a", "11:b1:2"])],
    ["one", withMore(["a", "1"])],
    ["joined", withMore(["a", "1b2"])],
    ["comma", withMore(["a", "1,b=2"])],
    ["names and values swapped", withMore(["1", "a"], ["2", "b"])],
    ["values swapped", withMore(["a", "2"], ["b", "1"])],
  ]);
});

Deno.test("headKey does not mind the order of names, and does mind that of one name's values", () => {
  const pairs: Pair[] = [["b", "1"], ["a", "2"], ["c", "3"], ["b", "4"], ["a", "5"]];
  const expected = withMore(...pairs);
  assertEquals(withMore(["a", "2"], ["a", "5"], ["b", "1"], ["b", "4"], ["c", "3"]), expected);
  assertEquals(withMore(["c", "3"], ["b", "1"], ["b", "4"], ["a", "2"], ["a", "5"]), expected);
  assertEquals(
    key([...pairs, ...HEAD].toSorted(([a], [b]) => a < b ? 1 : a > b ? -1 : 0)),
    expected,
  );
  assertDistinct([
    ["in order", expected],
    ["a swapped", withMore(["b", "1"], ["a", "5"], ["c", "3"], ["b", "4"], ["a", "2"])],
    ["b swapped", withMore(["b", "4"], ["a", "2"], ["c", "3"], ["b", "1"], ["a", "5"])],
    ["a joined", withMore(["b", "1"], ["a", "2, 5"], ["c", "3"], ["b", "4"])],
  ]);
});

Deno.test("headKey is the same for every order that keeps the values of a name in theirs", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = rng(seed);
    const pairs: Pair[] = Array.from(
      { length: 12 },
      (_, i) => [`n${Math.floor(random() * 5)}`, `${i}`],
    );
    const queues = Map.groupBy(pairs, ([name]) => name);
    const mixed: Pair[] = [];
    while (queues.size > 0) {
      const names = [...queues.keys()];
      const name = names[Math.floor(random() * names.length)]!;
      const queue = queues.get(name)!;
      mixed.push(queue.shift()!);
      if (queue.length === 0) queues.delete(name);
    }
    assertEquals(key(mixed), key(pairs), `seed ${seed}`);
  }
});

Deno.test("headKey takes the accepted encodings as a set", () => {
  const accepting = (...values: string[]) =>
    withMore(...values.map((value): Pair => ["grpc-accept-encoding", value]));
  const expected = accepting("gzip,identity");
  for (
    const values of [
      ["identity,gzip"],
      ["gzip, identity"],
      [" identity ,\tgzip ,"],
      ["gzip,gzip,identity"],
      ["gzip", "identity"],
      ["identity", "gzip"],
      ["identity,gzip", "gzip"],
    ]
  ) assertEquals(accepting(...values), expected, values.join(" | "));
  assertDistinct([
    ["both", expected],
    ["gzip", accepting("gzip")],
    ["identity", accepting("identity")],
    ["three", accepting("gzip,identity,deflate")],
    ["none", accepting("")],
    ["absent", accepting()],
    ["one name", accepting("gzipidentity")],
    ["upper case", accepting("GZIP,identity")],
    ["the message's own", withMore(["grpc-encoding", "gzip,identity"])],
  ]);
});

Deno.test("headKey heeds both of a field that should stand once", () => {
  const names = [":path", ":authority", "content-type", "grpc-encoding"];
  for (const name of names) {
    const rest = HEAD.filter(([n]) => n !== name);
    assertDistinct([
      ["a", key([...rest, [name, "a"]])],
      ["b", key([...rest, [name, "b"]])],
      ["a b", key([...rest, [name, "a"], [name, "b"]])],
      ["b a", key([...rest, [name, "b"], [name, "a"]])],
      ["a a", key([...rest, [name, "a"], [name, "a"]])],
    ]);
  }
});

Deno.test("headKey keeps identities apart, and one from metadata that spells it", () => {
  assertDistinct([
    ["none", key(HEAD)],
    ["a", key(HEAD, { identity: "CN=a" })],
    ["b", key(HEAD, { identity: "CN=b" })],
    ["metadata", key([...HEAD, ["CN=a", ""]])],
    ["both", key([...HEAD, ["CN=a", ""]], { identity: "CN=a" })],
  ]);
});

Deno.test("headKey collides for no two of thousands of random heads that differ", () => {
  const random = rng(7);
  const alphabet = ["", "a", "b", "1", ":", "-", "1:", "a1"];
  const pick = () => alphabet[Math.floor(random() * alphabet.length)]!;
  const word = () => pick() + pick();
  const seen = new Map<string, string>();
  for (let i = 0; i < 20_000; i++) {
    const path = random() < 0.2 ? undefined : word();
    const identity = word();
    const pairs = Array.from(
      { length: Math.floor(random() * 4) },
      (): Pair => [`${word()}m`, word()],
    );
    const head: Pair[] = path === undefined ? pairs : [[":path", path], ...pairs];
    const sorted = pairs.toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    const meaning = JSON.stringify([path ?? null, identity, sorted]);
    const text = key(head, { identity });
    assertEquals(seen.get(text) ?? meaning, meaning, "two heads with one key");
    seen.set(text, meaning);
  }
  assertEquals(new Set(seen.values()).size, seen.size, "one head with two keys");
});

// ---- which metadata counts

Deno.test("compileKeyPolicy leaves out what says nothing about the question, and more by configuration", () => {
  const inKey = compileKeyPolicy({
    keyHeaders: undefined,
    ignoreHeaders: ["baggage", "authorization"],
  });
  for (const name of ["te", "traceparent", "x-b3-sampled", "baggage", "authorization"]) {
    assertEquals(inKey(name), false, name);
  }
  for (const name of ["x-forwarded-for", "cookie", "baggages", "x-tenant", "id-bin", "host"]) {
    assertEquals(inKey(name), true, name);
  }
});

Deno.test("compileKeyPolicy with key headers takes these alone", () => {
  const inKey = compileKeyPolicy({
    keyHeaders: ["authorization", "traceparent", "x-tenant"],
    ignoreHeaders: ["x-tenant"],
  });
  for (const name of ["authorization", "traceparent"]) assertEquals(inKey(name), true, name);
  for (const name of ["cookie", "x-tenant", "baggage", "", "te"]) {
    assertEquals(inKey(name), false, name);
  }
  assertEquals(compileKeyPolicy({ keyHeaders: [], ignoreHeaders: [] })("authorization"), false);
});

Deno.test("headKey with key headers tells callers apart by these alone, and requests as ever", () => {
  const inKey = compileKeyPolicy({ keyHeaders: ["authorization"], ignoreHeaders: [] });
  const usual = key(HEAD, { inKey });
  assertEquals(key([...HEAD, ["cookie", "a"]], { inKey }), usual);
  assertDistinct([
    ["usual", usual],
    ["authorization", key([...HEAD, ["authorization", "a"]], { inKey })],
    ["encoding", key([...HEAD, ["grpc-encoding", "gzip"]], { inKey })],
    ["accept", key([...HEAD, ["grpc-accept-encoding", "gzip"]], { inKey })],
    ["path", key(HEAD.map(([n, v]) => [n, n === ":path" ? "/b" : v]), { inKey })],
    ["authority", key(HEAD.map(([n, v]) => [n, n === ":authority" ? "b" : v]), { inKey })],
  ]);
});

Deno.test("isKeyMetadata is false for what stands in the key by itself or is the same in every call", () => {
  for (
    const name of [
      ":path",
      ":authority",
      ":method",
      ":scheme",
      "content-type",
      "content-length",
      "grpc-encoding",
      "grpc-accept-encoding",
    ]
  ) assertEquals(isKeyMetadata(name), false, name);
  for (const name of ["authorization", "x-path", "path", "grpc-timeout", "te", "host", ""]) {
    assertEquals(isKeyMetadata(name), true, name);
  }
});

// ---- the message

Deno.test("bodyKey is the bytes themselves up to the limit, and a digest beyond it", () => {
  const digests: number[] = [];
  const codec: KeyCodec = {
    latin1,
    digest(bytes) {
      digests.push(bytes.length);
      return "d";
    },
    digestText: () => "",
  };
  const bytes = pattern(MAX_INLINE_BYTES + 10);
  for (const length of [0, 1, 5, 100, MAX_INLINE_BYTES - 1, MAX_INLINE_BYTES]) {
    const text = bodyKey(bytes, 3, 3 + length, codec);
    assertEquals([...text].map((c) => c.charCodeAt(0)), [...bytes.subarray(3, 3 + length)]);
  }
  assertEquals(digests, []);
  bodyKey(bytes, 3, 3 + MAX_INLINE_BYTES + 1, codec);
  bodyKey(bytes, 0, bytes.length, codec);
  assertEquals(digests, [MAX_INLINE_BYTES + 1, MAX_INLINE_BYTES + 10]);
});

Deno.test("bodyKey digests exactly the bytes it is given", () => {
  const bytes = pattern(5_000);
  const copy = new Uint8Array(6_000);
  copy.set(bytes, 7);
  assertEquals(bodyKey(copy, 7, 5_007, CODEC), bodyKey(bytes, 0, 5_000, CODEC));
  for (const at of [7, 2_500, 5_006]) {
    const other = copy.slice();
    other[at]! ^= 1;
    assertNotEquals(bodyKey(other, 7, 5_007, CODEC), bodyKey(bytes, 0, 5_000, CODEC), `${at}`);
  }
  assertNotEquals(bodyKey(bytes, 0, 4_999, CODEC), bodyKey(bytes, 0, 5_000, CODEC));
});

Deno.test("bodyKey of a short message cannot imitate a long one's digest", () => {
  const long = pattern(5_000);
  const digest = bodyKey(long, 0, long.length, CODEC);
  const imitations = [
    ascii(digest.slice(1)),
    ascii(digest), // its first character loses what does not fit into a byte
    new TextEncoder().encode(digest),
    Uint8Array.from([...digest].flatMap((c) => [c.charCodeAt(0) >> 8, c.charCodeAt(0)])),
  ];
  for (const bytes of imitations) {
    assertNotEquals(bodyKey(bytes, 0, bytes.length, CODEC), digest);
  }
  assert(digest.charCodeAt(0) > 0xff, "no byte can be that character");
});

Deno.test("bodyKey tells every byte from every other, and the flag and length with them", () => {
  const keys: [string, string][] = [];
  for (let value = 0; value < 256; value++) {
    keys.push([`${value}`, bodyKey(Uint8Array.of(0, 0, 0, 0, 1, value), 0, 6, CODEC)]);
  }
  keys.push(["compressed", bodyKey(Uint8Array.of(1, 0, 0, 0, 1, 0), 0, 6, CODEC)]);
  keys.push(["longer", bodyKey(Uint8Array.of(0, 0, 0, 0, 2, 0, 0), 0, 7, CODEC)]);
  keys.push(["empty", bodyKey(Uint8Array.of(0, 0, 0, 0, 0), 0, 5, CODEC)]);
  assertDistinct(keys);
});

Deno.test("headKey makes of a long head its path and a digest, which no short head can be taken for", () => {
  const long = (value: string) => key([[":path", "/a.S/Get"], ["x-a", value.padEnd(3_000, "x")]]);
  assertEquals(long("1"), long("1"));
  assertNotEquals(long("1"), long("2"));
  assertEquals(long("1").length < 100, true);
  assertEquals(pathInKey(long("1")), "/a.S/Get");
  assertNotEquals(long("1"), key([[":path", long("1")]]));
  const path = `/a.S/${"G".repeat(3_000)}`;
  assertEquals(pathInKey(key([[":path", path]])), "");
  assertEquals(key([[":path", path]]).length < 100, true);
});
