import type { CallCounts } from "./call_ledger.ts";

export interface HelloOptions {
  /** Address to listen on. @default 127.0.0.1 */
  readonly host?: string;
  /** Port to listen on. @default 0, any free port */
  readonly port?: number;
  /** How long each answer takes when its request does not say, in ms. @default 0 */
  readonly delayMs?: number;
}

/** A running Hello backend. */
export interface HelloBackend {
  readonly port: number;
  /** Where the backend listens, as "host:port". */
  readonly address: string;
  /** Calls that have reached hello.v1.Hello since the start. */
  readonly total: number;
  /** Calls that have reached hello.v1.Hello by method path: `{ "/hello.v1.Hello/GetGreeting": 2 }`. */
  counts(): Record<string, number>;
  /** All counts, with the calls in flight now and at the worst moment: what hello.v1.Stats tells other processes. */
  report(): CallCounts;
  /** What grpc.health.v1 says, for the server and for hello.v1.Hello; the greetings go on either way. */
  setServing(serving: boolean): void;
  /** Sends GOAWAY and waits for the calls under way, but not for ever. */
  stop(): Promise<void>;
  /** Cuts every connection, without GOAWAY. */
  kill(): void;
}
