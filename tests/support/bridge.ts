import type { Socket } from "../../lib/transport/mod.ts";
import { FLAG, FRAME, FRAME_HEADER_BYTES, readUint24 } from "../../lib/wire/mod.ts";
import { BackendEnd } from "./backend_end.ts";
import { concat, PREFACE } from "./frames.ts";
import type { PeerEnd } from "./peer_end.ts";

const READ_BYTES = 65_536;

/** How the other side closed: in order, or why not. */
export type Closing = "in order" | Error;

/**
 * Joins an end that a test plays frame by frame with a socket of the system's, until either is closed; resolves when
 * both are.
 */
export async function bridge(end: PeerEnd, socket: Socket): Promise<Closing> {
  const hearing = hear(socket, end).finally(() => end.socket.isClosed || end.socket.close());
  // Who cannot be told anything may have said more: it is read to the end.
  if (await speak(end, socket) === "lost") await hearing;
  socket.close();
  return await hearing;
}

async function speak({ socket: from }: PeerEnd, to: Socket): Promise<"ended" | "lost"> {
  const buffer = new Uint8Array(READ_BYTES);
  for (;;) {
    const count = await from.read(buffer).catch(() => null); // interrupted, when the other side was first
    if (count === null) return "ended";
    try {
      for (let at = 0; at < count;) at += await to.write(buffer.subarray(at, count));
    } catch {
      return "lost"; // how, the reader sees
    }
  }
}

async function hear(from: Socket, end: PeerEnd): Promise<Closing> {
  const frames = new WholeFrames(end instanceof BackendEnd ? PREFACE.length : 0);
  const buffer = new Uint8Array(READ_BYTES);
  let closing: Closing = "in order";
  for (;;) {
    const count = await from.read(buffer).catch((error: Error) => {
      closing = error;
      return null;
    });
    if (count === null || end.socket.isClosed) return closing;
    const whole = frames.push(buffer.subarray(0, count));
    if (whole.length > 0) await end.socket.write(whole);
  }
}

/** Ends read whole frames, and header blocks whole; a socket cuts as it likes. */
export class WholeFrames {
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes before the first frame that have not come yet. */
  #prefaceBytes: number;

  constructor(prefaceBytes: number) {
    this.#prefaceBytes = prefaceBytes;
  }

  /** What is whole now. */
  push(bytes: Uint8Array): Uint8Array {
    const all = concat(this.#rest, bytes);
    let whole = 0;
    for (let at = this.#prefaceBytes; at + FRAME_HEADER_BYTES <= all.length;) {
      const next = at + FRAME_HEADER_BYTES + readUint24(all, at);
      if (next > all.length) break;
      if (!opensBlock(all[at + 3]!, all[at + 4]!)) whole = next;
      at = next;
    }
    if (whole > 0) this.#prefaceBytes = 0;
    this.#rest = all.subarray(whole);
    return all.subarray(0, whole);
  }
}

function opensBlock(type: number, flags: number): boolean {
  const holdsFields = type === FRAME.headers || type === FRAME.continuation;
  return holdsFields && (flags & FLAG.endHeaders) === 0;
}
