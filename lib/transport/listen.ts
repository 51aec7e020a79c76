import type { Socket } from "./pump.ts";

/** How long to leave the descriptors alone when there are none left (EMFILE); a caller waits no longer for it. */
const ACCEPT_RETRY_MS = 50;

/** A listening socket and the loop that accepts from it. */
export interface Listening {
  readonly port: number;
  readonly hostname: string;
  /** Stops accepting; connections accepted before live on. */
  close(): void;
}

/**
 * Listens and hands every connection to `accept`, with Nagle's algorithm off (a reply must not wait for the next).
 * `onTrouble` hears of failures to accept, after which it goes on. Throws what `Deno.listen` throws when the
 * address cannot be had.
 */
export function listen(
  address: { hostname: string; port: number },
  accept: (socket: Socket, remote: string) => void,
  onTrouble: (error: Error) => void,
): Listening {
  const listener = listenOn(address);
  acceptAll(listener, accept, onTrouble);
  const { port, hostname } = listener.addr;
  return { port, hostname, close: () => listener.close() };
}

/** `::` takes both IP versions; where IPv6 is switched off, IPv4 alone is what was meant. */
function listenOn(address: { hostname: string; port: number }): Deno.TcpListener {
  try {
    return Deno.listen(address);
  } catch (error) {
    const noIpv6 = error instanceof Error &&
      /EAFNOSUPPORT|Address family not supported|os error 97/.test(error.message);
    if (address.hostname !== "::" || !noIpv6) throw error;
    return Deno.listen({ ...address, hostname: "0.0.0.0" });
  }
}

async function acceptAll(
  listener: Deno.TcpListener,
  accept: (socket: Socket, remote: string) => void,
  onTrouble: (error: Error) => void,
): Promise<void> {
  for (;;) { // not `for await`, which ends for good at the first EMFILE
    let socket: Deno.TcpConn;
    try {
      socket = await listener.accept();
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
        return; // closed
      }
      onTrouble(error instanceof Error ? error : new Error(String(error)));
      await new Promise((resume) => setTimeout(resume, ACCEPT_RETRY_MS));
      continue;
    }
    try {
      socket.setNoDelay(true);
    } catch (error) {
      socket.close(); // the peer was gone before we looked
      onTrouble(error instanceof Error ? error : new Error(String(error)));
      continue;
    }
    const { hostname, port } = socket.remoteAddr;
    accept(socket, `${hostname}:${port}`);
  }
}
