import process from "node:process";
import type { AdminSources } from "./sources.ts";

/** What sharing saves, or in shadow would save, method by method: `/api/report`. */
export function reportOf({ proxy, version }: AdminSources): Record<string, unknown> {
  return {
    version,
    atMs: Date.now(),
    uptimeS: Math.round(process.uptime()),
    methods: proxy.inspection.report(),
  };
}
