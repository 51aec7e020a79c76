import { perCallKey } from "../collapse/mod.ts";
import { FrameLog } from "../wire/mod.ts";
import type { PassReason } from "../observe/mod.ts";
import { ReadingCall } from "./reading_call.ts";
import { RequestBody } from "./request_body.ts";

/**
 * A caller's call as a question: the one message that it may be, gathered until it is whole, or found to be more than
 * that. What becomes of it then is decided by `Call`.
 */
export abstract class GatheringCall<Self> extends ReadingCall<Self> {
  /** The request's only DATA, and one whole message: what is kept of it is copied. */
  abstract answer(bytes: Uint8Array, from: number, to: number): void;

  /** The request is not what could be shared: what is gathered of it, and what comes, passes. */
  protected abstract passGathered(reason: PassReason): void;

  /** A part of a message has come, and the rest of it has not. */
  get isWithinMessage(): boolean {
    return this.body?.isWithinMessage ?? false;
  }

  /** So much of the request is still to be taken by the backend. */
  holds(bytes: number): void {
    if (this.isOver || bytes === 0 && this.body === undefined) return; // nothing is held, and nothing was
    this.#request.hold(bytes);
  }

  /** Whether so much more may be held; else the call ends. */
  protected hasRoom(bytes: number): boolean {
    const { buffered, counters } = this.session.context;
    if (buffered.hasRoom(bytes)) return true;
    counters.overfull.request++;
    this.failOwn({ kind: "buffersFull", whose: "request" });
    return false;
  }

  /** The whole request, to be sent: what was gathered, or else this only message of it. Most calls gather nothing. */
  protected whole(bytes: Uint8Array, from: number, to: number): FrameLog {
    const gathered = this.body?.take();
    return gathered ?? this.copyOf(bytes, from, to);
  }

  /** One more whole request, to be kept beside the one that is sent. */
  protected copyOf(bytes: Uint8Array, from: number, to: number): FrameLog {
    const log = this.newLog();
    log.appendData(bytes, from, to, true);
    return log;
  }

  protected newLog(): FrameLog {
    return new FrameLog(this.session.context.buffered);
  }

  /** What the fields of this call alone add to its key. */
  protected get ownKey(): string {
    const { inKey, readsPerCall } = this.route.method.settings;
    if (!readsPerCall) return "";
    return perCallKey(this.perCall, { inKey, codec: this.session.context.codec });
  }

  get #request(): RequestBody {
    return this.body ??= new RequestBody(this.session);
  }

  protected gather(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    if (from === to && !endStream) return; // it says nothing, and what is gathered must stay empty until it is not
    const { connection } = this.session;
    const { method } = this.route;
    const { maxMessageBytes } = method.settings;
    this.lastByteMs = connection.nowMs;
    connection.consumed(this.stream, to - from); // what is gathered is bounded by the largest message
    if (!this.hasRoom(to - from)) return;
    const body = this.#request;
    switch (body.gather([bytes, from, to], { endStream, maxMessageBytes })) {
      case "several":
        method.behaviour.saw("streaming", connection.nowMs);
        return this.passGathered("streaming");
      case "tooLarge":
        return this.passGathered("size");
      case "cut":
        return this.passGathered("streaming");
      case "one": {
        const whole = body.log!.data();
        return this.answer(whole, 0, whole.length);
      }
      case "partial":
        if (this.session.isFull) this.passUnfinished();
    }
  }

  /** The caller's connection holds too much for the rest of the message to be awaited. */
  abstract passUnfinished(): void;
}
