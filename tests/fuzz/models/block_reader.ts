import { FLAG, FRAME } from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { concat } from "../../support/frames.ts";

/** A header block that is whole, not decoded. */
export interface WholeBlock {
  readonly id: number;
  /** As its HEADERS said. */
  readonly endStream: boolean;
  readonly bytes: Uint8Array;
}

/** Puts header blocks together: HEADERS begins one, and until it ends its CONTINUATION alone may follow (RFC 9113 §6.10). */
export class BlockReader {
  #open: { id: number; endStream: boolean; pieces: Uint8Array[] } | undefined = undefined;

  /** A block has begun and not ended. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Frames of the block that is open, and the bytes that they hold of it. */
  get size(): { frames: number; bytes: number } {
    const pieces = this.#open?.pieces ?? [];
    return { frames: pieces.length, bytes: pieces.reduce((sum, { length }) => sum + length, 0) };
  }

  /** Whether a frame may come now. */
  admits({ type, streamId }: RawFrame): boolean {
    const isContinuation = type === FRAME.continuation;
    return this.#open === undefined
      ? !isContinuation
      : isContinuation && streamId === this.#open.id;
  }

  /** Takes a HEADERS or CONTINUATION frame that it admits, of which `piece` belongs to the block. */
  push({ flags, streamId }: RawFrame, piece: Uint8Array): void {
    const endStream = (flags & FLAG.endStream) !== 0;
    this.#open ??= { id: streamId, endStream, pieces: [] };
    this.#open.pieces.push(piece);
  }

  /** The block, when that frame was its last. */
  end({ flags }: RawFrame): WholeBlock | undefined {
    const open = this.#open;
    if (open === undefined || (flags & FLAG.endHeaders) === 0) return undefined;
    this.#open = undefined;
    return { id: open.id, endStream: open.endStream, bytes: concat(...open.pieces) };
  }
}
