import { TokenBucket } from "../connection/mod.ts";

/** Repeats that may come at once, whatever was sent before: those of a connection that goes away under load. */
const BURST = 100;

/** What each call sent adds: a fifth as many repeats as calls, so a sick backend's load cannot double. */
const EARNED_PER_CALL = 0.2;

/** How often calls that provably reached nobody may be sent again, as a share of what is sent at all. */
export class RetryBudget {
  /** No time brings any back. */
  #bucket = new TokenBucket({ burst: BURST, perSecond: 0 });

  /** A call was sent. */
  earn(): void {
    this.#bucket.earn(EARNED_PER_CALL);
  }

  /** Whether one may be sent once more. */
  spend(): boolean {
    return this.#bucket.take(1, 0);
  }
}
