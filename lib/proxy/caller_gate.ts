import type { ClusterOptions } from "../balance/mod.ts";
import type { NamedPolicy } from "../downstream/mod.ts";
import type { ProxyObserver } from "../observe/mod.ts";
import { CallbackAlarm, type Timers } from "../transport/mod.ts";

/** A backend that is lost again within this time of its return is not taken at its word the next time. */
const CALM_MS = 30_000;

/** How long such a backend must stay before callers are let in: at first, and at most, twice as long each time. */
const FIRST_HOLD_MS = 500;
const LONGEST_HOLD_MS = 10_000;

/**
 * A backend that was there for less is not missed at once: it may be one that takes connections and drops them. That it
 * is gone is known up to 600 ms later.
 */
const STEADY_MS = 1_000;

/** How long such a backend must be gone before callers are sent away: longer than any pause between two attempts to connect. */
const DOUBT_MS = 1_000;

/** What a gate goes by. */
export interface GateOptions extends Pick<ClusterOptions, "backends"> {
  /** How long a stale result may stand in for the backend (COLLAPSER_STALE_IF_ERROR). */
  readonly staleIfErrorMs: number;
}

/**
 * Whether callers are let in, where there is one backend: with that gone they are better off at another pod, where they
 * go once nobody takes their connection here. It is open until the backend was there for the first time, since a sidecar
 * starts before its backend does and is only not ready then. Where stale results may stand in for the backend, callers
 * are better off here; and of several backends one that is gone is no reason to send anybody away.
 */
export class CallerGate {
  readonly #options: GateOptions;
  readonly #timers: Timers;
  readonly #moved: (isOpen: boolean) => void;
  #standsIn: boolean;
  readonly #hold = new CallbackAlarm(() => this.#open());
  readonly #doubt = new CallbackAlarm((nowMs) => this.#shut(nowMs));
  /** When the backend last came; Infinity before it did. */
  #upMs = Infinity;
  #isShut = false;
  #openedMs = -Infinity;
  #holdMs = 0;

  /** `moved` hears when it was shut, callers are to be told to go then, and when it was opened again. */
  constructor(options: GateOptions, timers: Timers, moved: (isOpen: boolean) => void) {
    this.#options = options;
    this.#timers = timers;
    this.#moved = moved;
    this.#standsIn = options.staleIfErrorMs > 0;
  }

  /** An observer that hands everything on, and by which the gate learns of the only backend's coming and going. */
  observing(observer: ProxyObserver): ProxyObserver {
    const [first, ...others] = this.#options.backends;
    if (others.length > 0 || first?.resolves) return observer;
    return {
      ...observer,
      backendUp: (backend) => {
        observer.backendUp(backend);
        this.#backendUp();
      },
      // Told before those calls end that wait for the backend: they end as calls that were not begun.
      backendUnreachable: (backend) => {
        observer.backendUnreachable?.(backend);
        this.#backendIsGone();
      },
    };
  }

  /** What the policy file says from now on. */
  setPolicies(policies: readonly NamedPolicy[]): void {
    const may = (staleIfErrorMs = 0) => staleIfErrorMs > 0;
    this.#standsIn = may(this.#options.staleIfErrorMs) ||
      policies.some(({ collapser }) => may(collapser?.staleIfErrorMs));
  }

  get isShut(): boolean {
    return this.#isShut;
  }

  /** Why callers are not let in though the backend can be reached; "" where that is not so. */
  get why(): string {
    return this.#hold.isSet ? "it was lost again soon after its return, and must stay a while" : "";
  }

  /** Lets nobody in any more, and forgets what it waited for. */
  stop(): void {
    for (const alarm of [this.#hold, this.#doubt]) this.#timers.cancel(alarm);
  }

  #backendUp(): void {
    const timers = this.#timers;
    this.#upMs = timers.refresh();
    timers.cancel(this.#doubt);
    if (!this.#isShut || this.#hold.isSet) return;
    if (this.#holdMs > 0) timers.set(this.#hold, timers.nowMs + this.#holdMs);
    else this.#open();
  }

  #backendIsGone(): void {
    const timers = this.#timers;
    timers.cancel(this.#hold);
    const nowMs = timers.refresh();
    if (this.#isShut || this.#standsIn || this.#upMs > nowMs || this.#doubt.isSet) return;
    if (nowMs - this.#upMs >= STEADY_MS) this.#shut(nowMs);
    else timers.set(this.#doubt, nowMs + DOUBT_MS);
  }

  #shut(nowMs: number): void {
    const isSoon = nowMs - this.#openedMs < CALM_MS;
    this.#holdMs = isSoon
      ? Math.min(Math.max(2 * this.#holdMs, FIRST_HOLD_MS), LONGEST_HOLD_MS)
      : 0;
    this.#isShut = true;
    this.#moved(false);
  }

  #open(): void {
    this.#isShut = false;
    this.#openedMs = this.#timers.nowMs;
    this.#moved(true);
  }
}
