import { assert, assertEquals } from "@std/assert";
import { FLAG, FRAME, MAX_WINDOW_BYTES } from "../../../lib/wire/mod.ts";
import { type RawFrame, splitFrames } from "../../support/frame_parser.ts";
import { toHex } from "../../support/hex.ts";
import { BlockReader } from "./block_reader.ts";
import { type ConnectionState, FINE, type Verdict } from "./connection_state.ts";
import type { ModelField } from "./hpack.ts";
import type { Judge } from "./judge.ts";
import { numberAt } from "./number_at.ts";
import { faultOfSetting, readSettings } from "./settings_frame.ts";
import type { ModelStream } from "./stream_model.ts";

/** Every peer must take frames this long, and none that we meet says otherwise (RFC 9113 §4.2). */
const MAX_FRAME_BYTES = 16_384;

/** What the frames that we send say, once they have been found legal. */
export interface OutputReader {
  head(id: number, fields: readonly ModelField[]): void;
  data(id: number, payload: Uint8Array): void;
}

/** Holds everything that we send to RFC 9113, by what the peer has sent up to then. */
export class OutputCheck {
  /** What was said of the frame that is being answered. */
  answering: Verdict = FINE;
  /** RST_STREAM and GOAWAY since the frame that is being answered came. */
  faults: { id: number; code: number }[] = [];
  /** PINGs of ours that are to come, and what they carry. */
  readonly pingsDue: string[] = [];
  #state: ConnectionState;
  #judge: Judge;
  #reader: OutputReader;
  #isFirst = true;
  readonly #blocks = new BlockReader();

  constructor(judge: Judge, reader: OutputReader) {
    this.#judge = judge;
    this.#state = judge.state;
    this.#reader = reader;
  }

  read(bytes: Uint8Array): void {
    for (const frame of splitFrames(bytes)) this.#see(frame);
    assert(!this.#blocks.isOpen, "half a header block");
  }

  #see(frame: RawFrame): void {
    const { type, payload } = frame;
    const state = this.#state;
    assert(!state.hasFailed, `a frame of type ${type} after the last GOAWAY`);
    assert(payload.length <= MAX_FRAME_BYTES, "a frame that is too long");
    if (this.#isFirst) assertEquals(type, FRAME.settings, "the first frame");
    this.#isFirst = false;
    assert(
      this.#blocks.admits(frame),
      `a frame of type ${type} where a header block is, or is not`,
    );
    switch (type) {
      case FRAME.data:
        return this.#data(frame);
      case FRAME.headers:
        return this.#headers(frame);
      case FRAME.continuation:
        return this.#piece(frame);
      case FRAME.rstStream:
        return this.#reset(frame);
      case FRAME.settings:
        return this.#settings(frame);
      case FRAME.ping:
        return this.#ping(frame);
      case FRAME.goAway:
        return this.#goAway(frame);
      case FRAME.windowUpdate:
        return this.#windowUpdate(frame);
      default:
        throw new Error(`a frame of type ${type}, which we never send`);
    }
  }

  /** The stream on which a frame may be sent. */
  #sending(streamId: number, what: string): ModelStream {
    const stream = this.#state.live(streamId);
    assert(stream !== undefined, `${what} on stream ${streamId}, which is closed or idle`);
    assert(!stream.weEnded, `${what} on stream ${streamId}, which we ended`);
    return stream;
  }

  #data({ flags, streamId, payload }: RawFrame): void {
    const state = this.#state;
    const stream = this.#sending(streamId, "DATA");
    assert(stream.headsOut > 0, "DATA before HEADERS");
    assertEquals(flags & ~FLAG.endStream, 0, "flags of DATA");
    if (payload.length > 0) {
      assert(payload.length <= stream.sendWindow, "DATA beyond the stream's window");
      assert(payload.length <= state.sendWindow, "DATA beyond the connection's window");
    }
    stream.sendWindow -= payload.length;
    state.sendWindow -= payload.length;
    stream.weEnded = flags !== 0;
    this.#reader.data(streamId, payload);
  }

  #headers(frame: RawFrame): void {
    const { streamId } = frame;
    const state = this.#state;
    if (state.role === "client" && state.isIdle(streamId)) this.#open(streamId);
    this.#sending(streamId, "HEADERS").headsOut++;
    this.#piece(frame);
  }

  #open(streamId: number): void {
    const state = this.#state;
    assert(streamId % 2 === 1, "a stream that a client may not open");
    assert(!state.peerGoesAway, "a new stream after GOAWAY");
    const room = state.peer.maxConcurrentStreams;
    assert(state.open.length < room, `a stream more than the peer's ${room}`);
    state.lastOurId = streamId;
    state.add(streamId);
  }

  #piece(frame: RawFrame): void {
    this.#blocks.push(frame, frame.payload);
    const block = this.#blocks.end(frame);
    if (block === undefined) return;
    const decoded = this.#state.decoderOut.decode(block.bytes);
    if ("broken" in decoded) throw new Error(`a header block with ${decoded.broken}`);
    if (block.endStream) this.#state.live(block.id)!.weEnded = true;
    this.#reader.head(block.id, decoded.fields);
  }

  #reset({ streamId, payload }: RawFrame): void {
    assertEquals(payload.length, 4, "the size of RST_STREAM");
    const state = this.#state;
    const code = numberAt(payload, 0);
    this.faults.push({ id: streamId, code });
    const { answering } = this;
    const stream = state.streams.get(streamId);
    const isAnswer = answering.scope === "stream" && answering.streamId === streamId;
    assert(!state.isIdle(streamId), `RST_STREAM on stream ${streamId}, which is idle`);
    if (!isAnswer) {
      assert(stream !== undefined && !stream.isClosed, `RST_STREAM on a stream that is closed`);
    }
    if (isAnswer && answering.isForgotten) return;
    state.resetByUs.add(streamId);
    if (stream !== undefined) stream.weReset = true;
  }

  #settings(frame: RawFrame): void {
    const state = this.#state;
    const read = readSettings(frame);
    if (read.says === "nothing") throw new Error(`SETTINGS that are a fault of ${read.fault}`);
    if (read.says === "ack") {
      assert(state.settingsOwed-- > 0, "an acknowledgement of nothing");
      return;
    }
    for (const pair of read.pairs) {
      assertEquals(faultOfSetting(pair, state.role), undefined, `the setting ${pair}`);
      const [id, value] = pair;
      if (id === 4) state.our.initialWindowBytes = value;
    }
  }

  #ping({ flags, streamId, payload }: RawFrame): void {
    assertEquals([streamId, payload.length], [0, 8], "the shape of PING");
    const opaque = toHex(payload);
    if ((flags & FLAG.ack) !== 0) {
      assertEquals(opaque, this.#state.pingsOwed.shift(), "PING is not what was asked");
    } else if (this.pingsDue[0] === opaque) this.pingsDue.shift();
    else {
      assert(this.#judge.drainOpaque === undefined, "a PING that nobody wanted");
      this.#judge.drainOpaque = opaque;
    }
  }

  #goAway({ streamId, payload }: RawFrame): void {
    assertEquals(streamId, 0, "GOAWAY on a stream");
    const state = this.#state;
    const last = numberAt(payload, 0);
    const code = numberAt(payload, 4);
    assert(last <= state.lastAcceptedId, "a GOAWAY that takes back what it said (RFC 9113 §6.8)");
    state.lastAcceptedId = last;
    state.hasFailed = code !== 0;
    if (code !== 0) this.faults.push({ id: 0, code });
  }

  #windowUpdate({ streamId, payload }: RawFrame): void {
    assertEquals(payload.length, 4, "the size of WINDOW_UPDATE");
    const increment = numberAt(payload, 0);
    assert(increment > 0, "a WINDOW_UPDATE of 0");
    const state = this.#state;
    const side = streamId === 0 ? state : state.live(streamId);
    assert(side !== undefined, `WINDOW_UPDATE on stream ${streamId}, which is closed or idle`);
    side.recvWindow += increment;
    assert(side.recvWindow <= MAX_WINDOW_BYTES, "a window beyond its limit");
    side.announcedBytes += increment;
    if (streamId === 0) {
      // Credit is due for all that came, used or not, and goes back whole; the first grant is beyond what came.
      const first = 2 ** 20 - 65_535;
      assertEquals(side.announcedBytes, side.receivedBytes + first, "credit of the connection");
    } else assert(side.announcedBytes <= side.receivedBytes, "credit for what never came");
  }
}
