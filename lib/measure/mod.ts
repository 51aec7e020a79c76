/**
 * Everything that measures, a folder for each measurement over two that all share. The folders' doors are their design
 * notes; each imports of the others what the plan of the rooms lists, through their doors.
 *
 * - `report`: histograms, figures as text, the screen.
 * - `client`: the gRPC client that makes the calls, and the health probe.
 * - `load`, `demo`, `stall`, `tax`: one command each.
 *
 * Numbers that the commands return are exit codes.
 *
 * Refuses: streaming calls, TLS for now, and to know the demo backend, which `cli` hands in.
 *
 * @module
 */
export {
  type Client,
  httpGet,
  keyBody,
  openClient,
  probe,
  type ProbeResult,
  type ProbeTarget,
  type Reply,
  requestBody,
} from "./client/mod.ts";
export { type DemoOptions, runDemo, runTrialDemo } from "./demo/mod.ts";
export { type LoadOptions, LoadRun, runLoad, type Tally } from "./load/mod.ts";
export { Histogram } from "./report/mod.ts";
export {
  type FaultName,
  measureBlast,
  runStall,
  type SidecarWishes,
  type StallOptions,
} from "./stall/mod.ts";
export { runTax, type TaxOptions, type TaxSurroundings } from "./tax/mod.ts";
