import { ERROR_CODE, FLAG } from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { BlockReader, type WholeBlock } from "./block_reader.ts";
import {
  connectionFault,
  type ConnectionState,
  FINE,
  FRAME_SIZE,
  PROTOCOL,
  strayFault,
  streamFault,
  tells,
  type Verdict,
} from "./connection_state.ts";
import { declaredLength, isLegalBlock } from "./header_rules.ts";
import { type ModelField, sizeOf } from "./hpack.ts";
import { numberAt } from "./number_at.ts";
import type { ModelStream } from "./stream_model.ts";

/** The list size that we announce; what is larger is cut off, not refused by the connection. */
const MAX_LIST_BYTES = 65_536;

/** What a block of headers may take (see `lib/connection/header_block.ts`). */
const MAX_CONTINUATIONS = 32;
const MAX_BLOCK_BYTES = 512 * 1_024;

/** Where HEADERS has a dependency and a weight. */
const PRIORITY_BYTES = 5;

/** HEADERS and CONTINUATION (RFC 9113 §6.2, §6.10, §8). */
export class HeadersJudge {
  readonly blocks: BlockReader = new BlockReader();
  #state: ConnectionState;
  /** The block says that its stream depends on itself. */
  #isSelfDependent = false;

  constructor(state: ConnectionState) {
    this.#state = state;
  }

  onHeaders(frame: RawFrame): Verdict {
    const { flags, streamId, payload } = frame;
    if (streamId === 0) return PROTOCOL;
    const isPadded = (flags & FLAG.padded) !== 0;
    const hasPriority = (flags & FLAG.priority) !== 0;
    const from = (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0);
    if (payload.length < from) return FRAME_SIZE;
    const to = payload.length - (isPadded ? payload[0]! : 0);
    if (to < from) return PROTOCOL;
    this.#isSelfDependent = false;
    if (hasPriority) {
      const dependsOn = numberAt(payload, from - PRIORITY_BYTES) & 0x7fffffff;
      this.#isSelfDependent = dependsOn === streamId;
    }
    this.blocks.push(frame, payload.subarray(from, to));
    return this.#endOf(frame);
  }

  onContinuation(frame: RawFrame): Verdict {
    this.blocks.push(frame, frame.payload);
    const { frames, bytes } = this.blocks.size;
    if (frames > MAX_CONTINUATIONS + 1 || bytes > MAX_BLOCK_BYTES) {
      return connectionFault(ERROR_CODE.enhanceYourCalm);
    }
    return this.#endOf(frame);
  }

  #endOf(frame: RawFrame): Verdict {
    const state = this.#state;
    const block = this.blocks.end(frame);
    if (block === undefined) return FINE;
    const decoded = state.decodeIn(block.bytes);
    if ("broken" in decoded) return connectionFault(ERROR_CODE.compressionError);
    const known = state.live(block.id);
    if (known !== undefined) return this.#judge(known, block, decoded.fields);
    const { role } = state;
    if (!state.isIdle(block.id)) {
      if (role === "client" || state.resetByUs.has(block.id)) return FINE;
      return connectionFault(ERROR_CODE.streamClosed, ERROR_CODE.protocolError);
    }
    if (role === "client" || block.id % 2 === 0) return PROTOCOL;
    state.lastPeerId = block.id;
    if (block.id > state.lastAcceptedId) return strayFault(block.id, ERROR_CODE.refusedStream);
    return this.#judge(state.add(block.id), block, decoded.fields);
  }

  #judge(stream: ModelStream, block: WholeBlock, all: readonly ModelField[]): Verdict {
    const { id, endStream } = block;
    if (stream.peerEnded) return streamFault(stream, ERROR_CODE.streamClosed);
    let listBytes = 0;
    const fields = all.filter((field) => (listBytes += sizeOf(field)) <= MAX_LIST_BYTES);
    const isCut = listBytes > MAX_LIST_BYTES;
    if (this.#isSelfDependent || !this.#isLegal(stream, fields, { isCut, endStream })) {
      return streamFault(stream, ERROR_CODE.protocolError);
    }
    if (endStream) {
      if (stream.lengthDiffers(true)) return streamFault(stream, ERROR_CODE.protocolError);
      stream.peerEnded = true;
    }
    return tells({ what: "headers", id, fields, isCut, endStream });
  }

  /** Whether the block may stand where it does; notes what it says of the stream. */
  #isLegal(
    stream: ModelStream,
    fields: readonly ModelField[],
    { isCut, endStream }: { isCut: boolean; endStream: boolean },
  ): boolean {
    if (isCut) { // nobody can tell, and the sink will refuse it
      stream.headIn = true;
      return true;
    }
    if (stream.headIn) return endStream && isLegalBlock("trailers", fields);
    const isResponse = this.#state.role === "client";
    if (!isLegalBlock(isResponse ? "response" : "request", fields)) return false;
    if (isResponse && fields.find(({ name }) => name === ":status")!.value.startsWith("1")) {
      return !endStream;
    }
    const declared = declaredLength(fields);
    if (declared === "illegal") return false;
    stream.declaredBytes = declared;
    stream.headIn = true;
    return true;
  }
}
