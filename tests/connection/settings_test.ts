import { assertEquals } from "@std/assert";
import { applySettings, initialPeerSettings } from "../../lib/connection/settings.ts";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { settings } from "../support/frames.ts";

Deno.test("initialPeerSettings are those of RFC 9113 §6.5.2, each time anew", () => {
  const initial = initialPeerSettings();
  assertEquals(initial, {
    headerTableBytes: 4_096,
    maxConcurrentStreams: Infinity,
    initialWindowBytes: 65_535,
    maxFrameBytes: 16_384,
    maxHeaderListBytes: Infinity,
    instance: 0,
  });
  initial.maxFrameBytes = 0;
  assertEquals(initialPeerSettings().maxFrameBytes, 16_384);
});

Deno.test("applySettings reads its range, in order, and tells the encoder each table size", () => {
  const { peer, sizes, fault } = apply([[1, 10], [4, 5], [1, 20], [4, 6], [9, 9]]);
  assertEquals(fault, undefined);
  assertEquals([peer.headerTableBytes, peer.initialWindowBytes, sizes], [20, 6, [10, 20]]);
});

Deno.test("applySettings keeps what came before a fault and says what was wrong", () => {
  const { peer, fault } = apply([[3, 7], [5, 1], [3, 8]]);
  assertEquals(peer.maxConcurrentStreams, 7);
  assertEquals(fault, { code: ERROR_CODE.protocolError, why: "SETTINGS_MAX_FRAME_SIZE of 1" });
});

function apply(pairs: [number, number][]) {
  const bytes = settings(...pairs);
  const peer = initialPeerSettings();
  const sizes: number[] = [];
  const fault = applySettings(peer, {
    bytes,
    from: 9,
    to: bytes.length,
    fromServer: true,
    encoder: { setMaxTableBytes: (size) => sizes.push(size) },
  });
  return { peer, sizes, fault };
}
