import { assertEquals } from "@std/assert";
import {
  CLIENT_PREFACE,
  ERROR_CODE,
  errorCodeName,
  OutputBuffer,
  putFrameHeader,
  putUint32,
  readUint24,
  readUint31,
  readUint32,
  SETTING,
  writeGoAway,
  writePing,
  writeRstStream,
  writeSettings,
  writeSettingsAck,
  writeWindowUpdate,
} from "../../lib/wire/mod.ts";
import {
  ascii,
  goAway,
  ping,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../support/frames.ts";
import { hex, toHex } from "../support/hex.ts";

/** Each writer, the same frame in hex (RFC 9113 §6), and by the builder of the tests. */
const FRAMES: {
  name: string;
  write: (out: OutputBuffer) => void;
  wire: string;
  built: Uint8Array;
}[] = [
  {
    name: "writeSettings",
    write: (out) =>
      writeSettings(out, [[SETTING.enablePush, 0], [SETTING.initialWindowSize, 2 ** 31 - 1]]),
    wire: `00 00 0c  04  00  00 00 00 00  # length, type, flags, stream
           00 02  00 00 00 00
           00 04  7f ff ff ff`,
    built: settings([SETTING.enablePush, 0], [SETTING.initialWindowSize, 2 ** 31 - 1]),
  },
  {
    name: "writeSettings of nothing",
    write: (out) => writeSettings(out, []),
    wire: "00 00 00  04  00  00 00 00 00",
    built: settings(),
  },
  {
    name: "writeSettingsAck",
    write: writeSettingsAck,
    wire: "00 00 00  04  01  00 00 00 00",
    built: settingsAck(),
  },
  {
    name: "writePing",
    write: (out) => writePing(out, false, ascii("..opaque-8"), 2),
    wire: "00 00 08  06  00  00 00 00 00  6f 70 61 71 75 65 2d 38",
    built: ping(ascii("opaque-8")),
  },
  {
    name: "writePing of an answer",
    write: (out) => writePing(out, true, ascii("opaque-8")),
    wire: "00 00 08  06  01  00 00 00 00  6f 70 61 71 75 65 2d 38",
    built: ping(ascii("opaque-8"), { ack: true }),
  },
  {
    name: "writeGoAway",
    write: (out) => writeGoAway(out, 2 ** 31 - 1, ERROR_CODE.enhanceYourCalm, "hey"),
    wire: `00 00 0b  07  00  00 00 00 00
           7f ff ff ff  # last stream
           00 00 00 0b  # ENHANCE_YOUR_CALM
           68 65 79`,
    built: goAway(2 ** 31 - 1, ERROR_CODE.enhanceYourCalm, "hey"),
  },
  {
    name: "writeRstStream",
    write: (out) => writeRstStream(out, 0x01020304, ERROR_CODE.cancel),
    wire: "00 00 04  03  00  01 02 03 04  00 00 00 08",
    built: rstStream(0x01020304, ERROR_CODE.cancel),
  },
  {
    name: "writeWindowUpdate",
    write: (out) => writeWindowUpdate(out, 5, 2 ** 31 - 1),
    wire: "00 00 04  08  00  00 00 00 05  7f ff ff ff",
    built: windowUpdate(5, 2 ** 31 - 1),
  },
];

for (const { name, write, wire, built } of FRAMES) {
  Deno.test(`${name} writes the frame of RFC 9113 §6 wherever the buffer ends`, () => {
    assertEquals(toHex(built), toHex(hex(wire)), "the builder of the tests");
    for (let before = 0; before <= 1_040; before += before < 980 ? 49 : 1) {
      const out = new OutputBuffer();
      for (let i = 0; i < before; i++) out.byte(0xee);
      write(out);
      assertEquals(toHex(out.bytes.subarray(before, out.length)), toHex(hex(wire)), `at ${before}`);
    }
  });
}

Deno.test("putFrameHeader writes 24 bits of length and 31 of stream (RFC 9113 §4.1)", () => {
  const bytes = new Uint8Array(11).fill(0xee);
  putFrameHeader(bytes, 1, 0xfedcba, 0x9, 0x25, 0x7fffffff);
  assertEquals(toHex(bytes), "ee fe dc ba 09 25 7f ff ff ff ee");
  assertEquals(readUint24(bytes, 1), 0xfedcba);
  assertEquals(readUint31(bytes, 6), 0x7fffffff);
});

Deno.test("readUint31 leaves out the reserved bit, readUint32 does not", () => {
  const bytes = hex("00 ff ff ff ff");
  assertEquals(readUint31(bytes, 1), 2 ** 31 - 1);
  assertEquals(readUint32(bytes, 1), 2 ** 32 - 1);
});

Deno.test("putUint32 and readUint32 agree at the edges", () => {
  const bytes = new Uint8Array(4);
  for (const value of [0, 1, 255, 256, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
    putUint32(bytes, 0, value);
    assertEquals(readUint32(bytes, 0), value);
  }
});

Deno.test("errorCodeName names the codes of RFC 9113 §7 and numbers the rest", () => {
  const named = Object.entries(ERROR_CODE).map(([name, code]) => [
    name.replace(/[A-Z]/g, "_$&").toUpperCase(),
    errorCodeName(code),
  ]);
  for (const [ours, name] of named.slice(0, -1)) assertEquals(name, ours);
  assertEquals(errorCodeName(0xd), "HTTP_1_1_REQUIRED");
  assertEquals(errorCodeName(0xe), "UNKNOWN_14");
  assertEquals(errorCodeName(2 ** 32 - 1), "UNKNOWN_4294967295");
});

Deno.test("CLIENT_PREFACE is the 24 bytes of RFC 9113 §3.4", () => {
  assertEquals(
    toHex(ascii(CLIENT_PREFACE)),
    "50 52 49 20 2a 20 48 54 54 50 2f 32 2e 30 0d 0a 0d 0a 53 4d 0d 0a 0d 0a",
  );
});
