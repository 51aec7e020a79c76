import { assert, assertEquals } from "@std/assert";
import { makeRoom } from "../../lib/downstream/reply_window.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { data, pattern } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const PIECE_BYTES = 16_384;

/** Frames of a piece each, the first of which begins the message. */
const PIECES = 64;

/** What the storage of a log of the whole message comes to. */
const HELD_BYTES = 1_114_112;

Deno.test("makeRoom expects a message that is going to be held, and none beyond the largest", () => {
  for (const [maxMessageBytes, held] of [[500_000, 557_056], [499_999, 139_264]] as const) {
    const log = new FrameLog();
    for (let i = 0; i < 4; i++) log.appendData(pattern(PIECE_BYTES), 0, PIECE_BYTES);
    makeRoom({ log, missingBytes: 500_005 - log.dataBytes }, { maxMessageBytes });
    log.appendData(pattern(PIECE_BYTES), 0, PIECE_BYTES);
    assertEquals(log.heldBytes, held, `of ${maxMessageBytes}`);
  }
});

Deno.test("makeRoom lets the log of a flight grow in few steps to what its message says, and that of a passed call not at all", async () => {
  for (const path of [GET, PUT]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const call = caller.call(path, "1");
      await rig.settle();
      const request = rig.request(0);
      request.begins();
      const message = framed(pattern(PIECES * PIECE_BYTES - 5));
      const held: number[] = [];
      for (let at = 0; at < message.length; at += PIECE_BYTES) {
        request.backend.sends(data(request.id, message.subarray(at, at + PIECE_BYTES)));
        await rig.settle();
        held.push(rig.proxy.buffered.bytes);
      }
      request.ends();
      await rig.settle();
      assertEquals([call.status, call.reply.text.length], [0, message.length]);
      const steps = new Set(held.filter((bytes) => bytes > PIECE_BYTES * 4));
      if (path === PUT) assertEquals([...steps], [], "it is dropped as it is read");
      else assert(steps.size === 2 && Math.max(...held) < HELD_BYTES + 1_000, `${[...steps]}`);
    });
  }
});
