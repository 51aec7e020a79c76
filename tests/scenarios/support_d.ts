/**
 * The ends that tests play frame by frame, on real sockets: a backend that listens, and callers that connect to a
 * sidecar. What they say and see is as in a rig; only that nothing can be waited for but by looking.
 *
 * @module
 */

import { FLAG, FRAME, FRAME_HEADER_BYTES, readUint24 } from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import { CallerEnd } from "../support/caller_end.ts";
import { concat, PREFACE } from "../support/frames.ts";
import type { PeerEnd, SettingPairs } from "../support/peer_end.ts";
import { until } from "../support/waiting.ts";

/** A backend whose connections are played by the test. */
export class ListeningBackend implements AsyncDisposable {
  readonly port: number;
  readonly connections: BackendEnd[] = [];
  /** Requests on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  /** Does something to each request once it is complete. */
  onRequest: ((request: BackendRequest) => void) | undefined;
  readonly #listener: Deno.Listener;
  readonly #serving: Promise<void>;
  readonly #moving: Promise<void>[] = [];

  /** `port` 0 is any free one. */
  constructor(
    onRequest?: (request: BackendRequest) => void,
    { port = 0 }: { port?: number } = {},
  ) {
    this.onRequest = onRequest;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port });
    this.port = (this.#listener.addr as Deno.NetAddr).port;
    this.#serving = this.#serve();
  }

  /** Requests that have neither been answered nor reset. */
  get open(): BackendRequest[] {
    return this.requests.filter((request) => !request.isOver);
  }

  /** Resolves when so many requests have come, all in all and whole. */
  async saw(count: number): Promise<void> {
    const whole = () => this.requests.filter(({ ended }) => ended).length >= count;
    await until(whole, `${count} requests at the backend`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const { socket } of this.connections) socket.ends();
    await this.#serving;
    await Promise.all(this.#moving);
    for (const { trouble } of this.connections) if (trouble !== undefined) throw trouble;
  }

  async #serve(): Promise<void> {
    for await (const conn of this.#listener) {
      const end = new BackendEnd(this.requests);
      end.onRequest = (request) => this.onRequest?.(request);
      this.connections.push(end);
      this.#moving.push(join(end, conn, PREFACE.length));
    }
  }
}

/** A caller of a sidecar in this process or another. It leaves when the scope ends. */
export async function callerAt(
  port: number,
  settings?: SettingPairs,
): Promise<CallerEnd & AsyncDisposable> {
  const caller = new CallerEnd(settings);
  const moving = join(caller, await Deno.connect({ hostname: "127.0.0.1", port }));
  const leave = async () => {
    caller.leaves();
    await moving;
    if (caller.trouble !== undefined) throw caller.trouble;
  };
  return Object.assign(caller, { [Symbol.asyncDispose]: leave });
}

/** Resolves when all of these calls have their status, or were reset. */
export async function allEnded(
  calls: readonly { reply: { endedBy: unknown; reset: unknown } }[],
): Promise<void> {
  const open = () =>
    calls.filter(({ reply }) => reply.endedBy === undefined && reply.reset === undefined).length;
  await until(() => open() === 0, "the end of every call");
}

/** Moves bytes both ways until either side is done. */
async function join({ socket }: PeerEnd, conn: Deno.Conn, prefaceBytes = 0): Promise<void> {
  const whole = new WholeFrames(prefaceBytes);
  const inbound = move((into) => conn.read(into), async (bytes) => {
    const frames = whole.take(bytes);
    if (frames.length > 0) await socket.write(frames);
  }).finally(() => socket.isClosed || socket.close());
  const outbound = move((into) => socket.read(into), async (bytes) => {
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  });
  await outbound;
  conn.close();
  await inbound;
}

/** Copies until there is no more, for whichever reason. */
async function move(
  read: (into: Uint8Array) => Promise<number | null>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    for (let count; (count = await read(buffer)) !== null;) await write(buffer.slice(0, count));
  } catch {
    // The other side is gone: what is lost with it shows in what the test looks at.
  }
}

/** Cuts what a socket gives anywhere to where ends read it: behind a frame, and never within a header block. */
class WholeFrames {
  #rest = new Uint8Array(0);
  #prefaceBytes: number;

  constructor(prefaceBytes: number) {
    this.#prefaceBytes = prefaceBytes;
  }

  take(bytes: Uint8Array): Uint8Array {
    const all = concat(this.#rest, bytes);
    let end = 0;
    for (let at = this.#prefaceBytes; at + FRAME_HEADER_BYTES <= all.length;) {
      const next = at + FRAME_HEADER_BYTES + readUint24(all, at);
      if (next > all.length) break;
      if (!opensBlock(all[at + 3]!, all[at + 4]!)) end = next;
      at = next;
    }
    if (end > 0) this.#prefaceBytes = 0;
    this.#rest = all.slice(end);
    return all.subarray(0, end);
  }
}

function opensBlock(type: number, flags: number): boolean {
  const holdsFields = type === FRAME.headers || type === FRAME.continuation;
  return holdsFields && (flags & FLAG.endHeaders) === 0;
}
