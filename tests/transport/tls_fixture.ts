/**
 * Both ends of TLS connections on this machine.
 *
 * @module
 */

import {
  type Certificates,
  dialTls,
  type ListenAddress,
  type Listening,
  listenTls,
  type Peer,
  type Socket,
  type TlsListenOptions,
} from "../../lib/transport/mod.ts";
import { Authority } from "../support/certificates.ts";
import { until, within } from "../support/waiting.ts";

/** Longest that a connection of a test may take. */
export const TIMEOUT = { timeoutMs: 10_000 };

export const AUTHORITY: Authority = await Authority.make();
const SERVER = await AUTHORITY.server();

/** What a server shows that asks its callers for nothing. */
export const PUBLIC: Certificates = { ...SERVER, ca: undefined };

/** What a server shows that lets in whom its own CA vouches for. */
export const MUTUAL: Certificates = { ...SERVER, ca: AUTHORITY.cert };

/** What a client without a certificate trusts. */
export const TRUSTING: Certificates = { cert: undefined, key: undefined, ca: AUTHORITY.cert };

/** A listener, and all that it told. */
export class TlsServer implements Disposable {
  readonly accepted: { socket: Socket; peer: Peer }[] = [];
  readonly refused: string[] = [];
  readonly listening: Listening;
  certificates: Certificates;

  constructor(
    certificates: Certificates,
    { address = { hostname: "127.0.0.1", port: 0 }, ...limits }: {
      address?: ListenAddress;
      handshakeMs?: number;
      maxHandshakes?: number;
    } = {},
  ) {
    this.certificates = certificates;
    const options: TlsListenOptions = {
      certificates: () => this.certificates,
      accept: (socket, peer) => this.accepted.push({ socket, peer }),
      onRefused: (why) => this.refused.push(why),
      onTrouble: (error) => {
        throw error;
      },
      ...limits,
    };
    this.listening = listenTls(address, options);
  }

  get port(): number {
    return this.listening.port;
  }

  /** The connection that was accepted as number `index`, once it is. */
  async connection(index = 0): Promise<{ socket: Socket; peer: Peer }> {
    await until(() => this.accepted.length > index, "a connection");
    return this.accepted[index]!;
  }

  /** What was told of the callers that were refused, once there are so many. */
  async refusals(count = 1): Promise<string[]> {
    await until(() => this.refused.length >= count, "a refusal");
    return this.refused;
  }

  dial(certificates: Certificates, serverName?: string): Promise<Socket> {
    const dial = dialTls({ certificates: () => certificates, serverName });
    return within(dial({ host: "127.0.0.1", port: this.port }, TIMEOUT), "a handshake");
  }

  [Symbol.dispose](): void {
    this.listening.close();
  }
}

/** Both ends of one connection. The scope's end closes what is left of it. */
export class TlsPair implements AsyncDisposable {
  readonly client: Socket;
  readonly server: Socket;

  private constructor(client: Socket, server: Socket) {
    this.client = client;
    this.server = server;
  }

  static async open(): Promise<TlsPair> {
    using server = new TlsServer(PUBLIC);
    const client = await server.dial(TRUSTING);
    return new TlsPair(client, (await server.connection()).socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAll(this.client, this.server);
  }
}

/** Closes what is open, and waits for the turn in which that happens. */
export async function closeAll(...sockets: Socket[]): Promise<void> {
  for (const socket of sockets) {
    try {
      socket.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }
  await new Promise((resume) => setTimeout(resume, 0));
}

export async function readBytes(socket: Socket, count: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(count);
  let got = 0;
  while (got < count) {
    const read = await within(socket.read(bytes.subarray(got)), "bytes to read");
    if (read === null) throw new Error(`The peer ended after ${got} bytes`);
    got += read;
  }
  return bytes;
}
