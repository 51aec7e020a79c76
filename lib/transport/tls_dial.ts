import { isIP } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import type { Certificates } from "./certificates.ts";
import { ConnStream, type RawConn } from "./conn_stream.ts";
import { connectTo, type Dial, withinTime } from "./dial.ts";
import type { Socket } from "./pump.ts";
import { TlsSocket } from "./tls_socket.ts";
import { ALPN, HUNG_UP, NO_H2, whyTlsFailed } from "./tls_trouble.ts";

/**
 * Name that the certificate at a unix socket must have when nobody says: this machine, as gRPC's own clients have it.
 */
const UNIX_NAME = "localhost";

export interface TlsDialOptions {
  /** What to show and to expect, asked for each connection. A CA is trusted alone; without one, the public CAs are. */
  readonly certificates: () => Certificates;
  /** Name to expect in the certificate; undefined for the address's own. */
  readonly serverName: string | undefined;
}

/** Makes a {@linkcode Dial} that speaks HTTP/2 over TLS. Its time includes the handshake, and so do its reasons. */
export function dialTls({ certificates, serverName }: TlsDialOptions): Dial {
  return (address, { timeoutMs }) =>
    withinTime(timeoutMs, async (signal) => {
      // Loaded here, since most sidecars speak no TLS and go without the library behind it.
      const { serverIdentityFault: checkServerIdentity } = await import("./certificate_names.ts");
      const conn = await connectTo(address, signal);
      const { path } = address;
      const own = address.serverName ?? (path === undefined ? address.host : UNIX_NAME);
      const host = serverName ?? own;
      const shown = certificates();
      return await shakeHands(conn, { host, certificates: shown, checkServerIdentity, signal });
    });
}

/** Makes a connection speak TLS; closes it when this rejects. */
function shakeHands(
  conn: RawConn,
  { host, certificates, checkServerIdentity, signal }: {
    host: string;
    certificates: Certificates;
    checkServerIdentity: Required<ConnectionOptions>["checkServerIdentity"];
    signal: AbortSignal;
  },
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const stream = new ConnStream(conn);
  const tls = connect({
    ...certificates,
    socket: stream,
    host,
    // An address is no server name (RFC 6066 §3).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: [ALPN],
    checkServerIdentity,
  });
  let settled = false;
  function fail(error: Error): void {
    if (settled) return;
    settled = true;
    tls.destroy();
    stream.destroy();
    reject(error);
  }
  function failTls(error: Error): void {
    fail(new Error(`TLS: ${whyTlsFailed(error, tls, stream)}`));
  }
  tls.on("error", failTls);
  // Which TLS does not always notice (Deno 2.9). When it does, it has the better reason.
  stream.once("end", () => setImmediate(() => failTls(new Error(HUNG_UP))));
  signal.addEventListener("abort", () => fail(signal.reason), { once: true });
  tls.once("secureConnect", () => {
    if (tls.alpnProtocol !== ALPN) return failTls(new Error(NO_H2));
    settled = true;
    resolve(new TlsSocket(tls, stream));
  });
  return promise;
}
