import { MessageScanner } from "../grpc/mod.ts";
import { type BufferedBytes, FrameLog } from "../wire/mod.ts";

/**
 * What a request is seen to be, once more of it has come: `one` message and its end; `partial`, as far as can be told;
 * more than one message (`several`); a message that is `tooLarge`; or an end without one whole message (`cut`).
 */
export type RequestShape = "partial" | "one" | "several" | "tooLarge" | "cut";

/** Whoever bounds what is held of requests. */
export interface BodyHolder {
  readonly context: {
    /** Counts what is held for all peers. */
    readonly buffered: BufferedBytes;
  };
  /** So many bytes more than before wait for somebody to take them. */
  held(moreBytes: number): void;
}

/** The DATA of a request that must be kept: gathered until its one message is whole, or to be sent on. */
export class RequestBody {
  /** What is kept here; undefined while there is nothing. */
  log: FrameLog | undefined = undefined;
  /** Follows the messages, where they did not come whole in one frame. */
  scanner: MessageScanner | undefined = undefined;
  #heldBytes = 0;
  readonly #holder: BodyHolder;

  constructor(holder: BodyHolder) {
    this.#holder = holder;
  }

  /** A part of a message has come, and the rest of it has not. */
  get isWithinMessage(): boolean {
    return this.scanner?.partial ?? false;
  }

  /** Takes more DATA, and says what it makes of the request. */
  gather(
    [bytes, from, to]: readonly [Uint8Array, number, number],
    { endStream, maxMessageBytes }: { endStream: boolean; maxMessageBytes: number },
  ): RequestShape {
    const log = this.log ??= new FrameLog(this.#holder.context.buffered);
    const scanner = this.scanner ??= new MessageScanner();
    log.appendData(bytes, from, to, endStream);
    scanner.scan(bytes, from, to);
    this.hold(log.end); // frame headers included: DATA may come a byte at a time
    if (scanner.started > 1) return "several";
    if (scanner.messageBytes > maxMessageBytes) return "tooLarge";
    if (!endStream) return "partial";
    return scanner.messages === 1 && !scanner.partial ? "one" : "cut";
  }

  /** What was gathered so far, for the caller to keep and to clear; undefined where that is nothing. */
  take(): FrameLog | undefined {
    const { log } = this;
    this.log = undefined;
    return log;
  }

  /** Nobody needs what is kept here. */
  drop(): void {
    this.log?.clear();
    this.log = undefined;
    this.hold(0);
  }

  /** So many bytes are held now. */
  hold(bytes: number): void {
    if (bytes === this.#heldBytes) return;
    const more = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    this.#holder.held(more);
  }
}
