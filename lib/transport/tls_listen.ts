import { createServer } from "node:tls";
import type { Certificates } from "./certificates.ts";
import { ConnStream, type RawConn } from "./conn_stream.ts";
import { listen, type ListenAddress, type Listening } from "./listen.ts";
import type { Socket } from "./pump.ts";
import { TlsSocket } from "./tls_socket.ts";
import { ALPN, HUNG_UP, NO_H2, whyTlsFailed } from "./tls_trouble.ts";

/** Longest a handshake may take, from the first byte to the last: over a slow network it takes one second. */
const HANDSHAKE_MS = 10_000;

/** Handshakes under way at once. Each costs a millisecond or two of work: more would wait for longer than they may. */
const MAX_HANDSHAKES = 2_000;

/** A peer at the other end of a connection. */
export interface Peer {
  /** The peer's address, for people. */
  readonly remote: string;
  /** Identity that the peer's certificate gives it, as text for a key (see `identityOf`); "" when it was not asked for one. */
  readonly identity: string;
}

export interface TlsListenOptions {
  /** What to show and to expect, asked for each connection. With a CA, only callers with a certificate from it are let in. */
  readonly certificates: () => Certificates;
  readonly accept: (socket: Socket, peer: Peer) => void;
  /** A caller that could not be let in; one that went without a word is not told of. */
  readonly onRefused: (why: string, remote: string) => void;
  /** Hears of failures to accept, as that of {@linkcode listen} does. */
  readonly onTrouble: (error: Error) => void;
  /** Longest a handshake may take. @default 10000 */
  readonly handshakeMs?: number;
  /** Handshakes under way at once. @default 2000 */
  readonly maxHandshakes?: number;
}

/** Listens for callers that speak HTTP/2 over TLS, and hands them over when the handshake is done. */
export function listenTls(address: ListenAddress, options: TlsListenOptions): Listening {
  const { onRefused, onTrouble, maxHandshakes = MAX_HANDSHAKES } = options;
  const handshakes = new Set<Handshake>();
  const listening = listen(address, (conn, remote) => {
    if (handshakes.size >= maxHandshakes) {
      conn.close();
      return onRefused(`TLS: ${maxHandshakes} handshakes are under way`, remote);
    }
    new Handshake(conn, { remote, options, underWay: handshakes }).begin().catch(onTrouble);
  }, onTrouble);
  return {
    ...listening,
    close() {
      listening.close();
      for (const handshake of handshakes) handshake.abandon();
    },
  };
}

/** A caller's connection, until it is handed over or ended. */
class Handshake {
  #stream: ConnStream;
  #remote: string;
  #options: TlsListenOptions;
  #underWay: Set<Handshake>;
  #late: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(
    conn: RawConn,
    { remote, options, underWay }: {
      remote: string;
      options: TlsListenOptions;
      underWay: Set<Handshake>;
    },
  ) {
    this.#stream = new ConnStream(conn);
    this.#remote = remote;
    this.#options = options;
    this.#underWay = underWay;
  }

  async begin(): Promise<void> {
    const { handshakeMs = HANDSHAKE_MS, certificates } = this.#options;
    this.#underWay.add(this);
    this.#late = setTimeout(
      () => this.#refuse(`no handshake within ${handshakeMs} ms`),
      handshakeMs,
    );
    const { cert, key, ca } = certificates();
    const requestCert = ca !== undefined;
    // Loaded here, since most sidecars ask nobody for a certificate and go without the library behind it.
    const names = requestCert ? await import("./certificate_names.ts") : undefined;
    if (!this.#underWay.has(this)) return; // abandoned meanwhile, or too late
    // A server for each connection, so that it has the certificates of its time. It never listens: that is ours to do.
    const server = createServer({
      ...{ cert, key, ca, requestCert },
      rejectUnauthorized: true,
      ALPNProtocols: [ALPN],
    });
    server.on(
      "tlsClientError",
      (error, tls) => this.#refuse(whyTlsFailed(error, tls, this.#stream)),
    );
    server.on("secureConnection", (tls) => {
      if (tls.alpnProtocol !== ALPN) return this.#refuse(NO_H2);
      if (requestCert && !tls.authorized) {
        return this.#refuse(whyTlsFailed(undefined, tls, this.#stream));
      }
      this.#settle();
      const identity = names?.identityOf(tls.getPeerCertificate().raw) ?? "";
      const socket = new TlsSocket(tls, this.#stream);
      this.#options.accept(socket, { remote: this.#remote, identity });
    });
    for (const event of ["end", "close"]) {
      // Which TLS does not always notice (Deno 2.9). When it does, it has the better reason.
      this.#stream.once(event, () => setImmediate(() => this.#refuse(HUNG_UP)));
    }
    server.emit("connection", this.#stream);
  }

  /** Ends the connection without a word. */
  abandon(): void {
    this.#settle();
    this.#stream.destroy();
  }

  #refuse(why: string): void {
    if (!this.#settle()) return; // abandoned, or told already
    this.#stream.destroy();
    if (this.#stream.heard) this.#options.onRefused(`TLS: ${why}`, this.#remote);
  }

  #settle(): boolean {
    clearTimeout(this.#late);
    return this.#underWay.delete(this);
  }
}
