/**
 * The tax, which is what a proxy costs ({@linkcode runTax}): many load runs, made of several systems in turn, whose
 * differences are the result. Three bills come of them: time, money, and what one slow backend does to the callers of
 * the others.
 *
 * Invariants
 * - What a proxy adds is a difference within a round: whatever drifts meets both sides.
 * - What could not be measured is said to be missing, never guessed; a percentile that too few calls lie beyond is not
 *   told.
 * - No two calls of a run ask the same, but for the repeats.
 *
 * Exit codes: 0 when it could be measured and every call was answered with OK, else 1.
 *
 * Refuses: to measure the third bill, which whoever runs it may hand in a way to do.
 *
 * @module
 */
export type { TaxOptions, TaxSurroundings } from "./options.ts";
export { runTax } from "./run_tax.ts";
