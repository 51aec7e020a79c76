import { ERROR_CODE, FLAG, FRAME, MAX_WINDOW_BYTES, SETTING } from "../../../lib/wire/mod.ts";
import {
  concat,
  continuation,
  data,
  goAway,
  headers,
  pattern,
  ping,
  priority,
  pushPromise,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  windowUpdate,
} from "../../support/frames.ts";
import { randomFields } from "../fields.ts";
import { Peer } from "./peer.ts";

/** Frames of a flood: more than `IDLE_FRAMES` in `lib/connection/limits.ts` has room for. */
const FLOOD_FRAMES = 5_300;

/** Streams that are opened and reset in one breath; whether they are too many is for the connection to say. */
const RAPID_RESETS = 4_300;

/** A peer that does what it must not, once in a while; the model says what has to come of it. */
export class CarelessPeer extends Peer {
  slip(): Uint8Array {
    const { draws } = this;
    const id = this.someId();
    const bytes = (most: number) => draws.bytes(draws.below(most));
    const slip = draws.weighted<() => Uint8Array>([
      [4, () => this.#changed()],
      [
        3,
        () =>
          this.block(draws.chance(0.5) ? this.freshId() : id, this.#illegal(), draws.chance(0.5)),
      ],
      [2, () => this.block(id, this.head(), draws.chance(0.5))],
      [1, () => this.#onItself(draws.chance(0.5) ? this.freshId() : id)],
      [1, () => headers(id, bytes(30), { endStream: draws.chance(0.5) })],
      [1, () => this.#cutOff(id)],
      [0.5, () => continuation(id, bytes(10))],
      [0.5, () => this.#endless(id)],
      [2, () => data(id, pattern(draws.below(100)), { endStream: draws.chance(0.3) })],
      [0.5, () => this.#tooMuch(id)],
      [1, () => raw(FRAME.data, { flags: FLAG.padded, streamId: id }, bytes(20))],
      [1, () => raw(FRAME.headers, { flags: 0x2d, streamId: id }, bytes(20))],
      [2, () => windowUpdate(id, 0)],
      [1, () => windowUpdate(draws.chance(0.5) ? 0 : id, MAX_WINDOW_BYTES - draws.below(3))],
      [1, () => rstStream(id, draws.below(20))],
      [1, () => this.#wrongSize()],
      [1, () => settings(this.#badSetting())],
      [1, () => priority(id, id)],
      [0.5, () => pushPromise(id, 2, REQUEST)],
      [0.5, () => goAway(draws.below(50), ERROR_CODE.enhanceYourCalm, "too many pings")],
      [0.5, () => raw(draws.below(256), { flags: draws.below(256), streamId: id }, bytes(30))],
      [0.3, () => raw(draws.below(10), { streamId: id }, pattern(16_385))],
      [0.05, () => this.#flood(id)],
    ]);
    return slip();
  }

  /** An id of any kind: nobody's, of a stream that is open, closed, idle, or of the wrong side. */
  someId(): number {
    const { draws } = this;
    const { state } = this.talk;
    const known = [...state.streams.keys()];
    if (known.length > 0 && draws.chance(0.8)) return draws.pick(known);
    return draws.pick([0, 1, 2, 3, state.lastPeerId + 2, state.lastOurId + 2, 2 ** 31 - 1]);
  }

  /** Something legal with one byte changed, or its end cut off. */
  #changed(): Uint8Array {
    const bytes = this.move();
    if (bytes.length === 0) return bytes;
    bytes[Math.floor(this.draws.next() ** 2 * bytes.length)] = this.draws.below(256);
    return bytes;
  }

  #illegal() {
    const { draws } = this;
    const fields = this.head();
    for (const field of randomFields(draws, 3)) fields.splice(draws.below(fields.length), 0, field);
    if (draws.chance(0.3)) fields.splice(draws.below(fields.length), 1);
    return fields;
  }

  #onItself(id: number): Uint8Array {
    return headers(id, this.talk.role === "server" ? REQUEST : RESPONSE, { dependsOn: id });
  }

  /** A block that another frame breaks into, most likely. */
  #cutOff(id: number): Uint8Array {
    const { draws } = this;
    const block = headers(id, this.draws.bytes(3), { endHeaders: false });
    return concat(block, draws.chance(0.5) ? this.move() : continuation(id + 2, pattern(3)));
  }

  #endless(id: number): Uint8Array {
    const piece = pattern(this.draws.pick([0, 1, 16_384]));
    const pieces = Array.from({ length: 40 }, () => continuation(id, piece, { endHeaders: false }));
    return concat(headers(id, piece, { endHeaders: false }), ...pieces);
  }

  /** More than the windows have. */
  #tooMuch(id: number): Uint8Array {
    const frame = data(id, pattern(16_384));
    return concat(...Array.from({ length: this.draws.pick([17, 65]) }, () => frame));
  }

  #wrongSize(): Uint8Array {
    const { draws } = this;
    const type = draws.pick([
      FRAME.rstStream,
      FRAME.settings,
      FRAME.ping,
      FRAME.goAway,
      FRAME.windowUpdate,
      FRAME.priority,
    ]);
    const streamId = draws.chance(0.5) ? 0 : this.someId();
    return raw(type, { flags: draws.below(2), streamId }, draws.bytes(draws.below(12)));
  }

  #badSetting(): [number, number] {
    const { draws } = this;
    return draws.pick([
      [SETTING.initialWindowSize, 2 ** 31],
      [SETTING.initialWindowSize, MAX_WINDOW_BYTES],
      [SETTING.maxFrameSize, 16_383],
      [SETTING.maxFrameSize, 2 ** 24],
      [SETTING.enablePush, 2],
      [SETTING.enablePush, 1],
    ]);
  }

  #flood(id: number): Uint8Array {
    this.talk.isFlooded = true;
    const { draws } = this;
    const frame = draws.pick([
      ping(1),
      settings(),
      data(id, ""),
      rstStream(id, 8),
      priority(9),
      windowUpdate(id, 1),
    ]);
    if (draws.chance(0.3)) return this.#rapidResets();
    return concat(...Array.from({ length: FLOOD_FRAMES }, () => frame));
  }

  /** Streams that are opened and reset in one breath (CVE-2023-44487). */
  #rapidResets(): Uint8Array {
    return concat(
      ...Array.from({ length: RAPID_RESETS }, () => {
        const id = this.freshId();
        return concat(headers(id, REQUEST, { endStream: true }), rstStream(id, ERROR_CODE.cancel));
      }),
    );
  }
}
