import {
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  FrameLog,
  OutputBuffer,
  readUint24,
} from "../wire/mod.ts";
import type { Outcome } from "./counters.ts";
import { debugField } from "./reply_fields.ts";

/** The DATA of a log of which nothing was dropped, joined. */
export function joinData(log: FrameLog): Uint8Array {
  const joined = new Uint8Array(log.dataBytes);
  let length = 0;
  for (const { type, from, to } of frames(log, log.start)) {
    if (type !== FRAME.data) continue;
    joined.set(log.bytes.subarray(from, to), length);
    length += to - from;
  }
  return joined;
}

/**
 * A copy of an ended log, positions included, whose last block says how the call was answered. `boundary` is where a
 * frame begins that its reader has not read yet: what was dropped may end within one.
 */
export function withDebugTrailer(
  log: FrameLog,
  { outcome, boundary }: { outcome: Outcome; boundary: number },
): FrameLog {
  const copy = new FrameLog();
  const block = new OutputBuffer();
  let endsAt = log.end;
  for (const { type, flags, from, to } of frames(log, boundary)) {
    const isLast = type === FRAME.headers && (flags & FLAG.endStream) !== 0;
    if (isLast) endsAt = from - FRAME_HEADER_BYTES + log.shift;
    if (isLast || block.length > 0) block.append(log.bytes, from, to);
  }
  copy.bytes = log.bytes.slice(0, endsAt - log.shift);
  copy.shift = log.shift;
  copy.start = log.start;
  copy.end = endsAt;
  const said = debugField(outcome);
  block.append(said, 0, said.length);
  copy.appendHeaders(block.bytes.slice(0, block.length), true);
  copy.dataBytes = log.dataBytes;
  return copy;
}

/** The frames of a log from a position on, as places in its storage. */
function* frames(
  log: FrameLog,
  position: number,
): Generator<{ type: number; flags: number; from: number; to: number }> {
  for (let at = position - log.shift; at < log.end - log.shift;) {
    const from = at + FRAME_HEADER_BYTES;
    const to = from + readUint24(log.bytes, at);
    yield { type: log.bytes[at + 3]!, flags: log.bytes[at + 4]!, from, to };
    at = to;
  }
}
