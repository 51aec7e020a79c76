/**
 * `deno task bench:start`: how long the bundle takes from nothing to /ready with a backend beside it, and what memory it
 * has then. Targets: 300 ms, 90 MB.
 *
 * @module
 */

import { BUNDLE, bundle } from "../../build/bundle.ts";
import { BINARY_FLAGS } from "../../build/runtime_flags.ts";
import { startHello } from "../../lib/hello/mod.ts";

const ROUNDS = 10;
const LOOK_EVERY_MS = 2;
const IDLE_MS = 1_500;

await bundle();
const hello = await startHello();
const readyMs: number[] = [];
const idleMb: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const { ms, mb } = await start();
  readyMs.push(ms);
  idleMb.push(mb);
}
await hello.stop();
console.log(`start to ready  ${spread(readyMs)} ms`);
console.log(`memory, idle    ${spread(idleMb)} MB`);
Deno.exit(0);

async function start(): Promise<{ ms: number; mb: number }> {
  const port = freePort();
  const startedMs = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--cached-only", ...BINARY_FLAGS, BUNDLE],
    env: {
      ...{ BACKEND_ADDRESS: `127.0.0.1:${hello.port}`, GRPC_PORT: "0", GRPC_HOST: "127.0.0.1" },
      ...{ METRICS_PORT: `${port}`, METRICS_HOST: "127.0.0.1" },
    },
    stdout: "null",
    stderr: "null",
  }).spawn();
  while (!await isReady(port)) await pause(LOOK_EVERY_MS);
  const ms = performance.now() - startedMs;
  await pause(IDLE_MS);
  const status = await Deno.readTextFile(`/proc/${child.pid}/status`);
  const [, kib = "NaN"] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
  child.kill("SIGTERM");
  await child.status;
  return { ms, mb: Number(kib) * 1_024 / 1e6 };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/ready`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // it does not listen yet
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}

/** Median, least and most. */
function spread(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const [median, least, most] = [sorted[sorted.length >> 1]!, sorted[0]!, sorted.at(-1)!];
  return `${median.toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`;
}
