import type { Stream } from "../../../lib/connection/mod.ts";
import { FrameLog } from "../../../lib/wire/mod.ts";
import { block, type Pairs } from "../../support/frames.ts";

/** A log, and what it says: DATA is a pattern that shows what is missing or twice. */
export class Script {
  readonly log = new FrameLog();
  readonly heads: Pairs[] = [];
  readonly readers = new Set<Stream<unknown>>();
  bodyBytes = 0;
  isSealed = false;

  head(fields: Pairs, endStream: boolean): void {
    this.heads.push(fields);
    this.log.appendHeaders(block(fields), endStream);
  }

  data(length: number, endStream: boolean): void {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = patternAt(this.bodyBytes + i);
    this.bodyBytes += length;
    this.log.appendData(bytes, 0, length, endStream);
  }
}

/** The byte of all DATA that stands there. */
export function patternAt(offset: number): number {
  return (offset * 31 + (offset >> 8)) & 0xff;
}
