/** What a fault destroys (RFC 9113 §5.4): one stream, or the connection with all its streams. */
export type FaultScope = "stream" | "connection";

/** Something that a peer did wrong, as a value: no stack is captured while somebody floods us. */
export interface Fault {
  readonly scope: FaultScope;
  /** The stream that the fault destroys; 0 for the connection. */
  readonly streamId: number;
  /** Error code of RFC 9113 §7. */
  readonly code: number;
  /** What was wrong, in words for a log line. */
  readonly why: string;
}
