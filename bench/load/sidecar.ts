import type { Backend } from "./backend.ts";
import { Child } from "./child.ts";

const MAIN = new URL("../../main.ts", import.meta.url);

/** Longest that a sidecar may take to be ready, and between two looks whether it is. */
const READY_TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 20;

/** A running sidecar. */
export interface SidecarChild {
  readonly child: Child;
  readonly host: string;
  readonly port: number;
}

/** Starts a sidecar as it comes, in front of a backend; `env` sets more. Resolves when it is ready. */
export async function startSidecar(
  backend: Backend,
  { env = {}, children }: { env?: Readonly<Record<string, string>>; children: Child[] },
): Promise<SidecarChild> {
  const serving = Promise.withResolvers<{ grpc_port: number; metrics_port: number }>();
  const child = new Child(Deno.execPath(), ["run", "-A", MAIN.href, "serve"], {
    env: {
      BACKEND_ADDRESS: `${backend.host}:${backend.port}`,
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: "0",
      METRICS_HOST: "127.0.0.1",
      METRICS_PORT: "0",
      LOG_LEVEL: "info",
      LOG_FORMAT: "json",
      ...env,
    },
    onErrorLine(line) {
      const entry = line.startsWith("{") ? JSON.parse(line) : { level: "error" };
      if (entry.grpc_port !== undefined) serving.resolve(entry);
      else if (entry.level !== "info") console.error(`sidecar: ${line}`);
    },
  });
  children.push(child);
  const timer = setTimeout(
    () => serving.reject(new Error("Cannot measure: the sidecar does not start")),
    READY_TIMEOUT_MS,
  );
  const { grpc_port: port, metrics_port } = await serving.promise;
  clearTimeout(timer);
  await becomeReady(`http://127.0.0.1:${metrics_port}/ready`);
  return { child, host: "127.0.0.1", port };
}

async function becomeReady(url: string): Promise<void> {
  const untilMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.ok) return;
    if (performance.now() > untilMs) throw new Error(`Cannot measure: not ready, ${text.trim()}`);
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY_MS));
  }
}
