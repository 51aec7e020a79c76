import type { CallerContext } from "./caller_session.ts";
import { IdentityRouter, type RouterOptions } from "./request_route.ts";

/** Identities whose routes are remembered; who comes after that is worked out again now and then, and shares as well. */
const MAX_IDENTITIES = 1_024;

/** What connections of callers share: everything, or all but the routes where certificates tell callers apart. */
export class CallerContexts {
  #common: CallerContext;
  #routing: RouterOptions;
  #identified = new Map<string, CallerContext>();

  constructor(common: CallerContext, routing: RouterOptions) {
    this.#common = common;
    this.#routing = routing;
  }

  /** For callers of that identity; "" is for all who have none. */
  of(identity: string): CallerContext {
    if (identity === "") return this.#common;
    const known = this.#identified.get(identity);
    if (known !== undefined) return known;
    const made = { ...this.#common, router: new IdentityRouter(identity, this.#routing) };
    if (this.#identified.size >= MAX_IDENTITIES) {
      const [oldest] = this.#identified.keys();
      this.#identified.delete(oldest!);
    }
    this.#identified.set(identity, made);
    return made;
  }
}
