import type { Socket } from "./pump.ts";

/** Where a backend listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Path of a unix socket; host and port say nothing then. */
  readonly path?: string | undefined;
  /** Name to expect in the backend's certificate, where the host is an address that the name stood for. */
  readonly serverName?: string | undefined;
}

/** Opens a socket to a backend; rejects with what the system says, or a TimeoutError. */
export type Dial = (address: Address, options: { timeoutMs: number }) => Promise<Socket>;

/**
 * Dials a unix socket where the address has a path, else as {@linkcode dialTcp}. For TLS over either, see `dialTls`.
 */
export function dialPlain(
  address: Address,
  { timeoutMs }: { timeoutMs: number },
): Promise<Socket> {
  return withinTime(timeoutMs, (signal) => connectTo(address, signal));
}

/** Dials plain TCP with Nagle's algorithm off. */
export function dialTcp(
  address: Address,
  { timeoutMs }: { timeoutMs: number },
): Promise<Socket> {
  return withinTime(timeoutMs, (signal) => connectTcp(address, signal));
}

/** The address in words. */
export function addressName({ host, port, path }: Address): string {
  if (path !== undefined) return `unix:${path}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Connects, until `signal` says that it took too long. */
export function connectTo(address: Address, signal: AbortSignal): Promise<Deno.Conn> {
  const { path } = address;
  // A unix socket connects at once or not at all.
  return path === undefined
    ? connectTcp(address, signal)
    : Deno.connect({ transport: "unix", path });
}

/** What `work` comes to; its signal fires with a TimeoutError after `timeoutMs`. */
export async function withinTime<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const given = new AbortController();
  const timer = setTimeout(
    () => given.abort(new DOMException("Connecting took too long", "TimeoutError")),
    timeoutMs,
  );
  try {
    return await work(given.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function connectTcp({ host, port }: Address, signal: AbortSignal): Promise<Deno.TcpConn> {
  const socket = await Deno.connect({ hostname: host, port, signal });
  socket.setNoDelay(true);
  return socket;
}
