import { Host } from "../../lib/balance/host.ts";
import { BackendCounters } from "../../lib/observe/mod.ts";
import type { Endpoint } from "../../lib/upstream/mod.ts";

/** A host whose endpoint is no more than a name and numbers. */
export function hostOf(
  name: string,
  on: { ejectionEnd?: (host: Host) => void; leaseEnd?: (host: Host) => void } = {},
): Host {
  const endpoint: Pick<Endpoint, "name" | "counters"> = {
    name,
    counters: new BackendCounters(name),
  };
  const nobody = () => {};
  return new Host(endpoint as Endpoint, { ejectionEnd: nobody, leaseEnd: nobody, ...on });
}
