import type { Flight, Reply } from "./flight.ts";

/**
 * Flights in an order that costs a few pointers to keep. Their neighbours are fields of theirs, so a flight is in one
 * list at a time: among those under way, and then, if it is kept, among the stored results.
 */
export class FlightList<R extends Reply> {
  newest: Flight<R> | undefined = undefined;
  oldest: Flight<R> | undefined = undefined;

  add(flight: Flight<R>): void {
    flight.older = this.newest;
    if (this.newest !== undefined) this.newest.newer = flight;
    this.newest = flight;
    this.oldest ??= flight;
  }

  remove(flight: Flight<R>): void {
    const { older, newer } = flight;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    if (this.oldest === flight) this.oldest = newer;
    if (this.newest === flight) this.newest = older;
    flight.older = undefined;
    flight.newer = undefined;
  }
}
