/**
 * The demo: a slow, counting backend and a sidecar in this process, the same burst through the sidecar and past it, and
 * what the backend counted, told to somebody who has never heard of collapsing ({@linkcode runDemo}).
 *
 * Invariants
 * - Before each part the callers pause for longer than a result is kept, so that nothing stored answers a part's first
 *   calls.
 * - The backend is cut off before its clients close: told to go away in order, it may end the process.
 *
 * Exit codes: 0 when every call was answered with OK, 1 when one was not.
 *
 * Refuses: to know the backend and the settings of the sidecar, which whoever runs the demo hands in.
 *
 * @module
 */
export { type DemoBackend, type DemoOptions, type DemoParts, runDemo } from "./run_demo.ts";
