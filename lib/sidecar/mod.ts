/**
 * Puts the rooms together, and takes them apart again: start, ready, drain, stop.
 *
 * Owns the order of a sidecar's life. Ports open before the backend is asked for, so that the start order of pods does
 * not matter; readiness ends before callers are told to go; the admin listener closes last, so that probes and
 * scrapers see the end. The port for callers is closed while the proxy sends them elsewhere, and is the same one when it
 * opens again; the drain happens once, whoever asks for it first.
 *
 * Refuses to read the environment or to know signals: settings and whoever says stop are handed in.
 *
 * @module
 */
export { BadConfiguration } from "./bad_configuration.ts";
export { explainOffline, type Explanation } from "./explain.ts";
export { fileProblems, fileWarnings } from "./files.ts";
export { runSidecar, type StopSignals } from "./run_sidecar.ts";
export { type DrainOutcome, type DrainTarget, tellToDrain } from "./tell_to_drain.ts";
export { type SettingsBackground, type Sidecar, startSidecar } from "./sidecar.ts";
