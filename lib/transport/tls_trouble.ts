import type { TLSSocket } from "node:tls";
import type { ConnStream } from "./conn_stream.ts";

/** What both ends must agree on: gRPC is HTTP/2 (RFC 7301, RFC 9113 §3.3). */
export const ALPN = "h2";

/** Why a connection is no use that is secure and not HTTP/2. */
export const NO_H2 = "the peer did not agree on h2 (ALPN)";

export const HUNG_UP = "the peer hung up";

/** All that node:tls (Deno 2.9) has to say of what is wrong with a certificate, apart from its names. */
const UNVERIFIED = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/** Why a handshake failed, in words. */
export function whyTlsFailed(
  error: (Error & { code?: string }) | undefined,
  { authorizationError }: TLSSocket,
  { trouble }: ConnStream,
): string {
  if (trouble !== undefined) return trouble.message;
  const code = String(authorizationError ?? error?.code ?? "");
  if (UNVERIFIED.has(code)) {
    return `the peer's certificate is from no CA that is trusted here, or not valid now (${code})`;
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "the peer does not speak TLS";
  return code === "ECONNRESET" ? HUNG_UP : error?.message ?? code; // a real one would be the stream's
}
