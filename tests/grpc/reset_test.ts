import { assertEquals } from "@std/assert";
import { statusOfReset } from "../../lib/grpc/mod.ts";

Deno.test("statusOfReset follows the table of PROTOCOL-HTTP2 Errors", () => {
  for (
    const [name, errorCode, status] of [
      ["NO_ERROR", 0x0, 13],
      ["PROTOCOL_ERROR", 0x1, 13],
      ["INTERNAL_ERROR", 0x2, 13],
      ["FLOW_CONTROL_ERROR", 0x3, 13],
      ["SETTINGS_TIMEOUT", 0x4, 13],
      ["FRAME_SIZE_ERROR", 0x6, 13],
      ["REFUSED_STREAM", 0x7, 14],
      ["CANCEL", 0x8, 1],
      ["COMPRESSION_ERROR", 0x9, 13],
      ["CONNECT_ERROR", 0xa, 13],
      ["ENHANCE_YOUR_CALM", 0xb, 8],
      ["INADEQUATE_SECURITY", 0xc, 7],
    ] as const
  ) assertEquals(statusOfReset(errorCode), status, name);
});

Deno.test("statusOfReset takes STREAM_CLOSED, which the table leaves out, as a framing fault", () => {
  assertEquals(statusOfReset(0x5), 13);
});

Deno.test("statusOfReset gives UNKNOWN for codes the table does not list", () => {
  for (const errorCode of [0xd, 0xe, 0xff, 0xffffffff]) {
    assertEquals(statusOfReset(errorCode), 2, String(errorCode));
  }
});
