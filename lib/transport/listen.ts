import type { RawConn } from "./conn_stream.ts";
import { listenAtPath } from "./listen_at_path.ts";
import type { SpareDescriptors } from "./spare_descriptors.ts";

/** How long to leave the descriptors alone when there are none left (EMFILE); a caller waits no longer for it. */
const ACCEPT_RETRY_MS = 50;

/**
 * Where callers connect: an IP address and a port, 0 for a free one, or the path of a unix socket with its permissions,
 * which are what the umask makes them where `mode` is left out.
 */
export type ListenAddress =
  | { readonly hostname: string; readonly port: number }
  | { readonly path: string; readonly mode?: number };

/** A listening socket and the loop that accepts from it. */
export interface Listening {
  /** The port; 0 for a unix socket. */
  readonly port: number;
  /** The address; the path of a unix socket. */
  readonly hostname: string;
  /** Stops accepting, and removes the file of a unix socket; connections accepted before live on. */
  close(): void;
}

/**
 * Listens and hands every connection to `accept`, with Nagle's algorithm off (a reply must not wait for the next).
 * `onTrouble` hears of failures to accept, after which it goes on; `spare` are descriptors for when there are no others.
 * Throws what `Deno.listen` throws when the address cannot be had.
 */
export function listen(
  address: ListenAddress,
  accept: (socket: RawConn, remote: string) => void,
  onTrouble: (error: Error) => void,
  spare?: SpareDescriptors,
): Listening {
  const options = { onTrouble, spare };
  if ("path" in address) {
    const { path, mode } = address;
    const listener = listenAtPath(path, mode);
    acceptAll(listener, (socket) => accept(socket, `unix:${path}`), options);
    return { port: 0, hostname: path, close: () => listener.close() };
  }
  const listener = listenTcp(address);
  acceptAll(listener, (socket) => acceptTcp(socket, accept), options);
  const { port, hostname } = listener.addr;
  return { port, hostname, close: () => listener.close() };
}

/** Listens on `::` for both IP versions; where IPv6 is switched off, IPv4 alone is what was meant. */
function listenTcp(address: { hostname: string; port: number }): Deno.TcpListener {
  try {
    return Deno.listen(address);
  } catch (error) {
    const noIpv6 = error instanceof Error &&
      /EAFNOSUPPORT|Address family not supported|os error 97/.test(error.message);
    if (address.hostname !== "::" || !noIpv6) throw error;
    return Deno.listen({ ...address, hostname: "0.0.0.0" });
  }
}

/** Hands an accepted socket on. Throws when the peer was gone before we looked; the socket is closed then. */
function acceptTcp(
  socket: Deno.TcpConn,
  accept: (socket: RawConn, remote: string) => void,
): void {
  try {
    socket.setNoDelay(true);
    // A caller that vanished without a word keeps no connection for ever: the kernel asks after two idle hours, as
    // grpc-go's servers do by themselves. Its calls have deadlines, or end when the backend does.
    socket.setKeepAlive(true);
  } catch (error) {
    socket.close();
    throw error;
  }
  const { hostname, port } = socket.remoteAddr;
  accept(socket, `${hostname}:${port}`);
}

async function acceptAll<Conn extends RawConn>(
  listener: { accept(): Promise<Conn> },
  accept: (socket: Conn) => void,
  { onTrouble, spare }: {
    onTrouble: (error: Error) => void;
    spare: SpareDescriptors | undefined;
  },
): Promise<void> {
  for (;;) { // not `for await`, which ends for good at the first EMFILE
    let socket: Conn;
    try {
      socket = await listener.accept();
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
        return; // closed
      }
      if (isGone(error)) continue; // the next one may be a caller, and must not wait for it
      if (isOutOfDescriptors(error) && spare?.lend()) continue;
      onTrouble(asError(error));
      await new Promise((resume) => setTimeout(resume, ACCEPT_RETRY_MS));
      continue;
    }
    try {
      accept(socket);
    } catch (error) {
      onTrouble(asError(error));
    }
  }
}

/**
 * Whether a peer reset its connection before we looked: nobody's trouble, and what some load balancers do for a probe.
 */
function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected ||
    error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted;
}

/** Whether the process (EMFILE) or the machine (ENFILE) has no descriptor left. */
function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
