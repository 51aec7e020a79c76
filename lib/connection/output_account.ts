import type { BufferedBytes } from "../wire/mod.ts";

/** Output up to this size is not counted as held: a connection has storage for as much anyhow. */
const UNCOUNTED_BYTES = 16_384;

/** Tells an account of one connection's output, where that is much. */
export class OutputAccount {
  #account: BufferedBytes | undefined;
  #bytes = 0;

  constructor(account: BufferedBytes | undefined) {
    this.#account = account;
  }

  /** What the account was told of. */
  get bytes(): number {
    return this.#bytes;
  }

  /** So much waits now. */
  tell(waitingBytes: number): void {
    const bytes = waitingBytes > UNCOUNTED_BYTES ? waitingBytes : 0;
    if (bytes === this.#bytes || this.#account === undefined) return;
    this.#account.add(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** Nothing will be written any more. */
  close(): void {
    this.tell(0);
    this.#account = undefined;
  }
}
