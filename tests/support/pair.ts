/**
 * A client and a server connection joined in memory: what one writes the other receives, cut at
 * random as a network would, until neither has anything more to say.
 *
 * @module
 */

import { Connection, type Stream } from "../../lib/connection/mod.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { randomCuts, rng } from "./cuts.ts";
import { type Pairs, REQUEST } from "./frames.ts";
import { RecordingSink } from "./recording_sink.ts";

/** Turns after which two connections that still talk are taken to do so for ever. */
const MAX_TURNS = 10_000;

/** Pieces of up to 16 bytes are for short conversations; a long one is cut at most this often. */
const MAX_CUT_BYTES = 4_096;

/** One side of the pair. */
export interface End {
  readonly connection: Connection<unknown>;
  readonly sink: RecordingSink;
}

/** Two ends that {@linkcode pump} brings together. */
export class ConnectionPair {
  readonly client: End;
  readonly server: End;
  /** Bytes that went each way. */
  readonly moved = { toServer: 0, toClient: 0 };
  #cache = new HeaderCache();
  #random: () => number;

  constructor(seed: number) {
    this.#random = rng(seed);
    this.client = makeEnd("client");
    this.server = makeEnd("server");
    this.pump();
  }

  /** Moves bytes both ways until it is quiet. */
  pump(): void {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const up = this.#move(this.client, this.server);
      const down = this.#move(this.server, this.client);
      this.moved.toServer += up;
      this.moved.toClient += down;
      if (up + down === 0) return;
    }
    throw new Error("Cannot bring the connections to rest: they go on talking");
  }

  /** The client opens a stream; the server meets it with the next {@linkcode pump}. */
  open(
    { endStream = true, fields = REQUEST }: { endStream?: boolean; fields?: Pairs } = {},
  ): Stream<
    unknown
  > {
    const head = this.#cache.list(fields);
    return this.client.connection.openStream(head, { extra: [], endStream });
  }

  #move(from: End, to: End): number {
    const out = from.connection.takeOutput();
    const bytes = out.bytes.slice(0, out.length);
    out.clear();
    from.connection.drained();
    const seed = Math.floor(this.#random() * 2 ** 31);
    const pieces = bytes.length > MAX_CUT_BYTES ? halves(bytes, seed) : randomCuts(bytes, seed);
    for (const piece of pieces) to.connection.receive(piece, 0);
    return bytes.length;
  }
}

function makeEnd(role: "client" | "server"): End {
  const sink = new RecordingSink();
  return { sink, connection: new Connection({ role, sink, headerCache: new HeaderCache() }) };
}

function halves(bytes: Uint8Array, seed: number): Uint8Array[] {
  const at = Math.floor(rng(seed)() * bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at)];
}
