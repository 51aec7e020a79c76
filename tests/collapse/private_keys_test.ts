import { assert, assertEquals } from "@std/assert";
import { PrivateKeys } from "../../lib/collapse/private_keys.ts";
import { FakeReply, HEAD_BYTES, HEAD_OVERHEAD_BYTES, MapFixture } from "./map_fixture.ts";

const MAX_PRIVATE_BYTES = 2 ** 20;
const MARK_OVERHEAD_BYTES = 128;
const TRIAL_WITHIN_MS = 60_000;

Deno.test("CollapseMap.makePrivate remembers a megabyte of keys over all heads, the newest", () => {
  const fixture = new MapFixture();
  const { map, service } = fixture;
  const other = map.head("other", service);
  const each = 1_000 + MARK_OVERHEAD_BYTES;
  const keys = Array.from({ length: 2_000 }, (_, i) => String(i).padStart(1_000, "0"));
  for (const [i, key] of keys.entries()) {
    const flight = fixture.lead(key, { head: i % 2 === 0 ? fixture.head : other });
    map.makePrivate(flight, 1_000);
    map.land(flight);
    assert(map.isPrivate(flight.head, key, 0), key);
  }
  const room = Math.floor((MAX_PRIVATE_BYTES - HEAD_BYTES - other.heldBytes) / each);
  const known = keys.filter((key, i) => map.isPrivate(i % 2 === 0 ? fixture.head : other, key, 0));
  assertEquals(known, keys.slice(-room));
});

Deno.test("PrivateKeys counts each head once, and says when its last mark has gone", () => {
  const { map, service, head } = new MapFixture();
  const other = map.head("x", service);
  const bare: string[] = [];
  const keys = new PrivateKeys<FakeReply>(({ text }) => bare.push(text));
  keys.mark(head, "ab", 10);
  keys.mark(head, "cd", 20);
  keys.mark(other, "ef", 30);
  const each = 2 + MARK_OVERHEAD_BYTES;
  assertEquals(keys.bytes, 3 * each + HEAD_BYTES + 1 + HEAD_OVERHEAD_BYTES);
  keys.mark(head, "ab", 40); // again: no second mark
  assertEquals(keys.bytes, 3 * each + HEAD_BYTES + 1 + HEAD_OVERHEAD_BYTES);
  keys.unmark(head, "ab");
  keys.unmark(head, "ab");
  assertEquals([bare, head.privateKeys?.size], [[], 1]);
  keys.unmark(head, "cd");
  assertEquals([bare, head.privateKeys], [["head"], undefined]);
  assertEquals(keys.bytes, each + 1 + HEAD_OVERHEAD_BYTES);
  keys.forget(other);
  assertEquals([bare, keys.bytes], [["head", "x"], 0]);
});

Deno.test("PrivateKeys waits a minute for the trial of a key whose time is over, and no longer", () => {
  const { map, head } = new MapFixture();
  const flight = map.lead(head, "a", {
    reply: new FakeReply(),
    nowMs: 0,
  });
  map.makePrivate(flight, 10_000);
  map.land(flight);
  map.sweep(10_000 + TRIAL_WITHIN_MS - 1);
  assert(head.privateKeys !== undefined);
  assertEquals(head.retired, false); // however long it has been without a flight
  map.sweep(10_000 + TRIAL_WITHIN_MS);
  assertEquals([head.privateKeys, head.retired], [undefined, false]);
  map.sweep(10_000 + 2 * TRIAL_WITHIN_MS);
  assertEquals(head.retired, true);
});
