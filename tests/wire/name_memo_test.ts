import { assertEquals } from "@std/assert";
import { NameMemo } from "../../lib/wire/name_memo.ts";
import { rng } from "../support/cuts.ts";
import { ascii, concat } from "../support/frames.ts";

Deno.test("NameMemo knows a name by its bytes, wherever they stand", () => {
  const memo = new NameMemo<string>();
  const name = ascii("grpc-timeout");
  assertEquals(memo.get(name, 0, name.length, false), undefined);
  memo.set(concat(ascii("??"), name), 2, 2 + name.length, { coded: false, known: "it" });
  assertEquals(memo.get(name, 0, name.length, false), "it");
  assertEquals(memo.get(concat(name, ascii("?")), 0, name.length, false), "it");
  assertEquals(memo.get(concat(name, ascii("?")), 0, name.length + 1, false), undefined);
  memo.clear();
  assertEquals(memo.get(name, 0, name.length, false), undefined);
});

Deno.test("NameMemo keeps what it was given, not the storage it was read from", () => {
  const memo = new NameMemo<string>();
  const storage = ascii("traceparent");
  memo.set(storage, 0, storage.length, { coded: false, known: "it" });
  storage.fill(0x78);
  assertEquals(memo.get(ascii("traceparent"), 0, 11, false), "it");
  assertEquals(memo.get(storage, 0, 11, false), undefined);
});

Deno.test("NameMemo tells a coded name from the same bytes in plain", () => {
  const memo = new NameMemo<string>();
  memo.set(ascii("abcd"), 0, 4, { coded: true, known: "coded" });
  assertEquals(memo.get(ascii("abcd"), 0, 4, false), undefined);
  assertEquals(memo.get(ascii("abcd"), 0, 4, true), "coded");
});

Deno.test("NameMemo keeps no name of more than 48 bytes", () => {
  const memo = new NameMemo<string>();
  for (const length of [48, 49]) {
    const name = ascii("n".repeat(length));
    memo.set(name, 0, length, { coded: false, known: `${length}` });
    assertEquals(memo.get(name, 0, length, false), length > 48 ? undefined : "48");
  }
});

Deno.test("NameMemo tells a name from a longer one that begins with it", () => {
  // Of so many pairs some come to one place.
  for (let i = 0; i < 20_000; i++) {
    const memo = new NameMemo<string>();
    const longer = ascii(`${i}`.padStart(6, "x") + "-name");
    memo.set(longer, 0, longer.length, { coded: false, known: "longer" });
    assertEquals(memo.get(longer, 0, 4 + i % 7, false), undefined);
  }
});

Deno.test("NameMemo never mistakes one name for another, however many come to one place", () => {
  const memo = new NameMemo<string>();
  const random = rng(3);
  let met = 0;
  for (let round = 0; round < 20_000; round++) {
    // Two letters and few lengths: most places have had several names.
    const name = Array.from({ length: Math.floor(random() * 14) }, () => random() < 0.5 ? "a" : "b")
      .join("");
    const bytes = ascii(name);
    const known = memo.get(bytes, 0, bytes.length, false);
    if (known === undefined) memo.set(bytes, 0, bytes.length, { coded: false, known: name });
    else assertEquals(known, name);
    if (known !== undefined) met++;
  }
  assertEquals(met > 1_000, true, `only ${met} were met again`);
});
