import type { Socket } from "../../transport/mod.ts";

/** A gate that all sockets of a backend have: what they let through. */
export class Gate {
  /** Whether all that is read or written is thrown away. */
  swallows = false;
  #opened: PromiseWithResolvers<void> | undefined = undefined;

  /** Closes the gate: until it is opened again nothing is read or written. */
  close(): void {
    this.#opened ??= Promise.withResolvers();
  }

  open(): void {
    this.#opened?.resolve();
    this.#opened = undefined;
  }

  /** Resolves when the gate opens; undefined while it is open. */
  get whenOpen(): Promise<void> | undefined {
    return this.#opened?.promise;
  }
}

/** A socket behind a gate, as a process has it whose main thread stands still: the kernel alone goes on. */
export class GatedSocket implements Socket {
  #socket: Socket;
  #gate: Gate;

  constructor(socket: Socket, gate: Gate) {
    this.#socket = socket;
    this.#gate = gate;
  }

  async read(into: Uint8Array): Promise<number | null> {
    for (;;) {
      const count = await this.#socket.read(into);
      await this.#gate.whenOpen; // what was read while it closed is not noticed before it opens
      if (count === null || !this.#gate.swallows) return count;
    }
  }

  async write(bytes: Uint8Array): Promise<number> {
    await this.#gate.whenOpen;
    if (this.#gate.swallows) return bytes.length;
    return await this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.close();
  }
}
