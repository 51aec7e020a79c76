import { type Flight, Waiter } from "../collapse/mod.ts";
import { endsStale, pauseRefresh } from "../freshness/mod.ts";
import type { RefreshResult } from "../observe/mod.ts";
import { CallbackAlarm } from "../transport/mod.ts";
import type { Field, FrameLog } from "../wire/mod.ts";
import { FlightCall } from "./flight_call.ts";
import type { FlightContext } from "./flight_context.ts";
import type { FlightWaiter } from "./flight_waiter.ts";
import type { RequestRoute } from "./request_route.ts";

/** The caller who found a result stale. */
interface Finder {
  readonly route: RequestRoute;
  readonly perCall: readonly Field[];
}

/** Whether a stale result may be fetched anew now: nobody does, and no failure was too short a time ago. */
export function mayRefresh(
  { head, bodyKey, refreshPause }: Flight<FlightCall>,
  { timers: { nowMs } }: FlightContext<FlightCall>,
): boolean {
  return head.flights.get(bodyKey)?.stored === true &&
    (refreshPause === undefined || nowMs >= refreshPause.untilMs);
}

/**
 * One fetching anew of a stale result: a flight whose only caller is the sidecar, with the request and the metadata of the
 * caller who found it stale, and BACKEND_TIMEOUT of its own. Whatever comes of it, nobody is told.
 */
export class Refresh extends Waiter<FlightCall> implements FlightWaiter {
  readonly route: RequestRoute;
  readonly perCall: readonly Field[];
  readonly deadlineMs: number;
  readonly lastByteMs: number;
  readonly mayQueue = "no";
  readonly stream = { position: 0 };
  isOver = false;
  /** The backend call is under way; before, its end is a refusal. */
  #hasStarted = false;
  readonly #timeout = new CallbackAlarm(() => this.failOwn());
  readonly #context: FlightContext<FlightCall>;
  readonly #stale: Flight<FlightCall>;

  constructor(
    context: FlightContext<FlightCall>,
    stale: Flight<FlightCall>,
    { route, perCall }: Finder,
  ) {
    super();
    this.#context = context;
    this.#stale = stale;
    this.route = route;
    this.perCall = perCall;
    this.lastByteMs = context.timers.nowMs;
    this.deadlineMs = context.timers.nowMs + context.limits.backendTimeoutMs;
  }

  begin(body: FrameLog): void {
    const { map, timers } = this.#context;
    const shared = new FlightCall(this.#context);
    const flight = map.refresh(this.#stale, { reply: shared, nowMs: timers.nowMs });
    shared.flight = flight;
    map.join(flight, this);
    timers.set(this.#timeout, this.deadlineMs);
    shared.start(this, body);
    this.#hasStarted = true;
  }

  /** Takes all there is: the backend is not held up by a reader that has no window. */
  readMoreOrFail(): void {
    const { flight } = this;
    if (this.isOver || flight === undefined) return;
    const { reply } = flight;
    this.stream.position = reply.log.end;
    if (reply.ended) this.#end(this.#hasStarted ? resultOf(flight) : "skipped");
    else reply.progressed(this.stream.position);
  }

  /** The refresh's own time is up, or the sidecar is at fault. */
  failOwn(): void {
    if (!this.isOver) this.#end("error");
  }

  /** Never called: what fails leaves the stale result where it is. */
  answerStale(): boolean {
    return false;
  }

  /** Never called: what is private belongs to the leader, which this is. */
  passAfterAll(body: FrameLog): void {
    body.clear();
  }

  /** The request waits at a backend, and is counted where all that is held is. */
  holds(): void {}

  #end(result: RefreshResult): void {
    this.isOver = true;
    const { map, timers } = this.#context;
    timers.cancel(this.#timeout);
    const { flight } = this;
    const stale = this.#stale;
    this.route.method.counters.refreshes[result]++;
    if (flight !== undefined) {
      const { reply } = flight;
      if (map.leave(this)) reply.cancel();
      else reply.left(this);
    }
    if (!stale.stored) return;
    if (result === "removed") map.stored.remove(stale);
    else if (result === "error") pauseRefresh(stale, timers.nowMs);
  }
}

/** What came of a refresh whose backend call has ended. */
function resultOf({ stored, generation, head, reply }: Flight<FlightCall>): RefreshResult {
  if (stored) return "ok";
  if (generation !== head.service.generation) return "raced";
  if (endsStale(reply.status)) return "removed";
  return "error";
}
