/**
 * Whether a package client failed because its registry could not be reached, which says nothing about the sidecar and
 * nothing about what is built.
 */

/** What Go, npm, pip and Maven say when the network is at fault. */
const UNREACHABLE = [
  /dial tcp|no such host|TLS handshake timeout|network is unreachable/i,
  /connection refused|connection reset|connection timed out|i\/o timeout|read timed out/i,
  /GOPROXY=off|GOTOOLCHAIN=local/,
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/,
  /NewConnectionError|ConnectTimeoutError|ProxyError|name resolution|from versions: none/,
  /Could not transfer (artifact|metadata)|in offline mode|Unknown host/,
  /\b(502 Bad Gateway|503 Service Unavailable|504 Gateway Time-?out)\b/i,
];

/** The line of a package client's output that says so; undefined when there is none. */
export function unreachable(output: string): string | undefined {
  return output.split("\n").find((line) => UNREACHABLE.some((words) => words.test(line)))?.trim();
}
