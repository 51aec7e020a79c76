import { MESSAGE_PREFIX_BYTES } from "../grpc/mod.ts";
import type { FrameLog } from "../wire/mod.ts";

/**
 * Metadata does not count for a reply's size, nor do frame headers. Their bound is this many times the limit, which
 * only frames of a few bytes come to, and all that two lists of fields can take.
 */
const LOG_FACTOR = 2;
const LOG_HEADROOM_BYTES = 2 ** 18;

/** Whether a reply is larger than what is kept of one for those who come later. */
export function hasOutgrown(
  { end, dataBytes }: FrameLog,
  { maxMessageBytes }: { readonly maxMessageBytes: number },
): boolean {
  return dataBytes - MESSAGE_PREFIX_BYTES > maxMessageBytes ||
    end > maxMessageBytes * LOG_FACTOR + LOG_HEADROOM_BYTES;
}
