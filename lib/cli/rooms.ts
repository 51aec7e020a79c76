import type { Runners } from "./runners.ts";

/**
 * The other rooms, each loaded when its command runs: `--help` and `check` answer at once,
 * and `serve` never loads grpc-js, which is the demo backend's.
 */
export const ROOMS: Runners = {
  async sidecar(settings, surroundings) {
    const { runSidecar } = await import("../sidecar/mod.ts");
    return await runSidecar(settings, surroundings);
  },
  async backend(options, { signals }) {
    const { runBackend } = await import("../hello/mod.ts");
    return await runBackend(options, { onStop: (stop) => signals.onSignal(stop) });
  },
  async demo(options) {
    const { runDemo } = await import("../measure/mod.ts");
    return await runDemo(options);
  },
  async load(options) {
    const { runLoad } = await import("../measure/mod.ts");
    return await runLoad(options);
  },
  async probe(target, options) {
    const { probe } = await import("../measure/mod.ts");
    return await probe(target, options);
  },
};
