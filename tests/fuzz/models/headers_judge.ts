import { ERROR_CODE, FLAG } from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { concat } from "../../support/frames.ts";
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
import type { ModelStream } from "./stream_model.ts";

/** The list size that we announce; what is larger is cut off, not refused by the connection. */
const MAX_LIST_BYTES = 65_536;

/** What a block of headers may take (see `lib/connection/header_block.ts`). */
const MAX_CONTINUATIONS = 32;
const MAX_BLOCK_BYTES = 512 * 1_024;

/** Where HEADERS has a dependency and a weight. */
const PRIORITY_BYTES = 5;

interface Block {
  readonly id: number;
  readonly endStream: boolean;
  readonly selfDependent: boolean;
  readonly pieces: Uint8Array[];
}

/** HEADERS and CONTINUATION (RFC 9113 §6.2, §6.10, §8). */
export class HeadersJudge {
  #state: ConnectionState;
  #block: Block | undefined = undefined;

  constructor(state: ConnectionState) {
    this.#state = state;
  }

  get blockId(): number | undefined {
    return this.#block?.id;
  }

  onHeaders({ flags, streamId, payload }: RawFrame): Verdict {
    if (streamId === 0) return PROTOCOL;
    const isPadded = (flags & FLAG.padded) !== 0;
    const hasPriority = (flags & FLAG.priority) !== 0;
    let from = (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0);
    if (payload.length < from) return FRAME_SIZE;
    const to = payload.length - (isPadded ? payload[0]! : 0);
    if (to < from) return PROTOCOL;
    let dependsOn: number | undefined;
    if (hasPriority) {
      from -= PRIORITY_BYTES;
      dependsOn = new DataView(payload.buffer, payload.byteOffset + from).getUint32(0) & 0x7fffffff;
      from += PRIORITY_BYTES;
    }
    this.#block = {
      id: streamId,
      endStream: (flags & FLAG.endStream) !== 0,
      selfDependent: dependsOn === streamId,
      pieces: [payload.subarray(from, to)],
    };
    return (flags & FLAG.endHeaders) !== 0 ? this.#end() : FINE;
  }

  onContinuation({ flags, payload }: RawFrame): Verdict {
    const block = this.#block;
    if (block === undefined) return PROTOCOL;
    block.pieces.push(payload);
    const length = block.pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (block.pieces.length > MAX_CONTINUATIONS + 1 || length > MAX_BLOCK_BYTES) {
      return connectionFault(ERROR_CODE.enhanceYourCalm);
    }
    return (flags & FLAG.endHeaders) !== 0 ? this.#end() : FINE;
  }

  #end(): Verdict {
    const state = this.#state;
    const block = this.#block!;
    this.#block = undefined;
    const decoded = state.decodeIn(concat(...block.pieces));
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

  #judge(stream: ModelStream, block: Block, all: readonly ModelField[]): Verdict {
    const { id, endStream } = block;
    if (stream.peerEnded) return streamFault(stream, ERROR_CODE.streamClosed);
    let listBytes = 0;
    const fields = all.filter((field) => (listBytes += sizeOf(field)) <= MAX_LIST_BYTES);
    const isCut = listBytes > MAX_LIST_BYTES;
    if (block.selfDependent || !this.#isLegal(stream, fields, { isCut, endStream })) {
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
