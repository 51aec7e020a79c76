import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { SeenFrame } from "./frame_parser.ts";
import {
  block,
  data,
  type Pairs,
  ping,
  PREFACE,
  rstStream,
  settings,
  settingsAck,
  splitBlock,
  windowUpdate,
} from "./frames.ts";
import { hex } from "./hex.ts";
import {
  message,
  PeerEnd,
  SeenStream,
  type SettingPairs,
  valueOf,
  WIDE,
  WIDE_CONNECTION,
} from "./peer_end.ts";

/** What a test may say about a call beside its path and its message. */
export interface CallOptions {
  /** Fields after those that every call has. */
  readonly metadata?: Pairs;
  /** In place of the usual fields before the metadata. */
  readonly head?: Pairs;
  /** Default: the message comes with the head, and ends the request. */
  readonly ends?: boolean;
}

/** The head that every call has. */
export function requestHead(path: string): Pairs {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "service.test"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
  ];
}

/** A caller's connection. */
export class CallerEnd extends PeerEnd {
  readonly calls: CallerCall[] = [];
  /** It answers PINGs, as it must; the only thing that it does by itself. */
  answersPings = true;
  #nextId = 1;

  constructor(pairs: SettingPairs = WIDE, { connectionBytes = WIDE_CONNECTION } = {}) {
    super();
    this.sends(PREFACE, settings(...pairs), settingsAck());
    if (connectionBytes > 0) this.grants(connectionBytes);
  }

  /** A call with one message, all in one piece. Without a message the head ends the request. */
  call(path: string, said?: string | Uint8Array, options: CallOptions = {}): CallerCall {
    const ends = options.ends ?? true;
    const fields = [...options.head ?? requestHead(path), ...options.metadata ?? []];
    return this.begins((id) => {
      const head = splitBlock(id, block(fields), { endStream: said === undefined && ends });
      if (said === undefined) return [head];
      return [head, message(id, said, { endStream: ends })];
    });
  }

  /** A call that begins with these frames, in one piece. */
  begins(frames: (id: number) => Uint8Array[]): CallerCall {
    const call = new CallerCall(this, this.#nextId);
    this.#nextId += 2;
    this.calls.push(call);
    this.sends(...frames(call.id));
    return call;
  }

  /** The caller is gone, without a word on its streams. */
  leaves(why?: Error): void {
    this.socket.ends(why);
  }

  protected override see(frame: SeenFrame): void {
    if (frame.type === "PING" && this.answersPings) {
      this.sends(ping(hex(frame.opaque), { ack: true }));
    }
    if (!("streamId" in frame) || frame.streamId === 0) return;
    this.calls[(frame.streamId - 1) / 2]?.reply.see(frame);
  }
}

/** A call as its caller sees it. */
export class CallerCall {
  readonly id: number;
  readonly reply: SeenStream;
  /** The caller reset it. */
  cancelled = false;
  #caller: CallerEnd;

  constructor(caller: CallerEnd, id: number) {
    this.#caller = caller;
    this.id = id;
    this.reply = new SeenStream(id);
  }

  /** One more message. */
  sends(said: string | Uint8Array, { ends = false } = {}): void {
    this.#caller.sends(message(this.id, said, { endStream: ends }));
  }

  /** Half-close by an empty DATA frame. */
  ends(): void {
    this.#caller.sends(data(this.id, "", { endStream: true }));
  }

  cancels(code: number = ERROR_CODE.cancel): void {
    this.cancelled = true;
    this.#caller.sends(rstStream(this.id, code));
  }

  /** More DATA of the reply may come. */
  grants(bytes: number): void {
    this.#caller.sends(windowUpdate(this.id, bytes));
  }

  /** The block that ended the reply, when one did. */
  get trailers(): Pairs | undefined {
    return this.reply.endedBy === "HEADERS" ? this.reply.blocks.at(-1) : undefined;
  }

  /** The gRPC status, once there is one. */
  get status(): number | undefined {
    const text = valueOf(this.trailers, "grpc-status");
    return text === undefined ? undefined : Number(text);
  }

  get grpcMessage(): string | undefined {
    return valueOf(this.trailers, "grpc-message");
  }

  /** `x-collapser`, when it was asked for. */
  get outcome(): string | undefined {
    return valueOf(this.trailers, "x-collapser");
  }

  get messages(): string[] {
    return this.reply.messages;
  }

  /** It ended with this status after exactly these messages. */
  expects(status: number, ...messages: string[]): void {
    const { grpcMessage = "", reply } = this;
    assertEquals(this.status, status, `call ${this.id}: ${grpcMessage} ${reply.reset ?? ""}`);
    assertEquals(this.messages, messages, `call ${this.id}`);
  }

  /** It ended with a failure of the sidecar's own, in one HEADERS frame unless something had come before. */
  expectsFailure(status: number, text: string): void {
    assertEquals(this.grpcMessage, `collapser: ${text}`);
    assertEquals(this.status, status);
    if (this.reply.blocks.length > 1) return;
    assertEquals(valueOf(this.trailers, ":status"), "200");
    assertEquals(valueOf(this.trailers, "content-type"), "application/grpc");
  }

  /** Nothing has come. */
  expectsNothing(): void {
    const { blocks, text, reset } = this.reply;
    assertEquals({ blocks, text, reset }, { blocks: [], text: "", reset: undefined });
  }
}
