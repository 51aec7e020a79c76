import { assert, assertEquals, fail } from "@std/assert";
import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../../../lib/connection/mod.ts";
import {
  ERROR_CODE,
  HeaderCache,
  readUint24,
  readUint31,
  readUint32,
} from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { concat, PREFACE } from "../../support/frames.ts";
import { toHex } from "../../support/hex.ts";
import type { Draws } from "../draws.ts";
import {
  ConnectionState,
  FRAME_SIZE,
  type Role,
  sumOf,
  type Told,
  type Verdict,
} from "../models/connection_state.ts";
import type { ModelField } from "../models/hpack.ts";
import { Judge } from "../models/judge.ts";
import { OutputCheck, type OutputReader } from "../models/output_check.ts";

/** The longest frame that we take, since we announce nothing else (RFC 9113 §4.2). */
const MAX_FRAME_BYTES = 16_384;

/** Fields that the header cache is told to keep out of lists. */
export const PER_CALL: ReadonlySet<string> = new Set(["content-length", "grpc-timeout"]);

/** Changes what reaches the connection behind the model's back: a fault that must be found. */
export type Tamper = (frame: RawFrame) => RawFrame | undefined;

/** Does what an owner would do at once, from within the sink. */
export interface Reactions {
  gotHeaders(stream: Stream<unknown>): void;
  gotData(stream: Stream<unknown>, length: number): void;
  gotReset(): void;
  gotGoAway(lastStreamId: number): void;
  gotSettings(): void;
  writable(stream: Stream<unknown>): void;
}

/** Shared by all conversations of a role, as it is in a process. */
const caches: Record<Role, HeaderCache> = {
  client: new HeaderCache((name) => PER_CALL.has(name)),
  server: new HeaderCache((name) => PER_CALL.has(name)),
};

/**
 * A connection under test, and beside it a model that is shown each frame just before the connection sees it and all
 * that the connection writes just after. What the model expects must happen, and nothing else.
 */
export class Conversation implements ConnectionSink<unknown> {
  readonly role: Role;
  readonly draws: Draws;
  readonly state: ConnectionState;
  readonly judge: Judge;
  readonly check: OutputCheck;
  readonly connection: Connection<unknown>;
  readonly cache: HeaderCache;
  /** Every stream that the sink met or that was opened. */
  readonly met = new Map<number, Stream<unknown>>();
  reactions: Reactions | undefined = undefined;
  nowMs = 1;
  /** So much was sent that a connection may take it for an attack. */
  isFlooded = false;
  /** The connection was ended by its owner. */
  endedByUs = false;
  /** What was sent and has not become a frame yet. */
  #unread: Uint8Array = new Uint8Array(0);
  #told: Told[] = [];
  #prefaceLeft: number;

  constructor(role: Role, draws: Draws, reader: OutputReader, tamper?: Tamper) {
    this.role = role;
    this.draws = draws;
    this.state = new ConnectionState(role);
    this.judge = new Judge(this.state);
    this.check = new OutputCheck(this.judge, reader);
    this.cache = caches[role];
    this.connection = new Connection({ role, sink: this, headerCache: this.cache });
    this.#prefaceLeft = role === "client" ? PREFACE.length : 0;
    this.#intercept(tamper);
    if (role === "server") this.connection.receive(PREFACE, this.nowMs);
    this.harvest();
  }

  /** Half a frame was sent, or half a header block. */
  get isMidway(): boolean {
    return this.#unread.length > 0 || this.judge.isWithinBlock;
  }

  get isOver(): boolean {
    return this.connection.failed !== undefined;
  }

  /** The peer sends these bytes, cut somewhere. */
  sends(bytes: Uint8Array): void {
    const pieces = this.draws.chance(0.2) ? this.draws.cuts(bytes, 40) : [bytes];
    this.#unread = concat(this.#unread, bytes);
    for (const piece of pieces) {
      if (this.draws.chance(0.1)) this.nowMs += this.draws.below(200);
      const around = concat(piece, Uint8Array.of(7, 7, 7));
      this.connection.receive(around, this.nowMs, piece.length);
      around.fill(0xee); // what was given is not kept
    }
    this.harvest();
    if (this.isOver) this.#unread = new Uint8Array(0);
  }

  /** All that was written goes to the peer. */
  harvest(): void {
    const out = this.connection.takeOutput();
    const bytes = out.bytes.slice(0, out.length);
    out.clear();
    const skipped = Math.min(this.#prefaceLeft, bytes.length);
    const at = PREFACE.length - this.#prefaceLeft;
    assertEquals(bytes.subarray(0, skipped), PREFACE.subarray(at, at + skipped), "the preface");
    this.#prefaceLeft -= skipped;
    this.check.read(bytes.subarray(skipped));
  }

  // ---- what the connection tells

  headers(stream: Stream<unknown>, headers: ReceivedHeaders, endStream: boolean): void {
    this.met.set(stream.id, stream);
    const fields = [...headers.list.fields, ...headers.perCall].map(plain);
    const { tooLarge: isCut } = headers;
    this.#tell({ what: "headers", id: stream.id, fields, isCut, endStream });
    this.reactions?.gotHeaders(stream);
  }

  data(
    stream: Stream<unknown>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    const sum = sumOf(bytes, from, to);
    this.#tell({ what: "data", id: stream.id, length: to - from, sum, endStream });
    this.reactions?.gotData(stream, to - from);
  }

  reset(stream: Stream<unknown>, code: number, fault?: Fault): void {
    assert(stream.closed, "a stream that is reset is closed already");
    this.#tell({ what: "reset", id: stream.id, code, byFault: fault !== undefined });
    this.reactions?.gotReset();
  }

  writable(stream: Stream<unknown>): void {
    assert(!this.isOver, "a stream is writable after the end of its connection");
    assert(!stream.closed, "a closed stream is writable");
    this.reactions?.writable(stream);
  }

  settings(): void {
    this.#tell({ what: "settings" });
    this.reactions?.gotSettings();
  }

  goAway(lastStreamId: number, code: number): void {
    this.#tell({ what: "goAway", lastStreamId, code });
    this.reactions?.gotGoAway(lastStreamId);
  }

  pong(): void {
    this.#tell({ what: "pong" });
  }

  failed({ code }: Fault): void {
    this.#tell({ what: "failed", code });
  }

  #tell(told: Told): void {
    assert(this.#told.at(-1)?.what !== "failed", `${told.what} after the end`);
    this.#told.push(told);
  }

  // ---- each frame, before and after

  #intercept(tamper: Tamper | undefined): void {
    const { connection } = this;
    const frame = connection.frame.bind(connection);
    connection.frame = (type, flags, streamId, bytes, from, to) => {
      this.harvest();
      const given = { type, flags, streamId, payload: bytes.slice(from, to) };
      assertEquals(given, this.#nextFrame(), "the frame that was sent");
      this.#judged(this.judge.judge(given), () => {
        const { type, flags, streamId, payload } = tamper?.(given) ?? given;
        frame(type, flags, streamId, payload, 0, payload.length);
      });
      return !this.isOver;
    };
    const tooLong = connection.frameTooLong.bind(connection);
    connection.frameTooLong = (...told) => {
      this.harvest();
      this.#judged(FRAME_SIZE, () => tooLong(...told));
    };
  }

  /** Cuts the next frame from what was sent. */
  #nextFrame(): RawFrame {
    const bytes = this.#unread;
    const end = 9 + readUint24(bytes, 0);
    assert(bytes.length >= end && end <= 9 + MAX_FRAME_BYTES, "a frame that is not whole");
    this.#unread = bytes.subarray(end);
    return {
      type: bytes[3]!,
      flags: bytes[4]!,
      streamId: readUint31(bytes, 5),
      payload: bytes.slice(9, end),
    };
  }

  #judged(verdict: Verdict, receive: () => void): void {
    this.#told = [];
    this.check.answering = verdict;
    this.check.faults = [];
    receive();
    this.harvest();
    this.check.answering = { ...verdict, scope: "fine" };
    const { failed } = this.connection;
    if (failed?.code === ERROR_CODE.enhanceYourCalm && this.isFlooded) return;
    if (this.endedByUs) return;
    this.#compare(verdict);
  }

  #compare({ scope, streamId, codes, told }: Verdict): void {
    const { failed } = this.connection;
    const { faults } = this.check;
    if (scope === "connection") {
      if (failed === undefined) fail(`a fault of the connection passed: ${codes}`);
      assert(codes.includes(failed.code), `${failed.code} (${failed.why}) in place of ${codes}`);
      assertEquals(this.#told, [{ what: "failed", code: failed.code }]);
      assertEquals(faults.at(-1), { id: 0, code: failed.code }, "GOAWAY");
      return;
    }
    assertEquals(failed, undefined, "a connection that did nothing wrong has failed");
    assertEquals(this.#told.map(textOf), told.map(inListOrder).map(textOf));
    if (scope === "fine") return;
    const isReset = faults.some(({ id, code }) => id === streamId && codes.includes(code));
    assert(isReset, `no RST_STREAM of ${codes} on stream ${streamId}: ${JSON.stringify(faults)}`);
    assertEquals(this.state.live(streamId), undefined, "a stream that failed is over");
  }
}

/** Fields that stand in a list come before those of the call. */
function inListOrder(told: Told): Told {
  if (told.what !== "headers") return told;
  const { fields } = told;
  return {
    ...told,
    fields: [
      ...fields.filter(({ name }) => !PER_CALL.has(name)),
      ...fields.filter(({ name }) => PER_CALL.has(name)),
    ].map(plain),
  };
}

function plain({ name, value, sensitive }: ModelField): ModelField {
  return { name, value, sensitive: sensitive ?? false };
}

function textOf(told: Told): string {
  return JSON.stringify(told);
}

/** A frame in words, for notes. */
export function frameText(bytes: Uint8Array): string {
  if (bytes.length < 9) return toHex(bytes);
  const head = `type ${bytes[3]} flags ${bytes[4]} stream ${readUint31(bytes, 5)}`;
  const length = readUint24(bytes, 0);
  const shown = length === 4
    ? readUint32(bytes, 9)
    : toHex(bytes.subarray(9, 9 + Math.min(24, length)));
  return `${head} length ${length}: ${shown}${bytes.length > 9 + length ? " …" : ""}`;
}
