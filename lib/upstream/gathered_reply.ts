import type { ReceivedHeaders } from "../connection/mod.ts";
import { bothPolicies, type CachePolicy } from "../freshness/mod.ts";
import { isOneMessage, MessageScanner, STATUS } from "../grpc/mod.ts";
import { type BufferedBytes, type Field, FrameLog, statelessBlock } from "../wire/mod.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import { appendFailure } from "./failure_reply.ts";
import { listBytes } from "./list_bytes.ts";
import { type MessageFormat, replyHead } from "./reply_head.ts";

/** No status yet. */
export const NO_STATUS = -1;

/** What a caller reads: a reply as far as it has come. */
export interface ReplySource {
  readonly log: FrameLog;
  /** The log has its end. */
  readonly ended: boolean;
  /** The gRPC status that the reply ended with. */
  readonly status: number;
  /** The larger of the reply's header lists, as far as they have come (RFC 9113 §6.5.2). */
  readonly largestListBytes: number;
  /** The backend knows the method: it has sent a message, or a status of its own that is not UNIMPLEMENTED. */
  readonly knowsMethod: boolean;
  /** How its messages are written; undefined before the first header list has come. */
  readonly format?: MessageFormat | undefined;
  /** Why the reply ended, where that is not the backend's own status. */
  readonly failure?: Failure | undefined;
  /** The reply has more than one message. */
  readonly isStream?: boolean;
}

/** What a backend has answered, as it comes in: the log that callers read, and what must be known of it. */
export class GatheredReply implements ReplySource {
  readonly log: FrameLog;
  ended = false;
  status = NO_STATUS;
  largestListBytes = 0;
  format: MessageFormat | undefined = undefined;
  isStream = false;
  /** Why the reply ended, where that is not the backend's own status. */
  failure: Failure | undefined = undefined;
  /** What the reply's metadata says about sharing and keeping it; undefined while it says nothing. */
  cache: CachePolicy | undefined = undefined;
  /** Bytes of DATA that came. */
  receivedBytes = 0;
  /** When the last byte of DATA came, in ms of the timers. */
  lastByteMs = 0;
  /** Bytes of DATA that the backend was given credit for (RFC 9113 §5.2). */
  creditedBytes = 0;
  /** When the owner last noted that: it does where silence is counted. */
  creditedMs = 0;
  /** Follows the messages once they are more than one frame. */
  #scanner: MessageScanner | undefined = undefined;

  /** `account` hears of what the log holds. */
  constructor(account?: BufferedBytes) {
    this.log = new FrameLog(account);
  }

  get knowsMethod(): boolean {
    return this.receivedBytes > 0 ||
      this.ended && this.failure === undefined && this.status !== STATUS.unimplemented;
  }

  /** Something of the reply has come: headers at least. */
  get hasBegun(): boolean {
    return this.log.end > 0;
  }

  /** Bytes of the message under way that are still to come, as far as its length is known. */
  get missingBytes(): number {
    return this.#scanner?.missingBytes ?? 0;
  }

  /** The last message is not whole: no client takes it for an answer, whatever its status. */
  get isBrokenOff(): boolean {
    return this.#scanner?.partial ?? false;
  }

  /** Takes a header list, the last one with `endStream`; returns why it cannot be part of a gRPC reply. */
  takeHeaders(
    { list, perCall, tooLarge }: ReceivedHeaders,
    endStream: boolean,
  ): Failure | undefined {
    if (tooLarge) return { kind: "headersTooLarge", whose: "reply" };
    const head = replyHead(list);
    if (head.interim) return undefined;
    const isTrailers = this.hasBegun;
    if (!isTrailers && !head.isGrpc && (!endStream || head.grpcStatus === undefined)) {
      return { kind: "notGrpc", httpStatus: head.httpStatus };
    }
    if (endStream && head.grpcStatus === undefined) return { kind: "noStatus" };
    if (!isTrailers) this.format = head.format;
    if (head.cache !== undefined) this.#restrict(head.cache);
    const relayed = endStream ? perCall : withoutLength(perCall);
    this.log.appendHeaders(statelessBlock(list, relayed), endStream);
    this.largestListBytes = Math.max(this.largestListBytes, listBytes(list, relayed));
    if (endStream) this.#end(head.grpcStatus!);
    return undefined;
  }

  /** Takes DATA; returns whether the reply has begun to stream, which is by a second message. */
  receive(bytes: Uint8Array, from: number, to: number): boolean {
    const isWhole = this.receivedBytes === 0 && isOneMessage(bytes, from, to);
    this.receivedBytes += to - from;
    this.log.appendData(bytes, from, to);
    if (isWhole) return false;
    const scanner = this.#scanner ??= new MessageScanner();
    // What came before the scanner was one whole message.
    const before = this.receivedBytes > to - from && scanner.started === 0 ? 1 : 0;
    scanner.scan(bytes, from, to);
    return this.isStream = scanner.started + before > 1;
  }

  /** Ends the reply with a failure, which becomes the end of the log. */
  fail(failure: Failure): void {
    this.failure = failure;
    appendFailure(this.log, failure);
    this.#end(statusOfFailure(failure).code);
  }

  /** The log has its end. */
  #end(status: number): void {
    this.ended = true;
    this.status = status;
  }

  #restrict(policy: CachePolicy): void {
    this.cache = this.cache === undefined ? policy : bothPolicies(this.cache, policy);
  }
}

/**
 * The fields without content-length, which is always among those of one call: the reply may end in a failure before that
 * much DATA has come, and a client that counts (node, Netty) would see a malformed reply in place of its status (RFC 9113
 * §8.1.1). gRPC has no use for the field.
 */
function withoutLength(perCall: readonly Field[]): readonly Field[] {
  return perCall.some(isLength) ? perCall.filter((field) => !isLength(field)) : perCall;
}

function isLength({ name }: Field): boolean {
  return name === "content-length";
}
