import type { Connection, Stream } from "../connection/mod.ts";
import type { CallContext } from "./call_context.ts";

/** The connection that calls of type `C` came on, as one of them sees it. */
export interface CallerLink<C> {
  readonly connection: Connection<C>;
  readonly context: CallContext;
  /** Reads of the socket so far. */
  readonly reads: number;
  /** The last read found less than it had room for. */
  readonly isDrained: boolean;
  /** Too much is held for more to be gathered. */
  readonly isFull: boolean;
  flushSoon(): void;
  /** Looks after replies that wait for their callers to read on. */
  readonly unread: { watch(): void };
  /** The call waits for its message; it learns so when the read is over and the message was not in it. */
  awaitMessage(call: C): void;
  /** A call holds so many bytes of its request more than before. */
  held(moreBytes: number): void;
  /** Something of ours failed on behalf of a call: it ends with 13, and nothing else does. */
  fault(stream: Stream<C>, error: unknown): void;
  /** A call has ended. */
  callEnded(): void;
}
