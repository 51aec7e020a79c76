import type { FrameLog, HeaderList } from "../wire/mod.ts";

/** As much of a flight as tells whether another one could have shared it. */
export interface RecentFlight {
  readonly head: unknown;
  readonly bodyKey: string;
  /** The flight's backend call has ended. */
  readonly landed: boolean;
}

/** The calls of a method that came last, for `MissedSharing` to compare the next one with; nothing leads to callers. */
export interface RecentCalls {
  /** Of a passed call: its head, and its request, which is emptied when the call is over. */
  passed?: { readonly list: HeaderList; readonly body: FrameLog };
  /** Of a call that led: its head, and its flight. */
  led?: { readonly list: HeaderList; readonly flight: RecentFlight };
}
