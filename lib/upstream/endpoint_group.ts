import type { Backend, Exchange } from "./exchange.ts";

/** Whoever has several endpoints, as one of them sees it. Calls that the sidecar makes by itself are not told of. */
export interface EndpointGroup {
  /** The first of a reply's messages has begun to come. */
  answers(exchange: Exchange): void;
  /** A call is the endpoint's no longer: it has ended, whatever the way, or goes on elsewhere. Told once for each start. */
  leaves(exchange: Exchange, nowMs: number): void;
  /** The endpoint can be reached, or no longer. */
  reaches(): void;
  /** Where else a call can go that this endpoint was not sent, or did not look at; undefined where nowhere. */
  elsewhere(exchange: Exchange): Pick<Backend, "start"> | undefined;
}
