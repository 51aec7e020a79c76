import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { RecentKeys } from "../../lib/collapse/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";

Deno.test("RecentKeys makes a key once while it is asked for again and again", () => {
  let made = 0;
  const keys = new RecentKeys((bytes, from, to) => {
    made++;
    return latin1(bytes, from, to);
  });
  const bytes = Uint8Array.of(9, 0, 0x80, 0xff, 7);
  assertEquals(keys.text(bytes, 1, 4), "\0\x80\xff");
  assertEquals(keys.text(Uint8Array.of(0, 0x80, 0xff), 0, 3), "\0\x80\xff");
  assertEquals(made, 1);
  assertEquals(keys.text(bytes, 1, 5), "\0\x80\xff\x07");
  assertEquals(keys.text(bytes, 2, 2), "");
});

Deno.test("RecentKeys says what the bytes say, whatever stood in the slot", () => {
  const random = rng(7);
  let made = 0;
  const keys = new RecentKeys((bytes, from, to) => {
    made++;
    return latin1(bytes, from, to);
  });
  const ROUNDS = 20_000;
  for (let round = 0; round < ROUNDS; round++) {
    const length = Math.floor(random() * 24) + (round % 50 === 0 ? 250 : 0);
    const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 3));
    assertEquals(keys.text(bytes, 0, length), latin1(bytes, 0, length), `round ${round}`);
  }
  assertGreater(made, ROUNDS / 100);
  assertLess(made, ROUNDS);
});
