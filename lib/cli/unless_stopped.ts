import { FAILED } from "./exit_codes.ts";
import type { Signals } from "./signals.ts";

/**
 * The exit code of `work`, or that of a failure when a signal comes first: a measurement
 * that was cut short has not done what it was asked.
 */
export async function unlessStopped(
  signals: Pick<Signals, "onSignal">,
  work: Promise<number>,
): Promise<number> {
  const { promise: stopped, resolve } = Promise.withResolvers<number>();
  const unsubscribe = signals.onSignal(() => resolve(FAILED));
  try {
    return await Promise.race([work, stopped]);
  } finally {
    unsubscribe();
  }
}
