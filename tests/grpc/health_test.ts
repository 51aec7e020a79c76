import { assertEquals } from "@std/assert";
import { healthReply, healthRequest, healthService, healthStatus } from "../../lib/grpc/mod.ts";
import { rng } from "../support/cuts.ts";

Deno.test("healthRequest writes field 1 as a string, and nothing for the whole server", () => {
  assertEquals(healthRequest(""), new Uint8Array(0));
  assertEquals(healthRequest("a.B"), hex("0a 03 61 2e 42"));
  assertEquals(healthRequest("é"), hex("0a 02 c3 a9"));
  assertEquals([...healthRequest("x".repeat(300)).subarray(0, 4)], [0x0a, 0xac, 0x02, 0x78]);
});

Deno.test("healthService reads what healthRequest wrote, of any length", () => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384]) {
    const service = "s".repeat(length);
    assertEquals(healthService(healthRequest(service)), service, `${length}`);
  }
  assertEquals(healthService(healthRequest("\ufeff缺😀")), "\ufeff缺😀");
});

Deno.test("healthService skips unknown fields of every wire type", () => {
  for (
    const [what, unknown] of [
      ["varint", "10 96 01"],
      ["varint of ten bytes", "10 ff ff ff ff ff ff ff ff ff 01"],
      ["fixed64", "11 01 02 03 04 05 06 07 08"],
      ["bytes", "1a 02 0a 05"],
      ["fixed32", "25 01 02 03 04"],
      ["largest field number", "f8 ff ff ff 0f 01"],
      ["field 1 as varint", "08 05"],
      ["field 1 as fixed32", "0d 62 62 62 62"],
    ] as const
  ) {
    assertEquals(healthService(hex(`${unknown} 0a 01 61`)), "a", `${what} before`);
    assertEquals(healthService(hex(`0a 01 61 ${unknown}`)), "a", `${what} after`);
    assertEquals(healthService(hex(unknown)), "", `${what} alone`);
  }
});

Deno.test("healthService takes the last of several values", () => {
  assertEquals(healthService(hex("0a 01 61 0a 01 62")), "b");
});

Deno.test("healthService is undefined for bytes that are no protobuf", () => {
  for (
    const [what, bytes] of [
      ["length beyond the end", "0a 02 61"],
      ["no length", "0a"],
      ["length of 2^32 + 1, which 32 bits would take as 1", "0a 81 80 80 80 10 61"],
      ["length of ten bytes", "0a ff ff ff ff ff ff ff ff ff 01"],
      ["varint without end", "10 80"],
      ["varint of eleven bytes", "10 80 80 80 80 80 80 80 80 80 80 00"],
      ["fixed64 cut short", "11 01 02 03 04 05 06 07"],
      ["fixed32 cut short", "25 01 02 03"],
      ["field number 0", "02 00"],
      ["tag beyond 32 bits", "80 80 80 80 10 00"],
      ["group", "13 14"],
      ["wire type 6", "16"],
      ["wire type 7", "17"],
      ["text", "68 65 6c 6c 6f"],
      ["name that is no UTF-8", "0a 01 ff"],
      ["fault after the name", "0a 01 61 0a"],
    ] as const
  ) assertEquals(healthService(hex(bytes)), undefined, what);
});

Deno.test("healthReply writes the status that healthStatus reads", () => {
  assertEquals(healthReply(true), hex("08 01"));
  assertEquals(healthReply(false), hex("08 02"));
  assertEquals(healthStatus(healthReply(true)), 1);
  assertEquals(healthStatus(healthReply(false)), 2);
});

Deno.test("healthStatus reads absent, later, unknown and negative values as proto3 does", () => {
  for (
    const [what, bytes, status] of [
      ["absent", "", 0],
      ["SERVICE_UNKNOWN", "08 03", 3],
      ["the last of several", "08 02 08 01", 1],
      ["not defined yet", "08 ac 02", 300],
      ["-1", "08 ff ff ff ff ff ff ff ff ff 01", -1],
      ["2^35 + 1, cut to 32 bits", "08 81 80 80 80 80 01", 1],
      ["another type in field 1", "0a 01 01", 0],
      ["after an unknown field", "12 01 61 08 01", 1],
    ] as const
  ) assertEquals(healthStatus(hex(bytes)), status, what);
});

Deno.test("healthStatus is undefined for bytes that are no protobuf", () => {
  for (const bytes of ["08", "08 80", "08 01 ff", "0f"]) {
    assertEquals(healthStatus(hex(bytes)), undefined, bytes);
  }
});

Deno.test("healthService and healthStatus return for any bytes", () => {
  for (let seed = 1; seed <= 5_000; seed++) {
    const random = rng(seed);
    const bytes = Uint8Array.from(
      { length: Math.floor(random() * 24) },
      // Small bytes are tags and lengths, and go deeper than noise.
      () => Math.floor(random() * (random() < 0.7 ? 32 : 256)),
    );
    const service = healthService(bytes);
    const status = healthStatus(bytes);
    // Both walk the same fields; only a name that is no UTF-8 may set them apart.
    if (service !== undefined) assertEquals(typeof status, "number", `seed ${seed}`);
  }
});

/** Hex with spaces, as documents print it. */
function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (pair) => parseInt(pair, 16));
}
