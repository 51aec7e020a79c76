/**
 * Names under which no stranger can register one of theirs: what stands for this machine, what clusters and networks
 * resolve by themselves (RFC 6761, RFC 6762, RFC 8375, the `internal` that ICANN keeps out of the DNS, Kubernetes' `svc`).
 */
const CLOSED_DOMAINS = /(^|\.)(localhost|local|internal|svc|cluster\.local|home\.arpa|test)$/;

const IPV4 = /^\d+(\.\d+){3}$/;

/**
 * Whether a page may be told to who asked for it by this host name, which is what URL makes of it: an address, a name of
 * one word, or one of a closed domain. Any other may be a stranger's that was pointed at us after his page was loaded
 * (DNS rebinding), and would make that page one of ours.
 */
export function isKnownHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  return name.startsWith("[") || IPV4.test(name) || !name.includes(".") ||
    CLOSED_DOMAINS.test(name);
}
