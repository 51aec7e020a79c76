import type { TLSSocket } from "node:tls";
import type { ConnStream } from "./conn_stream.ts";
import type { Socket } from "./pump.ts";

/** Decrypted bytes that may wait to be read; more is left to the peer's own buffers. */
const MAX_WAITING_BYTES = 65_536;

interface Reader {
  readonly into: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: Error) => void;
}

/** A socket of node:tls that behaves as a `Deno.Conn`: one read and one write at a time, with back-pressure both ways. */
export class TlsSocket implements Socket {
  #tls: TLSSocket;
  #stream: ConnStream;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #reader: Reader | undefined = undefined;
  #failWrite: ((error: Error) => void) | undefined = undefined;
  #ended = false;
  #trouble: Error | undefined = undefined;
  #closed = false;

  /** `tls`, past its handshake, speaks over `stream`. */
  constructor(tls: TLSSocket, stream: ConnStream) {
    this.#tls = tls;
    this.#stream = stream;
    tls.on("data", (bytes: Uint8Array) => this.#received(bytes));
    tls.on("end", () => this.#end());
    tls.on("close", () => this.#gone());
    tls.on("error", (error: Error) => this.#end(error));
  }

  read(into: Uint8Array): Promise<number | null> {
    if (this.#closed) return Promise.reject(new Deno.errors.BadResource("The socket is closed"));
    if (this.#waitingBytes > 0) return Promise.resolve(this.#take(into));
    if (this.#trouble !== undefined) return Promise.reject(this.#takeTrouble());
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve, reject) => this.#reader = { into, resolve, reject });
  }

  async write(bytes: Uint8Array): Promise<number> {
    if (this.#closed) throw new Deno.errors.BadResource("The socket is closed");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#failWrite = reject;
    this.#tls.write(bytes, (error) => error ? reject(error) : resolve());
    await promise;
    return bytes.length;
  }

  /** Says farewell (close_notify, RFC 8446 §6.1) and closes our end; what the peer sends can be read as before. */
  closeWrite(): Promise<void> {
    if (this.#closed) return Promise.reject(new Deno.errors.BadResource("The socket is closed"));
    this.#tls.end();
    return Promise.resolve();
  }

  /** Closes the socket: what was written has gone out, and so does the farewell, if the peer takes it at once. */
  close(): void {
    if (this.#closed) throw new Deno.errors.BadResource("The socket is closed");
    this.#closed = true;
    this.#waiting = [];
    const interrupted = new Deno.errors.Interrupted("The socket was closed");
    this.#reader?.reject(interrupted);
    this.#failWrite?.(interrupted);
    this.#tls.end();
    this.#stream.destroy();
  }

  #received(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve(this.#take(reader.into));
    }
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#stream.hold();
  }

  #take(into: Uint8Array): number {
    let count = 0;
    while (count < into.length && this.#waitingBytes > 0) {
      const first = this.#waiting[0]!;
      const part = first.subarray(0, into.length - count);
      into.set(part, count);
      count += part.length;
      this.#waitingBytes -= part.length;
      if (part.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(part.length);
    }
    if (this.#waitingBytes <= MAX_WAITING_BYTES) this.#stream.release();
    return count;
  }

  #end(trouble?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trouble = trouble ?? this.#stream.trouble;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) return;
    if (this.#trouble === undefined) reader.resolve(null);
    else reader.reject(this.#takeTrouble());
  }

  #gone(): void {
    this.#end();
    this.#failWrite?.(this.#stream.trouble ?? new Deno.errors.BrokenPipe("The peer is gone"));
  }

  /** The trouble of the connection, told once; after it there is only the end. */
  #takeTrouble(): Error {
    const trouble = this.#trouble!;
    this.#trouble = undefined;
    return trouble;
  }
}
