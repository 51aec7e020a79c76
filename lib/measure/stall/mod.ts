/**
 * The stall of one backend of several, and what callers of the others notice: a `StallRun` makes the calls of one plan
 * through one way to the backends while a fault is at one of them, and {@linkcode runStall} compares such ways.
 * {@linkcode measureBlast} is a short comparison whose numbers another report shows.
 *
 * Invariants
 * - The ways that are compared get the same calls at the same times, and pools of the same size.
 * - A call counts where it was due, and as served when it was answered with OK by its deadline.
 * - What decides the numbers (deadline, load, pools, seed) stands beside them wherever they are written.
 *
 * Exit codes: 0 when it could be measured, whatever the numbers are, 1 when it could not.
 *
 * Refuses: to bring a fault about at anything but its own backends and a process that it was given.
 *
 * @module
 */
export { type BlastResult, measureBlast } from "./blast.ts";
export type { FaultName } from "./fault.ts";
export { runStall, type StallOptions } from "./run_stall.ts";
export type { SidecarWishes } from "./systems.ts";
