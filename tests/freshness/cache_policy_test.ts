import { assertEquals } from "@std/assert";
import {
  bothPolicies,
  type CachePolicy,
  cachePolicy,
  longestKeptMs,
} from "../../lib/freshness/mod.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";

const NOTHING: CachePolicy = {
  isPrivate: false,
  isNoCache: false,
  maxAgeMs: Infinity,
  sharedMaxAgeMs: Infinity,
  maxStaleMs: Infinity,
  maxStaleIfErrorMs: Infinity,
  vary: [],
};

function policyOf(list: Pairs): CachePolicy | undefined {
  return cachePolicy(new HeaderCache().list(list));
}

Deno.test("cachePolicy reads cache-control, set-cookie and vary, and nothing from other fields", () => {
  const cases: readonly (readonly [list: Pairs, said: Partial<CachePolicy>])[] = [
    [[["cache-control", "no-store"]], { isPrivate: true }],
    [[["cache-control", 'Private="x"']], { isPrivate: true }],
    [[["cache-control", "no-cache, max-age=5"]], { isNoCache: true, maxAgeMs: 5_000 }],
    [[["cache-control", "max-age=5"], ["x", "1"], ["cache-control", "s-maxage=3"]], {
      maxAgeMs: 5_000,
      sharedMaxAgeMs: 3_000,
    }],
    [[["cache-control", "public"]], {}],
    [[["set-cookie", "sid=1"]], { isPrivate: true }],
    [[["set-cookie", ""]], { isPrivate: true }],
    [[["vary", "*"]], { isPrivate: true }],
    [[["vary", "a, *"], ["vary", "b"]], { isPrivate: true }],
    [[["vary", " X-Tenant ,,x-user"], ["vary", "x-tenant"]], { vary: ["x-tenant", "x-user"] }],
    [[["vary", ""]], {}],
  ];
  for (const [list, said] of cases) {
    assertEquals(policyOf(list), { ...NOTHING, ...said }, JSON.stringify(list));
  }
  assertEquals(policyOf([["pragma", "no-cache"], ["x-set-cookie", "1"]]), undefined);
});

Deno.test("cachePolicy takes a reply that varies by more than 64 names for a private one", () => {
  const names = Array.from({ length: 65 }, (_, i) => `x-${i}`);
  assertEquals(policyOf([["vary", names.slice(1).join()]])?.vary, names.slice(1));
  assertEquals(policyOf([["vary", names.join()]]), { ...NOTHING, isPrivate: true });
});

Deno.test("bothPolicies takes the stricter word of two, and the names of both", () => {
  const a = {
    ...{
      isPrivate: true,
      isNoCache: false,
      maxAgeMs: 5,
      sharedMaxAgeMs: 9,
      maxStaleMs: 4,
      maxStaleIfErrorMs: 9,
    },
    vary: ["a"],
  };
  const b = {
    ...{
      isPrivate: false,
      isNoCache: true,
      maxAgeMs: 7,
      sharedMaxAgeMs: 3,
      maxStaleMs: 8,
      maxStaleIfErrorMs: 6,
    },
    vary: ["b"],
  };
  const both = {
    isPrivate: true,
    isNoCache: true,
    maxAgeMs: 5,
    sharedMaxAgeMs: 3,
    maxStaleMs: 4,
    maxStaleIfErrorMs: 6,
    vary: ["a", "b"],
  };
  assertEquals(bothPolicies(a, b), both);
  assertEquals(bothPolicies(NOTHING, NOTHING), NOTHING);
});

Deno.test("longestKeptMs heeds no-cache before s-maxage, and that before max-age", () => {
  assertEquals(longestKeptMs(NOTHING), Infinity);
  assertEquals(longestKeptMs({ ...NOTHING, maxAgeMs: 5 }), 5);
  assertEquals(longestKeptMs({ ...NOTHING, maxAgeMs: 5, sharedMaxAgeMs: 9 }), 9);
  assertEquals(longestKeptMs({ ...NOTHING, maxAgeMs: 5, sharedMaxAgeMs: 0 }), 0);
  assertEquals(longestKeptMs({ ...NOTHING, isNoCache: true, sharedMaxAgeMs: 9 }), 0);
});
