import type { FrameLog } from "../../lib/wire/mod.ts";
import { FrameParser, type SeenFrame } from "./frame_parser.ts";

/** The frames of a log from a position on, as if they were sent on stream 1. */
export function framesOf(log: FrameLog, position: number = log.start): SeenFrame[] {
  const bytes = log.bytes.slice(position - log.shift, log.end - log.shift);
  for (let at = 0; at < bytes.length;) {
    bytes[at + 8] = 1;
    at += 9 + (bytes[at]! << 16) + (bytes[at + 1]! << 8) + bytes[at + 2]!;
  }
  return new FrameParser().read(bytes);
}
