/**
 * The report that all measurements share: a histogram of latencies, figures as text, a picture made of bars, and the
 * screen that results and progress go to.
 *
 * Invariants
 * - A percentile is right to within 1 %, the extremes exactly; memory does not grow with the number of calls.
 * - A figure of one kind reads the same in every report, whatever the machine's language.
 * - Results go to standard output, progress to standard error and to a terminal alone.
 *
 * Refuses: to know what was measured, and how.
 *
 * @module
 */
export {
  row,
  showCount,
  showCounted,
  showRoundTime,
  showShare,
  showTime,
  threeDigits,
  timeUnit,
  wrapped,
} from "./format.ts";
export { Histogram } from "./histogram.ts";
export { picture } from "./picture.ts";
export { type Screen, styled, terminalScreen, withProgress } from "./screen.ts";
