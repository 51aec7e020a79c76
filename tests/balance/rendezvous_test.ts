import { assert, assertEquals } from "@std/assert";
import { hashText, weight } from "../../lib/balance/rendezvous.ts";

function owner(key: string, places: readonly string[]): string {
  const keyHash = hashText(key);
  return places.reduce((best, place) =>
    weight(keyHash, hashText(place)) > weight(keyHash, hashText(best)) ? place : best
  );
}

Deno.test("hashText is the same in every process and release: replicas must agree", () => {
  const hashes = [hashText(""), hashText("a"), hashText("a", 1), hashText("key 1")];
  assertEquals(hashes, [0x811c9dc5, 0xe50c2abf, 0xe40c292c, 0xc08ba594]);
});

Deno.test("hashText tells long texts apart by any character of them", () => {
  const long = "x".repeat(2_048);
  const hashes = new Set([hashText(long), hashText(long + "x")]);
  for (let at = 0; at < long.length; at++) {
    hashes.add(hashText(`${long.slice(0, at)}y${long.slice(at + 1)}`));
  }
  assertEquals(hashes.size, long.length + 2);
});

Deno.test("weight shares keys out evenly that differ in a few characters of a long text", () => {
  const places = ["a", "b", "c"];
  for (const [length, at] of [[205, 90], [645, 98], [2_005, 500]] as const) {
    const count = new Map<string, number>();
    for (let i = 0; i < 1_500; i++) {
      const digits = String(i).padStart(4, "0");
      const key = "m".repeat(at) + digits + "m".repeat(length - at - 4);
      const best = owner(key, places);
      count.set(best, (count.get(best) ?? 0) + 1);
    }
    for (const place of places) assert((count.get(place) ?? 0) > 400, `${place} of ${length}`);
  }
});

Deno.test("weight shares keys out evenly, and moves only those of a place that goes", () => {
  const places = Array.from({ length: 10 }, (_, i) => `10.0.0.${i}:50051`);
  const keys = Array.from({ length: 10_000 }, (_, i) => `key ${i}`);
  const share = new Map<string, number>();
  for (const key of keys) {
    const best = owner(key, places);
    share.set(best, (share.get(best) ?? 0) + 1);
    const left = places.slice(1);
    if (best !== places[0]) assertEquals(owner(key, left), best);
  }
  for (const place of places) {
    const count = share.get(place) ?? 0;
    assert(count > 850 && count < 1_150, `${place} has ${count}`);
  }
});
