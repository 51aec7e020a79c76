import type { FrameLog } from "../wire/mod.ts";
import { MAX_QUESTION_BYTES } from "./verifier.ts";

/** Bytes of questions that shadow keeps at once, to ask again where answers differ. Beyond it a difference stays unexplained. */
const MAX_HELD_BYTES = 4 << 20;

/** The questions of would-be followers, for as long as their answers may have to be looked into. */
export class HeldQuestions {
  #heldBytes = 0;

  /** The question, shared with the call that asks it; undefined where it is too large, or too many are held. */
  take(message: FrameLog): FrameLog | undefined {
    const bytes = message.heldBytes;
    if (message.dataBytes > MAX_QUESTION_BYTES || this.#heldBytes + bytes > MAX_HELD_BYTES) {
      return undefined;
    }
    this.#heldBytes += bytes;
    return message.share();
  }

  /** A question of so many bytes is held no more. */
  released(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
