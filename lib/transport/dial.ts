import type { Socket } from "./pump.ts";

/** Where a backend listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Opens a socket to a backend; rejects with what the system says, or a TimeoutError. */
export type Dial = (address: Address, options: { timeoutMs: number }) => Promise<Socket>;

/** Plain TCP with Nagle's algorithm off. TLS has its place here: another {@linkcode Dial}. */
export async function dialTcp(
  { host, port }: Address,
  { timeoutMs }: { timeoutMs: number },
): Promise<Socket> {
  const given = new AbortController();
  const timer = setTimeout(
    () => given.abort(new DOMException("Connecting took too long", "TimeoutError")),
    timeoutMs,
  );
  try {
    const socket = await Deno.connect({ hostname: host, port, signal: given.signal });
    socket.setNoDelay(true);
    return socket;
  } finally {
    clearTimeout(timer);
  }
}
