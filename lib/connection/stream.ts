import type { FrameLog } from "../wire/mod.ts";
import { STATE } from "./stream_state.ts";

/** No content-length was declared. */
export const UNDECLARED = -1;

/**
 * One stream of a connection. The connection alone writes its fields; `owner` is the sink's, for finding back
 * to whatever the stream is a part of.
 */
export class Stream<Owner> {
  readonly id: number;
  /** A value of {@linkcode STATE}. */
  state: number = STATE.idle;
  owner: Owner | undefined = undefined;
  /** DATA bytes the peer still takes; below zero after it lowered its initial window (RFC 9113 §6.9.2). */
  sendWindow: number;
  /** DATA bytes the peer may still send. */
  recvWindow: number;
  /** DATA bytes consumed by the sink but not yet announced to the peer. */
  recvOwed = 0;
  /** Initial headers came in (a reply's interim ones do not count); what follows are trailers. */
  headersReceived = false;
  /** Value of content-length, and the DATA bytes so far that must add up to it (RFC 9113 §8.1.1). */
  declaredBytes = UNDECLARED;
  receivedBytes = 0;
  /** The log that the stream relays, the position reached, and what is left of the DATA frame there. */
  log: FrameLog | undefined = undefined;
  position = 0;
  partialBytes = 0;
  partialFlags = 0;
  /** When the stream was opened, by the clock of what is received. */
  openedMs = 0;
  /** The stream waits in the connection's queue for window or output room. */
  queued = false;

  constructor(id: number, sendWindow: number, recvWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
    this.recvWindow = recvWindow;
  }

  /** The DATA so far, which is all of it at the end, adds up to content-length (RFC 9113 §8.1.1). */
  lengthAgrees(isEnd: boolean): boolean {
    const { declaredBytes, receivedBytes } = this;
    if (declaredBytes === UNDECLARED) return true;
    return isEnd ? receivedBytes === declaredBytes : receivedBytes <= declaredBytes;
  }

  get closed(): boolean {
    return this.state === STATE.closed;
  }

  /** The peer has ended its side. */
  get remoteEnded(): boolean {
    return this.state === STATE.halfClosedRemote || this.state === STATE.closed;
  }

  /** We have ended our side. */
  get localEnded(): boolean {
    return this.state === STATE.halfClosedLocal || this.state === STATE.closed;
  }
}
