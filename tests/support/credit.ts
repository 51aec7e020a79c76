import { DEFAULT_MAX_FRAME_BYTES, DEFAULT_WINDOW_BYTES, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "./backend_end.ts";
import type { CallerCall, CallerEnd } from "./caller_end.ts";
import { data } from "./frames.ts";
import type { PeerEnd, SeenStream } from "./peer_end.ts";
import { until } from "./waiting.ts";

/** One side of a stream, and what has been seen of the other one. */
export interface StreamSide {
  readonly id: number;
  readonly seen: SeenStream;
  readonly end: PeerEnd;
}

/** A backend's side of a call. */
export function answering({ id, seen, backend }: BackendRequest): StreamSide {
  return { id, seen, end: backend };
}

/** A caller's side of a call. */
export function asking({ id, reply }: CallerCall, end: CallerEnd): StreamSide {
  return { id, seen: reply, end };
}

/**
 * Sends DATA as far as the credit of the stream and of the connection goes, as peers must; resolves when all of it is
 * sent, or the stream was reset. `credit` is that of the connection.
 */
export async function sendAsCredited(
  { id, seen, end }: StreamSide,
  pieces: Iterable<Uint8Array>,
  credit: Credit = new Credit(end),
): Promise<void> {
  let sent = 0;
  const room = () => Math.min(credit.room, credit.streamWindow + seen.granted - sent);
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      if (room() <= 0) await until(() => room() > 0 || seen.reset !== undefined, "credit");
      if (seen.reset !== undefined) return;
      const size = Math.min(room(), DEFAULT_MAX_FRAME_BYTES, piece.length - at);
      end.sends(data(id, piece.subarray(at, at + size)));
      at += size;
      sent += size;
      credit.taken += size;
    }
  }
}

/** What a connection's peer allows, as it says so. */
export class Credit {
  /** DATA sent on all streams. */
  taken = 0;
  streamWindow: number = DEFAULT_WINDOW_BYTES;
  #whole: number = DEFAULT_WINDOW_BYTES;
  #end: PeerEnd;
  #looked = 0;

  constructor(end: PeerEnd) {
    this.#end = end;
  }

  /** How much DATA may be sent on all streams together. */
  get room(): number {
    const { frames } = this.#end;
    for (; this.#looked < frames.length; this.#looked++) {
      const frame = frames[this.#looked]!;
      if (frame.type === "WINDOW_UPDATE" && frame.streamId === 0) this.#whole += frame.increment;
      if (frame.type !== "SETTINGS") continue;
      for (const [id, value] of frame.settings) {
        if (id === SETTING.initialWindowSize) this.streamWindow = value;
      }
    }
    return this.#whole - this.taken;
  }
}
