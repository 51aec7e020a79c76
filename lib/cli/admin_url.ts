import { type Environment, optionFor } from "../config/mod.ts";

/** Where the admin pages of a sidecar with the same environment are, on this machine. */
export function ownAdminUrl({ get }: Environment): string {
  const set = (name: string) => get(name)?.trim() || undefined;
  const port = set("ADMIN_PORT") ?? set("METRICS_PORT") ?? optionFor("METRICS_PORT").fallback;
  return `http://127.0.0.1:${port}`;
}
