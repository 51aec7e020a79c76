import { assertEquals } from "@std/assert";
import { type CacheDirectives, parseCacheControl } from "../../../lib/grpc/mod.ts";
import type { Draws } from "../draws.ts";
import type { Target } from "../run.ts";

type Said = { -readonly [Key in keyof CacheDirectives]: CacheDirectives[Key] };

/** What stands between directives and means nothing, whatever it holds. */
const NOISE = [
  "",
  "public",
  "x-no-store",
  "no-cachet",
  'x="no-store, private"',
  'x="a\\", no-cache, \\"b"',
  "max-age",
  "max-age=-1",
  "s-maxage=1.5",
  'y=";private;"',
  "=no-store",
  '"private"',
];

const LIMIT_CHARACTERS = 4_096;

/** `cache-control` as a list that is known and written in some way, and as any text at all. */
export const cacheDirectives: Target = {
  name: "cache-directives",
  about: "cache-control: known directives in any spelling and any number of fields, and any text",
  run(draws) {
    const said: Said = {
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
    const fields = Array.from(
      { length: draws.below(4) },
      () =>
        Array.from({ length: draws.below(6) }, () => blanks(draws) + element(draws, said)).join(
          draws.pick([",", ", ", " ,", ";"]),
        ),
    );
    draws.note(JSON.stringify(fields));
    assertEquals(parseCacheControl(fields), said);
    checkAnything(draws);
  },
};

function element(draws: Draws, said: Said): string {
  const seconds = draws.pick([0, 1, 60, 2 ** 31, 1e15]);
  const ageMs = Math.min(seconds, 2 ** 31) * 1_000;
  const age = draws.chance(0.3) ? `"${seconds}"` : `${seconds}`;
  switch (draws.below(10)) {
    case 1:
      said.isNoStore = true;
      return inAnyCase(draws, "no-store");
    case 2:
      said.isNoCache = true;
      return inAnyCase(draws, draws.pick(["no-cache", 'no-cache="a, b"']));
    case 3:
      said.isPrivate = true;
      return inAnyCase(draws, draws.pick(["private", "private=x", 'private=",max-age=1"']));
    case 4:
      said.isOnlyIfCached = true;
      return inAnyCase(draws, "only-if-cached");
    case 5:
      said.maxAgeMs = Math.min(said.maxAgeMs, ageMs);
      return `${inAnyCase(draws, "max-age")}${blanks(draws)}=${blanks(draws)}${age}`;
    case 7:
      said.isMustRevalidate = true;
      return inAnyCase(draws, draws.pick(["must-revalidate", "proxy-revalidate"]));
    case 9:
      said.staleIfErrorMs = Math.min(said.staleIfErrorMs, ageMs);
      return `${inAnyCase(draws, "stale-if-error")}=${age}`;
    case 8:
      said.staleWhileRevalidateMs = Math.min(said.staleWhileRevalidateMs, ageMs);
      return `${inAnyCase(draws, "stale-while-revalidate")}=${age}`;
    case 6:
      said.sharedMaxAgeMs = Math.min(said.sharedMaxAgeMs, ageMs);
      return `${inAnyCase(draws, "s-maxage")}=${age}${blanks(draws)}`;
    default:
      return draws.pick(NOISE);
  }
}

function inAnyCase(draws: Draws, text: string): string {
  return [...text].map((unit) => draws.chance(0.3) ? unit.toUpperCase() : unit).join("");
}

function blanks(draws: Draws): string {
  return draws.pick(["", " ", "\t", "  "]);
}

/** Whatever the text: nothing throws, a field of its own is read whatever stands in the others, and twice is once. */
function checkAnything(draws: Draws): void {
  const units = ['"', "\\", ",", ";", "=", " ", "no-store", "max-age", "5", "private", "é"];
  const fields = Array.from(
    { length: draws.below(3) },
    () => Array.from({ length: draws.below(12) }, () => draws.pick(units)).join(""),
  );
  if (draws.chance(0.02)) fields.push(draws.pick(units).repeat(LIMIT_CHARACTERS));
  draws.note(JSON.stringify(fields).slice(0, 200));
  const read = parseCacheControl(fields);
  const isLong = fields.join(",").length + ",no-cache".length > LIMIT_CHARACTERS;
  const added = parseCacheControl([...fields, "no-cache"]);
  assertEquals(added, isLong ? added : { ...read, isNoCache: true });
  if (isLong) return assertEquals(added.isNoStore, true);
  assertEquals(parseCacheControl([...fields, ...fields]), read);
  assertEquals(parseCacheControl(fields.toReversed()), read);
}
