import { ERROR_CODE, FLAG, type HeaderCache, HpackDecoder, readUint31 } from "../wire/mod.ts";
import type { Core } from "./core.ts";
import { HeaderBlock } from "./header_block.ts";
import { requestFault, responseFault, trailersFault } from "./header_rules.ts";
import { MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_BYTES, PRIORITY_BYTES } from "./limits.ts";
import { type Stream, UNDECLARED } from "./stream.ts";
import { ILLEGAL, INPUT, nextState } from "./stream_state.ts";

/**
 * HEADERS and CONTINUATION that come in (RFC 9113 §6.2, §6.10): the block they carry, the stream that it opens
 * or goes on with, and whether it may stand there (§8).
 */
export class HeaderFrames<Owner> {
  readonly #core: Core<Owner>;
  readonly #decoder: HpackDecoder;
  readonly #block = new HeaderBlock();

  constructor(core: Core<Owner>, headerCache: HeaderCache) {
    this.#core = core;
    this.#decoder = new HpackDecoder(headerCache, { maxListBytes: MAX_HEADER_LIST_BYTES });
  }

  /** The stream whose block has not ended yet: only its CONTINUATION may follow. 0 while there is none. */
  get blockStreamId(): number {
    return this.#block.streamId;
  }

  onHeaders(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id === 0) return core.fail(ERROR_CODE.protocolError, "HEADERS on stream 0");
    let dependsOn = 0;
    if ((flags & (FLAG.padded | FLAG.priority)) !== 0) {
      const isPadded = (flags & FLAG.padded) !== 0;
      const hasPriority = (flags & FLAG.priority) !== 0;
      if (to - from < (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0)) {
        return core.fail(ERROR_CODE.frameSizeError, "HEADERS too short for its flags");
      }
      if (isPadded) to -= bytes[from++]!;
      if (hasPriority) {
        dependsOn = readUint31(bytes, from);
        from += PRIORITY_BYTES;
      }
      if (from > to) return core.fail(ERROR_CODE.protocolError, "padding longer than its frame");
    }
    const endStream = (flags & FLAG.endStream) !== 0;
    // A stream that depends on itself was a stream error (RFC 7540 §5.3.1), and is still sent as a probe.
    const selfDependent = dependsOn === id;
    if ((flags & FLAG.endHeaders) !== 0) {
      return this.#onBlock(id, bytes, { from, to, endStream, selfDependent });
    }
    this.#block.begin(id, { endStream, selfDependent });
    return this.#addToBlock(bytes, from, to);
  }

  onContinuation(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#block.streamId === 0) {
      return this.#core.fail(ERROR_CODE.protocolError, "CONTINUATION without HEADERS");
    }
    if (from === to && !this.#core.countIdleFrame()) return false;
    if (!this.#addToBlock(bytes, from, to)) return false;
    if ((flags & FLAG.endHeaders) === 0) return true;
    const { bytes: block, length, endStream, selfDependent } = this.#block.take();
    return this.#onBlock(id, block, { from: 0, to: length, endStream, selfDependent });
  }

  #addToBlock(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#block.append(bytes, from, to)) return true;
    return this.#core.fail(ERROR_CODE.enhanceYourCalm, "a header block without end");
  }

  /** A whole header block. It is decoded whatever becomes of it, to keep the table right (RFC 9113 §4.3). */
  #onBlock(
    id: number,
    bytes: Uint8Array,
    block: { from: number; to: number; endStream: boolean; selfDependent: boolean },
  ): boolean {
    const core = this.#core;
    const broken = this.#decoder.decode(bytes, block.from, block.to);
    if (broken !== "") return core.fail(ERROR_CODE.compressionError, broken);
    const stream = core.streams.get(id) ?? this.#accept(id);
    if (stream === undefined) return core.failed === undefined;
    if (nextState(stream.state, INPUT.recvHeaders) === ILLEGAL) {
      const why = "HEADERS after the end of the stream";
      return core.failStream(stream, ERROR_CODE.streamClosed, why);
    }
    core.apply(stream, INPUT.recvHeaders);
    if (block.selfDependent) {
      return core.failStream(stream, ERROR_CODE.protocolError, "a stream that depends on itself");
    }
    const fault = this.#faultOf(stream, block.endStream);
    if (fault !== "") return core.failStream(stream, ERROR_CODE.protocolError, fault);
    if (core.failed !== undefined) return false; // by one interim response too many
    if (block.endStream) {
      if (!stream.lengthAgrees(true)) {
        const why = "an end that differs from content-length";
        return core.failStream(stream, ERROR_CODE.protocolError, why);
      }
      core.endRemote(stream);
    }
    core.sink.headers(stream, this.#decoder, block.endStream);
    return core.failed === undefined;
  }

  /** The stream that a block of headers opens, or undefined when it opens none. */
  #accept(id: number): Stream<Owner> | undefined {
    const core = this.#core;
    if (!core.isIdle(id)) {
      // A server may answer any number of streams before it hears that we reset them, more than are remembered.
      if (!core.isServer || core.resetByUs.has(id)) return undefined;
      core.fail(ERROR_CODE.streamClosed, "HEADERS on a closed stream");
      return undefined;
    }
    if (!core.isServer || id % 2 === 0) {
      const why = "HEADERS on a stream that the peer may not open";
      core.fail(ERROR_CODE.protocolError, why);
      return undefined;
    }
    if (id <= core.lastAcceptedId && core.streams.size < MAX_CONCURRENT_STREAMS) {
      return core.accept(id);
    }
    core.refuse(id);
    return undefined;
  }

  /** Checks the decoded block against RFC 9113 §8 and notes what it says of the stream. */
  #faultOf(stream: Stream<Owner>, endStream: boolean): string {
    const { list, perCall, fault } = this.#decoder;
    const { isServer } = this.#core;
    if (fault !== "") return fault;
    if (this.#decoder.tooLarge) { // it is cut off, so the rules cannot be asked; the sink refuses it
      stream.headersReceived = true;
      return "";
    }
    if (stream.headersReceived) {
      return endStream ? trailersFault(list) : "trailers that do not end the stream";
    }
    const illegal = isServer ? requestFault(list) : responseFault(list);
    if (illegal !== "") return illegal;
    if (!isServer && list.get(":status")!.startsWith("1")) { // interim, RFC 9113 §8.1
      if (endStream) return "an interim response that ends the stream";
      this.#core.countIdleFrame();
      return "";
    }
    stream.headersReceived = true;
    for (const { name, value } of perCall) {
      if (name !== "content-length") continue;
      if (!/^\d{1,15}$/.test(value)) return "a content-length that is no number";
      if (stream.declaredBytes !== UNDECLARED && stream.declaredBytes !== Number(value)) {
        return "two content-lengths";
      }
      stream.declaredBytes = Number(value);
    }
    return "";
  }
}
