import type { Outcome } from "../observe/mod.ts";
import {
  type BufferedBytes,
  Field,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  FrameLog,
  OutputBuffer,
  writeLiteral,
} from "../wire/mod.ts";

/** The log of one caller that asked how its call was answered: the last block says so. */
export class DebugLog {
  #log: FrameLog | undefined = undefined;
  readonly #account: BufferedBytes;

  /** `account` counts what the log holds. */
  constructor(account: BufferedBytes) {
    this.#account = account;
  }

  /** The log to read in place of an ended one, from where `stream` has read up to now. */
  of(
    ended: FrameLog,
    stream: { position: number; partialBytes: number },
    outcome: Outcome,
  ): FrameLog {
    const boundary = stream.position + stream.partialBytes;
    return this.#log ??= withDebugTrailer(ended, { outcome, boundary, account: this.#account });
  }

  /** Nobody reads it any more. */
  release(): void {
    this.#log?.clear();
  }
}

/**
 * A copy of an ended log, positions included, whose last block says how the call was answered. `boundary` is where a
 * frame begins that its reader has not read yet: what was dropped may end within one.
 */
export function withDebugTrailer(
  log: FrameLog,
  { outcome, boundary, account }: { outcome: Outcome; boundary: number; account?: BufferedBytes },
): FrameLog {
  const copy = new FrameLog();
  const block = new OutputBuffer();
  let endsAt = log.end;
  for (const { type, flags, from, to } of log.frames(boundary)) {
    const isLast = type === FRAME.headers && (flags & FLAG.endStream) !== 0;
    if (isLast) endsAt = from - FRAME_HEADER_BYTES + log.shift;
    if (isLast || block.length > 0) block.append(log.bytes, from, to);
  }
  copy.bytes = log.bytes.slice(0, endsAt - log.shift);
  copy.shift = log.shift;
  copy.start = log.start;
  copy.end = endsAt;
  copy.countIn(account);
  const said = debugField(outcome);
  block.append(said, 0, said.length);
  copy.appendHeaders(block.bytes.slice(0, block.length), true);
  copy.dataBytes = log.dataBytes;
  return copy;
}

/** The bytes that say `x-collapser: OUTCOME` at the end of a stateless block. */
function debugField(outcome: Outcome): Uint8Array {
  const out = new OutputBuffer();
  writeLiteral(out, new Field("x-collapser", outcome));
  return out.bytes.slice(0, out.length);
}
