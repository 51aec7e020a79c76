import type { Flight, Reply } from "./flight.ts";

/** A service as far as invalidation goes (COLLAPSER_INVALIDATE). */
export interface Service {
  readonly name: string;
  /** Raised when a call that may have changed something has been answered; what is older serves nobody new. */
  generation: number;
}

/**
 * All requests that differ in nothing but their message: the head of the key, interned, with the flights and stored
 * results under it. So a look-up needs only the message's part of the key.
 */
export class KeyHead<R extends Reply> {
  readonly text: string;
  readonly service: Service;
  readonly flights = new Map<string, Flight<R>>();
  /** Messages whose answers turned out to be private, and until when they are not even tried. */
  privateUntilMs: Map<string, number> | undefined = undefined;
  /** No longer the head for its text: who remembers it must ask for it again. */
  retired = false;

  constructor(text: string, service: Service) {
    this.text = text;
    this.service = service;
  }
}
