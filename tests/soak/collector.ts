/**
 * Preloaded into a sidecar whose memory is watched (`--preload`, with `--v8-flags=--expose-gc`): on SIGUSR2 it collects
 * all garbage and says so in a line of standard output, which the sidecar itself never writes to.
 *
 * @module
 */

/** What the line says, as JSON. */
export interface Collected {
  /** JavaScript heap that is in use once nothing is left to collect. */
  readonly heapBytes: number;
  /** What the engine has taken from the system for the heap, in use or not. */
  readonly committedBytes: number;
  /** Memory outside of it that buffers hold. */
  readonly externalBytes: number;
}

const { gc } = globalThis as { gc?: () => void };

Deno.addSignalListener("SIGUSR2", async () => {
  gc?.();
  // What is freed only once finalizers have run is freed by a second one.
  await new Promise((resume) => setTimeout(resume));
  gc?.();
  const { heapUsed, heapTotal, external } = Deno.memoryUsage();
  const collected: Collected = {
    heapBytes: heapUsed,
    committedBytes: heapTotal,
    externalBytes: external,
  };
  console.log(JSON.stringify(collected));
});
