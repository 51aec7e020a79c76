import {
  type Admin,
  type AdminOptions,
  type AdminSources,
  startAdmin,
} from "../../lib/admin/mod.ts";
import { createLogger } from "../../lib/telemetry/mod.ts";
import { settingsOf } from "../support/local_sidecar.ts";
import { ProxyRig } from "../support/proxy_rig.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export interface Started {
  readonly admin: Admin;
  readonly logged: Record<string, unknown>[];
  /** Sends a request and reads the whole answer. */
  ask(path: string, method?: string): Promise<{ status: number; text: string; headers: Headers }>;
}

/** Runs `use` with an admin listener of its own, whose proxy is nobody's. */
export async function withAdmin(
  options: Partial<AdminOptions>,
  use: (started: Started) => Promise<void>,
): Promise<void> {
  const logged: Record<string, unknown>[] = [];
  const admin = startAdmin({
    hostname: "127.0.0.1",
    port: 0,
    ...sourcesOf(logged),
    ...options,
  });
  async function ask(path: string, method = "GET") {
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, { method });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }
  try {
    await use({ admin, logged, ask });
  } finally {
    await admin.close();
  }
}

/** What pages are made of, where a test does not say otherwise. */
export function sourcesOf(logged: Record<string, unknown>[]): AdminSources {
  const { proxy, timers } = new ProxyRig({ opens: false });
  proxy.close();
  timers.stop();
  const log = createLogger({
    level: "info",
    format: "json",
    write: (line) => void logged.push(JSON.parse(line)),
  });
  return {
    metrics: { text: () => Promise.resolve("# TYPE up gauge\nup 1\n"), contentType: METRICS_TYPE },
    readiness: () => ({ ready: true, reason: "" }),
    proxy,
    configuration: {
      settings: settingsOf({ BACKEND_ADDRESS: "127.0.0.1:1" }),
      origins: new Map(),
      warnings: [],
    },
    adminToken: () => undefined,
    policy: () => undefined,
    drain: { state: "serving", begin() {} },
    version: "1.2.3",
    commit: "abc",
    log,
  };
}
