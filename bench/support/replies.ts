import type { Reply } from "../../lib/collapse/mod.ts";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { encodeStateless, Field, FrameLog } from "../../lib/wire/mod.ts";

/** Bytes of a usual small message, with its prefix. */
const MESSAGE_BYTES = 64;

const HEAD = encodeStateless([
  new Field(":status", "200"),
  new Field("content-type", "application/grpc"),
]);
const TRAILERS = encodeStateless([new Field("grpc-status", "0")]);
const NO_LOG = new FrameLog();

/** A request or reply of 64 bytes. */
export const MESSAGE = frameMessage(new Uint8Array(MESSAGE_BYTES - 5));

/** A reply as a flight gathers it: one log of finished frames, whose storage goes back once nobody finds it. */
export class GatheredReply implements Reply {
  log = NO_LOG;

  get heldBytes(): number {
    return this.log.heldBytes;
  }

  forget(): void {
    if (this.log !== NO_LOG) this.log.clear();
  }

  /** The backend answers: head, one message, trailers. */
  answer(): void {
    const log = this.log = new FrameLog();
    log.appendHeaders(HEAD, false);
    log.appendData(MESSAGE, 0, MESSAGE.length);
    log.appendHeaders(TRAILERS, true);
  }
}

/** The request's message as a leader keeps it for its backend call. */
export function copyRequest(): FrameLog {
  const body = new FrameLog();
  body.appendData(MESSAGE, 0, MESSAGE.length, true);
  return body;
}
