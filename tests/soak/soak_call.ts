import type { Stream } from "../../lib/connection/mod.ts";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import {
  difference,
  type MethodName,
  METHODS,
  ownerOf,
  type Plan,
  planOf,
  replyMessage,
  requestMessage,
} from "./content.ts";
import { MessageReader } from "./message_reader.ts";

/** What a caller decides about a call; what the call is about, its key says. */
export interface CallChoice {
  readonly name: MethodName;
  readonly key: string;
  readonly tenant: string;
  /** The shard that it is meant for; none where any backend can answer. */
  readonly shard?: string;
  readonly deadlineMs: number | undefined;
  readonly cancelAfterMs: number | undefined;
  readonly cacheControl: string | undefined;
  readonly wantsDebug: boolean;
  /** The request comes in pieces, some of them cut within a message, with pauses between. */
  readonly isSlow: boolean;
}

/** How a call ended, as its caller saw it. */
export type End =
  | { readonly how: "status"; readonly status: number; readonly message: string }
  /** RST_STREAM, or a reply that is no gRPC reply. */
  | { readonly how: "broken"; readonly why: string }
  /** By the caller's own hand: RST_STREAM, or the connection cut. */
  | { readonly how: "cancelled" }
  | { readonly how: "cut" }
  /** The connection was lost by nobody's doing here. */
  | { readonly how: "lost"; readonly why: string };

/** What carries a call. */
export interface CallCarrier {
  relay(call: SoakCall): void;
  cancel(call: SoakCall): void;
}

/** A piece of a slow request comes this much after the one before. */
const PIECE_MS = 15;

/** One call of ours, which checks what comes back as it comes. */
export class SoakCall {
  readonly choice: CallChoice;
  readonly plan: Plan;
  readonly body = new FrameLog();
  readonly startedMs = performance.now();
  endedMs = 0;
  stream: Stream<SoakCall> | undefined = undefined;
  end: End | undefined = undefined;
  /** The first thing that was wrong with the reply's bytes. */
  wrong: string | undefined = undefined;
  headers = 0;
  /** What the sidecar says that it did, where it was asked. */
  outcome = "";
  readonly #reader: MessageReader;
  readonly #carrier: CallCarrier;
  readonly #onEnd: (call: SoakCall) => void;
  #cancel: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(
    choice: CallChoice,
    { carrier, onEnd }: { carrier: CallCarrier; onEnd: (call: SoakCall) => void },
  ) {
    this.choice = choice;
    this.plan = planOf(choice.key);
    this.#carrier = carrier;
    this.#onEnd = onEnd;
    this.#reader = new MessageReader((message, index) => this.#check(message, index));
  }

  /** Whose the reply must be. */
  get owner(): string {
    return ownerOf(this.choice);
  }

  get kind() {
    return METHODS[this.choice.name].kind;
  }

  /** Whole messages of the reply. */
  get replies(): number {
    return this.#reader.count;
  }

  /** What it took beyond the pauses that its plan has. */
  get excessMs(): number {
    const { requests, replies, delayMs, gapMs } = this.plan;
    const piecesMs = this.choice.isSlow ? 2 * PIECE_MS * requests.length : 0;
    const pausesMs = delayMs + gapMs * (requests.length + replies.length) + piecesMs;
    return this.endedMs - this.startedMs - pausesMs;
  }

  get isPartial(): boolean {
    return this.#reader.isPartial;
  }

  /** Sends the request, all at once or as slowly as it was chosen. */
  async send(): Promise<void> {
    const { cancelAfterMs, isSlow, key } = this.choice;
    if (cancelAfterMs !== undefined) {
      this.#cancel = setTimeout(() => this.#carrier.cancel(this), cancelAfterMs);
    }
    const { requests, gapMs } = this.plan;
    for (const index of requests.keys()) {
      const framed = frameMessage(requestMessage(key, index));
      const isLast = index + 1 === requests.length;
      if (index > 0 && gapMs > 0) await pause(gapMs);
      if (!isSlow) this.#put(framed, 0, framed.length, isLast);
      else {
        const half = framed.length >> 1;
        await pause(PIECE_MS);
        this.#put(framed, 0, half, false);
        await pause(PIECE_MS);
        this.#put(framed, half, framed.length, isLast);
      }
    }
  }

  receive(bytes: Uint8Array, from: number, to: number): void {
    this.#reader.push(bytes, from, to);
  }

  /** The first end counts. */
  finish(end: End): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.endedMs = performance.now();
    clearTimeout(this.#cancel);
    if (this.stream !== undefined) this.stream.owner = undefined;
    this.#onEnd(this);
  }

  #put(bytes: Uint8Array, from: number, to: number, isLast: boolean): void {
    if (this.end !== undefined) return;
    this.body.appendData(bytes, from, to, isLast);
    this.#carrier.relay(this);
  }

  #check(message: Uint8Array, index: number): void {
    const { plan, choice: { key }, owner } = this;
    if (index >= plan.replies.length) return this.#isWrong(`message ${index} is one too many`);
    const wrong = difference(message, replyMessage({ key, owner, plan, index }));
    if (wrong !== undefined) this.#isWrong(`message ${index}: ${wrong}: ${beginOf(message)}`);
  }

  #isWrong(why: string): void {
    this.wrong ??= why;
  }
}

/** Enough of a message to see whose it was. */
function beginOf(message: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(message.subarray(0, 60)));
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
