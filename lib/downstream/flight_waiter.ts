import type { Flight, Reply, Waiter } from "../collapse/mod.ts";
import type { Stream } from "../connection/mod.ts";
import type { Failure, MayQueue, Target } from "../upstream/mod.ts";
import type { Field, FrameLog } from "../wire/mod.ts";
import type { MethodSettings } from "./method_settings.ts";

/** What a flight's backend call is sent to, and what the policy says of keeping its result. */
export interface FlightTarget extends Target {
  readonly method: Target["method"] & {
    readonly settings: MethodSettings;
    /** Leaders of a method that is on trial are noted. */
    readonly trial: object | undefined;
    readonly counters: { ledMs: number };
  };
}

/** A caller's call, as its flight sees it. */
export interface FlightWaiter {
  readonly route: FlightTarget;
  /** The fields that belong to this call alone. */
  readonly perCall: readonly Field[];
  /** When the caller gives up, by the transport's clock. */
  readonly deadlineMs: number;
  /** When its question was there. */
  readonly lastByteMs: number;
  /** The caller's stream; its position is how far the reply has been relayed. */
  readonly stream: Pick<Stream<unknown>, "position">;
  readonly isOver: boolean;
  /** Whether the backend call may wait for a place. */
  readonly mayQueue: MayQueue;
  /** So much of the request is still to be taken by the backend. */
  holds(bytes: number): void;
  /** Relays what there is of the reply; a fault of ours ends this call and no other. */
  readMoreOrFail(): void;
  /** Ends this call alone. */
  failOwn(failure: Failure): void;
  /** The answer turned out to be another caller's alone: this one makes a call of its own, with this body. */
  passAfterAll(body: FrameLog): void;
}

/** The callers that wait for a flight now, so that they may leave while one goes through them. */
export function waitersOf<Found extends Reply>(
  flight: Flight<Found>,
): (FlightWaiter & Waiter<Found>)[] {
  const waiters: (FlightWaiter & Waiter<Found>)[] = [];
  for (
    let waiter = flight.lastWaiter;
    waiter !== undefined;
    waiter = waiter.previousWaiter
  ) {
    waiters.push(waiter as FlightWaiter & Waiter<Found>);
  }
  return waiters;
}
