import { Duplex } from "node:stream";
import { ReadBuffer } from "./read_buffer.ts";

/** What of a `Deno.Conn` is needed to speak TLS over it. */
export type RawConn = Pick<Deno.Conn, "read" | "write" | "closeWrite" | "close">;

/**
 * A connection of Deno's as the stream that node:tls wants beneath. Listening and dialling stay with Deno, whose
 * listener goes on after the descriptors ran out; that of node:net is deaf from then on.
 *
 * TLS over a stream goes on reading when nobody reads from it (Deno 2.9), so whoever uses it must {@linkcode hold} it.
 */
export class ConnStream extends Duplex {
  /** Whether the peer has ever said anything. */
  heard = false;
  /**
   * Why the connection broke. Streams are not told: they look at the stack of each error, and Deno 2.9, run from
   * source and out of descriptors, dies of looking up where in a file that was.
   */
  trouble: Error | undefined = undefined;
  #conn: RawConn;
  #buffer = new ReadBuffer();
  #wanted = false;
  #reading = false;
  #held = false;
  #leaving = false;

  constructor(conn: RawConn) {
    super();
    this.#conn = conn;
  }

  /** Reads no more until {@linkcode release}; one read may be under way. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#pull();
  }

  /**
   * Destroys the stream soon: what TLS has put off until now, such as the alert that says why it ends, still goes out.
   */
  override destroy(): this {
    if (!this.#leaving) setImmediate(() => super.destroy());
    this.#leaving = true;
    return this;
  }

  override _read(): void {
    this.#wanted = true;
    this.#pull();
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#send(bytes, done);
  }

  override _final(done: () => void): void {
    this.#conn.closeWrite().catch((error) => this.#break(error)).then(done);
  }

  override _destroy(_error: Error | null, done: () => void): void {
    if (!this.#reading) this.#buffer.giveBack(); // else when the read has ended
    try {
      this.#conn.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // else it was closed already
    }
    done();
  }

  async #pull(): Promise<void> {
    if (!this.#wanted || this.#reading || this.#held || this.#leaving) return;
    this.#reading = true;
    try {
      const { bytes } = this.#buffer;
      const count = await this.#conn.read(bytes);
      this.#reading = this.#wanted = false;
      if (count === null) this.push(null);
      else this.#received(bytes, count);
    } catch (error) {
      this.#reading = false;
      this.#buffer.giveBack();
      this.#break(error);
    }
  }

  #received(bytes: Uint8Array, count: number): void {
    this.heard = true;
    const copy = bytes.slice(0, count);
    if (this.#leaving) this.#buffer.giveBack();
    else this.#buffer.took(count);
    this.push(copy);
  }

  async #send(bytes: Uint8Array, done: () => void): Promise<void> {
    try {
      let sent = await this.#conn.write(bytes);
      while (sent < bytes.length) sent += await this.#conn.write(bytes.subarray(sent));
    } catch (error) {
      return this.#break(error);
    }
    done();
  }

  #break(error: unknown): void {
    if (!this.#leaving) this.trouble = error instanceof Error ? error : new Error(String(error));
    this.destroy();
  }
}
