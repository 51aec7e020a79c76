import { assert, assertEquals } from "@std/assert";
import { type CacheDirectives, parseCacheControl } from "../../lib/grpc/mod.ts";

const NOTHING: CacheDirectives = {
  isNoStore: false,
  isNoCache: false,
  isPrivate: false,
  isOnlyIfCached: false,
  maxAgeMs: Infinity,
  sharedMaxAgeMs: Infinity,
  isMustRevalidate: false,
  staleWhileRevalidateMs: Infinity,
  staleIfErrorMs: Infinity,
};

const MOST_MS = 2 ** 31 * 1_000;

function expectReading(
  cases: readonly (readonly [values: readonly string[], said: Partial<CacheDirectives>])[],
): void {
  for (const [values, said] of cases) {
    assertEquals(parseCacheControl(values), { ...NOTHING, ...said }, values.join(" | "));
  }
}

Deno.test("parseCacheControl reads each directive, in any case, with blanks, from several fields", () => {
  expectReading([
    [[], {}],
    [["no-store"], { isNoStore: true }],
    [["No-Cache"], { isNoCache: true }],
    [["PRIVATE"], { isPrivate: true }],
    [["only-if-cached"], { isOnlyIfCached: true }],
    [["max-age=5"], { maxAgeMs: 5_000 }],
    [["S-MaxAge=7"], { sharedMaxAgeMs: 7_000 }],
    [["  no-store\t,\t max-age = 5 ,,"], { isNoStore: true, maxAgeMs: 5_000 }],
    [["public, max-age=60, s-maxage=0"], { maxAgeMs: 60_000, sharedMaxAgeMs: 0 }],
    [["no-cache", "no-store", "max-age=1"], { isNoCache: true, isNoStore: true, maxAgeMs: 1_000 }],
    [["private; max-age=0"], { isPrivate: true, maxAgeMs: 0 }],
  ]);
});

Deno.test("parseCacheControl takes a directive with an argument that it has no use for as said of all", () => {
  expectReading([
    [['private="x-user, x-other"'], { isPrivate: true }],
    [["no-cache=set-cookie"], { isNoCache: true }],
    [["no-store="], { isNoStore: true }],
  ]);
});

Deno.test("parseCacheControl finds no directive in quotes or in a longer word", () => {
  expectReading([
    [['x="no-store"'], {}],
    [['x="a, no-store, b"'], {}],
    [['x="a\\", no-store, \\"b"'], {}],
    [['x="a;no-store"', 'y="', 'no-cache"'], {}],
    [["no-storey, xno-cache, no-cache-at-all, privately, x-max-age=1"], {}],
    [["no store, nocache"], {}],
    [['"no-store"'], {}],
  ]);
});

Deno.test("parseCacheControl lets a quote that nobody closes hide nothing, in no field", () => {
  expectReading([
    [['x="a, no-store'], { isNoStore: true }],
    [['x="\\", private'], { isPrivate: true }],
    [['x="', "no-store"], { isNoStore: true }],
    [['x="a", y="b, no-cache'], { isNoCache: true }],
  ]);
});

Deno.test("parseCacheControl reads whole seconds, quoted or not, and takes the smaller of two", () => {
  expectReading([
    [['max-age="7"'], { maxAgeMs: 7_000 }],
    [["max-age=007"], { maxAgeMs: 7_000 }],
    [["max-age=0"], { maxAgeMs: 0 }],
    [["max-age=5", "max-age=3, max-age=9"], { maxAgeMs: 3_000 }],
    [["s-maxage=3, max-age=x"], { sharedMaxAgeMs: 3_000 }],
    [[`max-age=${2 ** 31}, s-maxage=99999999999999999999`], {
      maxAgeMs: MOST_MS,
      sharedMaxAgeMs: MOST_MS,
    }],
  ]);
});

Deno.test("parseCacheControl ignores an age that is no number", () => {
  for (const age of ["", "=", "=-1", "=+1", "=1.5", "=1e3", "=0x1", "=x", '="5', "=5 s", "=٣"]) {
    expectReading([[[`max-age${age}`], {}], [[`s-maxage${age}`], {}]]);
  }
});

Deno.test("parseCacheControl takes a list too long to be read for no-store", () => {
  const longest = "a".repeat(4_096 - ",private".length) + ",private";
  expectReading([
    [[longest], { isPrivate: true }],
    [[longest, ""], { isNoStore: true }],
    [Array(4_097).fill(""), {}],
    [Array(4_098).fill(""), { isNoStore: true }],
  ]);
});

Deno.test("parseCacheControl reads a field full of open quotes once", () => {
  const steps = countedSteps('"\\'.repeat(2_048));
  assert(steps < 20_000, `${steps} characters looked at`);
});

/** How many characters of `text` are looked at; a string that counts stands in for it. */
function countedSteps(text: string): number {
  let steps = 0;
  const counting = new Proxy(Object(text), {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) steps++;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(text) : value;
    },
  }) as unknown as string;
  parseCacheControl([counting]);
  return steps;
}

Deno.test("parseCacheControl reads what is said of stale answers (RFC 5861, RFC 9111 §5.2.2)", () => {
  const read = (text: string) => {
    const { isMustRevalidate, staleWhileRevalidateMs } = parseCacheControl([text]);
    return [isMustRevalidate, staleWhileRevalidateMs];
  };
  assertEquals(read("max-age=1"), [false, Infinity]);
  assertEquals(read("Must-Revalidate"), [true, Infinity]);
  assertEquals(read("proxy-revalidate, max-age=1"), [true, Infinity]);
  assertEquals(read("stale-while-revalidate=5"), [false, 5_000]);
  assertEquals(read('stale-while-revalidate="5", stale-while-revalidate=3'), [false, 3_000]);
  assertEquals(read("stale-while-revalidate"), [false, Infinity]);
  assertEquals(read("must-revalidatex"), [false, Infinity]);
});
