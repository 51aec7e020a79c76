import { nearest } from "./nearest.ts";
import { OPTIONS } from "./options.ts";

/** The prefix that is ours alone: every unknown name under it is a mistake. */
const OWN_PREFIX = "COLLAPSER_";

/** Prefixes that other programs use too, so only what looks like a slip of the pen counts. */
const SHARED_PREFIXES = ["BACKEND_", "GRPC_", "METRICS_", "DRAIN_", "LOG_"];
const SLIP_DISTANCE = 2;

/**
 * What Kubernetes sets in every pod for a Service named `collapser`. The bare
 * `_PORT` looks like a setting of ours, and is theirs only with a value of this form.
 */
const SERVICE_LINK =
  /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_LINK_PORT_VALUE = /^(tcp|udp|sctp):\/\//;

/** A warning for each variable that nobody reads and that was meant for us. */
export function unknownNames(
  names: readonly string[],
  get: (name: string) => string | undefined,
): readonly string[] {
  const known = OPTIONS.map(({ env }) => env);
  const warnings: string[] = [];
  for (const name of names) {
    if (known.includes(name) || isServiceLink(name, get(name) ?? "")) continue;
    const isOwn = name.startsWith(OWN_PREFIX);
    if (!isOwn && !SHARED_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    const { word, distance } = nearest(name, known);
    if (isOwn || distance <= SLIP_DISTANCE) {
      warnings.push(`Cannot use ${name}: no such variable; the nearest is ${word}`);
    }
  }
  return warnings;
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) ||
    (name.endsWith("_PORT") && SERVICE_LINK_PORT_VALUE.test(value));
}
