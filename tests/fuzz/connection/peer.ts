import { ERROR_CODE, SETTING } from "../../../lib/wire/mod.ts";
import {
  concat,
  continuation,
  data,
  goAway,
  headers,
  pattern,
  ping,
  priority,
  raw,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../../support/frames.ts";
import { hex } from "../../support/hex.ts";
import type { Conversation } from "./conversation.ts";
import type { Draws } from "../draws.ts";
import { ModelEncoder, type ModelField } from "../models/hpack.ts";
import type { ModelStream } from "../models/stream_model.ts";

const MAX_FRAME_BYTES = 16_384;

const REQUEST: readonly ModelField[] = [
  { name: ":method", value: "POST" },
  { name: ":scheme", value: "http" },
  { name: ":path", value: "/test.Service/Method" },
  { name: ":authority", value: "service.test" },
  { name: "te", value: "trailers" },
  { name: "content-type", value: "application/grpc" },
];
const RESPONSE: readonly ModelField[] = [
  { name: ":status", value: "200" },
  { name: "content-type", value: "application/grpc" },
];
const INTERIM: readonly ModelField[] = [{ name: ":status", value: "103" }];

/** A peer that keeps to RFC 9113: whatever it sends, its connection must live. */
export class Peer {
  readonly draws: Draws;
  readonly talk: Conversation;
  readonly #encoder: ModelEncoder;
  #nextId = 1;

  constructor(talk: Conversation, draws: Draws) {
    this.talk = talk;
    this.draws = draws;
    this.#encoder = new ModelEncoder(draws);
  }

  /** One frame or a few that belong together; nothing where there is nothing to say. */
  move(): Uint8Array {
    const { role } = this.talk;
    const move = this.draws.weighted<() => Uint8Array>([
      [role === "server" ? 8 : 0, () => this.#opens()],
      [role === "client" ? 8 : 0, () => this.#answers()],
      [role === "server" ? 0.3 : 0, () => this.#opensMany()],
      [10, () => this.#data()],
      [1.5, () => this.#bulk()],
      [3, () => this.#trailers()],
      [2, () => this.#late()],
      [3, () => windowUpdate(0, 1 + this.draws.small(2 ** 22))],
      [5, () => this.#opensWindow()],
      [2, () => settings(...this.settings())],
      [1, () => ping(this.draws.below(256), { ack: this.draws.chance(0.3) })],
      [0.5, () => settingsAck()],
      [2, () => this.#resets()],
      [0.7, () => priority(this.#anyId(), 2 ** 31 - 1)],
      [0.7, () => this.#unknown()],
      [0.3, () => goAway(this.draws.below(40), this.draws.below(3), "bye")],
      [0.5, () => this.#answersDrain()],
    ]);
    return move();
  }

  /** SETTINGS that may be sent at any time. */
  settings(): [number, number][] {
    const { draws } = this;
    const list: [number, number][] = [];
    do {
      list.push(draws.weighted<[number, number]>([
        [3, [SETTING.initialWindowSize, draws.pick([65_535, 0, 1, 100, 70_000, 2 ** 20])]],
        [2, [SETTING.headerTableSize, draws.pick([4_096, 0, 100, 65_536])]],
        [2, [SETTING.maxConcurrentStreams, draws.pick([100, 0, 1, 3])]],
        [1, [SETTING.maxFrameSize, draws.pick([16_384, 2 ** 24 - 1])]],
        [1, [SETTING.maxHeaderListSize, draws.below(70_000)]],
        [1, [draws.between(7, 65_535), draws.below(2 ** 31)]],
        [this.talk.role === "server" ? 1 : 0, [SETTING.enablePush, draws.below(2)]],
      ]));
    } while (draws.chance(0.4));
    return list;
  }

  /** The table that blocks are encoded against is the one that their reader has made of what it was sent. */
  follows(): void {
    const { table } = this.talk.state.decoderIn;
    this.#encoder.table.entries = [...table.entries];
    this.#encoder.table.maxBytes = table.maxBytes;
  }

  /** A block as HEADERS and, now and then, CONTINUATION; padded and with a priority now and then. */
  block(id: number, fields: readonly ModelField[], endStream: boolean): Uint8Array {
    const { draws } = this;
    const bytes = this.#encoder.encode(fields);
    const options = {
      endStream,
      ...draws.chance(0.1) && { padding: draws.below(256) },
      ...draws.chance(0.1) && { dependsOn: 2 ** 31 - 1 },
    };
    const first = draws.chance(0.15) || bytes.length > 16_000
      ? Math.min(draws.below(bytes.length + 1), 16_000)
      : bytes.length;
    if (first === bytes.length) return headers(id, bytes, options);
    const pieces = [headers(id, bytes.subarray(0, first), { ...options, endHeaders: false })];
    for (let at = first; at < bytes.length;) {
      // No more of them than anybody means well with: see MAX_CONTINUATIONS in lib/connection/header_block.ts.
      const length = 1 + (bytes.length >> 5) + draws.below(Math.max(1_000, bytes.length >> 4));
      const to = Math.min(bytes.length, at + length);
      pieces.push(continuation(id, bytes.subarray(at, to), { endHeaders: to === bytes.length }));
      at = to;
    }
    return concat(...pieces);
  }

  /** An id for a stream of the peer's, some left out. */
  freshId(): number {
    if (this.draws.chance(0.1)) this.#nextId += 2 * this.draws.below(5);
    this.#nextId = Math.max(this.#nextId, this.talk.state.lastPeerId + 1 | 1);
    return (this.#nextId += 2) - 2;
  }

  /** The head of a request, or of a response, with something of its own. */
  head(): ModelField[] {
    const { draws } = this;
    const fields = [...this.talk.role === "server" ? REQUEST : RESPONSE];
    while (draws.chance(0.4)) {
      fields.push({
        name: `x-${draws.below(6)}`,
        value: this.#value(),
        sensitive: draws.chance(0.1),
      });
    }
    if (draws.chance(0.1)) fields.push({ name: "grpc-timeout", value: `${draws.below(99)}S` });
    if (draws.chance(0.1)) {
      fields.push({ name: "content-length", value: String(draws.small(500)) });
    }
    return fields;
  }

  #value(): string {
    const { draws } = this;
    if (draws.chance(0.02)) return "long".repeat(draws.small(20_000));
    return draws.chance(0.5) ? `v${draws.below(20)}` : "é".repeat(draws.below(12));
  }

  #opens(): Uint8Array {
    const fields = this.head();
    const declared = fields.find(({ name }) => name === "content-length")?.value;
    const endStream = (declared === undefined || declared === "0") && this.draws.chance(0.3);
    return this.block(this.freshId(), fields, endStream);
  }

  /** More streams than a small table of them has room for. */
  #opensMany(): Uint8Array {
    const heads = Array.from({ length: this.draws.between(5, 60) }, () => {
      return this.block(this.freshId(), REQUEST, this.draws.chance(0.2));
    });
    return concat(...heads);
  }

  /** As much as a stream's window has, so that it has to be given back. */
  #bulk(): Uint8Array {
    const stream = this.#pick((each) => each.takesData && each.declaredBytes === undefined);
    if (stream === undefined) return new Uint8Array(0);
    const most = Math.min(stream.recvWindow, this.talk.state.recvWindow);
    const frame = data(stream.id, pattern(MAX_FRAME_BYTES));
    return concat(...Array.from({ length: Math.floor(most / MAX_FRAME_BYTES) }, () => frame));
  }

  #answers(): Uint8Array {
    const waiting = this.talk.state.open.filter(({ headIn, peerEnded }) => !headIn && !peerEnded);
    if (waiting.length === 0) return new Uint8Array(0);
    const { id } = this.draws.pick(waiting);
    if (this.draws.chance(0.15)) return this.block(id, INTERIM, false);
    const fields = this.head();
    const declared = fields.find(({ name }) => name === "content-length")?.value;
    return this.block(id, fields, (declared ?? "0") === "0" && this.draws.chance(0.15));
  }

  #data(): Uint8Array {
    const { draws } = this;
    const { state } = this.talk;
    const stream = this.#pick(({ takesData }) => takesData);
    if (stream === undefined) return new Uint8Array(0);
    const padding = draws.chance(0.15) ? draws.below(256) : undefined;
    const around = padding === undefined ? 0 : padding + 1;
    const left = stream.declaredBytes === undefined
      ? Infinity
      : stream.declaredBytes - stream.payloadBytes;
    const most = Math.min(stream.recvWindow, state.recvWindow, MAX_FRAME_BYTES) - around;
    if (most < 0) return new Uint8Array(0);
    const length = draws.chance(0.2) ? Math.min(most, left) : draws.small(Math.min(most, left) + 1);
    const endStream = (left === Infinity || left === length) && draws.chance(0.25);
    return data(stream.id, pattern(length), {
      endStream,
      ...padding !== undefined && { padding },
    });
  }

  #trailers(): Uint8Array {
    const stream = this.#pick((each) => each.takesData && !each.lengthDiffers(true));
    if (stream === undefined) return new Uint8Array(0);
    return this.block(stream.id, [{ name: "grpc-status", value: "0" }], true);
  }

  /** What was under way when a stream ended: no fault of anybody's. */
  #late(): Uint8Array {
    const { draws } = this;
    const { state } = this.talk;
    const closed = [...state.streams.values()].filter(({ isClosed }) => isClosed);
    if (closed.length === 0) return new Uint8Array(0);
    const { id } = draws.pick(closed);
    if (draws.chance(0.5)) return windowUpdate(id, 1 + draws.below(1_000));
    if (draws.chance(0.3)) return rstStream(id, draws.below(14));
    if (!state.resetByUs.has(id)) return new Uint8Array(0);
    if (draws.chance(0.3)) return this.block(id, [{ name: "grpc-status", value: "0" }], true);
    return data(id, pattern(draws.small(Math.min(state.recvWindow, MAX_FRAME_BYTES) + 1)));
  }

  #opensWindow(): Uint8Array {
    const stream = this.#pick(() => true);
    if (stream === undefined) return new Uint8Array(0);
    return windowUpdate(stream.id, 1 + this.draws.small(2 ** 20));
  }

  #resets(): Uint8Array {
    const stream = this.#pick(() => true);
    if (stream === undefined) return new Uint8Array(0);
    return rstStream(stream.id, this.draws.pick([ERROR_CODE.cancel, 0, 2, 7, 99]));
  }

  /** RFC 9113 §5.5: types that nobody knows are ignored, whatever they carry. */
  #unknown(): Uint8Array {
    const type = this.draws.between(0x0a, 0xff);
    const flags = this.draws.below(256);
    return raw(type, { flags, streamId: this.#anyId() }, pattern(this.draws.small(100)));
  }

  /** The PING of a graceful end is answered. */
  #answersDrain(): Uint8Array {
    const { drainOpaque } = this.talk.judge;
    return drainOpaque === undefined ? settingsAck() : ping(hex(drainOpaque), { ack: true });
  }

  #anyId(): number {
    return this.draws.between(1, 30);
  }

  #pick(wanted: (stream: ModelStream) => boolean): ModelStream | undefined {
    const found = this.talk.state.open.filter(wanted);
    return found.length === 0 ? undefined : this.draws.pick(found);
  }
}
