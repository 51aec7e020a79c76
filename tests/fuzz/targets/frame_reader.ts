import { assertEquals } from "@std/assert";
import { FrameReader } from "../../../lib/connection/frame_reader.ts";
import { concat, pattern, raw } from "../../support/frames.ts";
import type { Draws } from "../draws.ts";
import type { Target } from "../run.ts";

const MOST_FRAMES = 20;

/** What a handler is told, with the payload's length and sum in place of its bytes. */
type Told = readonly (number | string)[];

/** Frames cut anywhere are told whole, in order, until one is too long or the handler has had enough. */
export const frameReader: Target = {
  name: "frame-reader",
  about: "frames of any length, cut anywhere (RFC 9113 §4.1)",
  run(draws) {
    const maxBytes = draws.pick([16_384, 0, 20, 100]);
    const frames = Array.from(
      { length: draws.below(MOST_FRAMES) },
      () => randomFrame(draws, maxBytes),
    );
    const stopAfter = draws.chance(0.2) ? draws.below(MOST_FRAMES) : Infinity;
    const told: Told[] = [];
    let over = false;
    const reader = new FrameReader({
      frame(type, flags, streamId, bytes, from, to) {
        told.push([type, flags, streamId, ...seen(bytes.subarray(from, to))]);
        over = told.length > stopAfter;
        return !over;
      },
      frameTooLong(type, streamId, length) {
        told.push(["too long", type, streamId, length]);
        over = true;
      },
    }, maxBytes);
    const bytes = concat(...frames.map(({ wire }) => wire));
    const end = draws.chance(0.2) ? draws.below(bytes.length + 1) : bytes.length;
    for (const piece of draws.cuts(bytes.subarray(0, end), draws.pick([30, 1, 9, 20_000]))) {
      if (over) break;
      const around = concat(Uint8Array.of(1, 2), piece, Uint8Array.of(3));
      reader.read(around, 2, 2 + piece.length);
      around.fill(0xee); // what was given is not kept
    }
    const expected = expectedOf(frames, { end, stopAfter });
    assertEquals(told, expected.told);
    if (!over) assertEquals(reader.pendingBytes, expected.pendingBytes);
  },
};

interface Frame {
  readonly wire: Uint8Array;
  readonly told: Told;
  readonly isTooLong: boolean;
}

function randomFrame(draws: Draws, maxBytes: number): Frame {
  const length = draws.chance(0.05) ? maxBytes + draws.below(300) : draws.small(maxBytes + 1);
  const type = draws.below(256);
  const flags = draws.below(256);
  const streamId = draws.below(2 ** 31);
  const payload = pattern(length);
  const wire = raw(
    type,
    { flags, streamId: streamId + (draws.chance(0.1) ? 2 ** 31 : 0) },
    payload,
  );
  const isTooLong = length > maxBytes;
  const told = isTooLong
    ? ["too long", type, streamId, length]
    : [type, flags, streamId, ...seen(payload)];
  return { wire, told, isTooLong };
}

function expectedOf(
  frames: readonly Frame[],
  { end, stopAfter }: { end: number; stopAfter: number },
): { told: Told[]; pendingBytes: number } {
  const told: Told[] = [];
  let at = 0;
  for (const frame of frames) {
    const needed = frame.isTooLong ? 9 : frame.wire.length;
    if (at + needed > end || told.length > stopAfter) break;
    told.push(frame.told);
    if (frame.isTooLong) break;
    at += frame.wire.length;
  }
  return { told, pendingBytes: end - at };
}

function seen(bytes: Uint8Array): [length: number, sum: number] {
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) sum = (Math.imul(sum, 31) + bytes[i]!) | 0;
  return [bytes.length, sum];
}
