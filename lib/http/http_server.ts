import { listen, SpareDescriptors } from "../transport/mod.ts";
import { HttpConnection, type HttpHandler } from "./http_connection.ts";
import { MAX_CONNECTIONS, SWEEP_MS } from "./limits.ts";

export type { HttpHandler } from "./http_connection.ts";

/** Descriptors kept back from everybody else: a probe, a scraper and a person get through when there are none left. */
const SPARE_DESCRIPTORS = 8;

export interface HttpServerOptions {
  /** Address to listen on. `::` takes both IP versions; where IPv6 is off, IPv4 alone. */
  readonly hostname: string;
  /** Port to listen on; 0 takes a free one. */
  readonly port: number;
  readonly handler: HttpHandler;
  /** Hears of connections that could not be accepted, after which it goes on. */
  readonly onTrouble: (error: Error) => void;
  /** Milliseconds from any beginning. */
  readonly now?: () => number;
}

/** A server while it runs. */
export interface HttpServer {
  readonly port: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Takes no more requests; resolves when those under way are answered, or `graceMs` have passed. Once is enough. */
  close(graceMs: number): Promise<void>;
}

/** Serves HTTP/1.1. Throws what the system says when the address cannot be had. */
export function serveHttp(options: HttpServerOptions): HttpServer {
  const { hostname, port, handler, onTrouble, now = () => performance.now() } = options;
  const connections = new Map<HttpConnection, Promise<void>>();
  const spare = new SpareDescriptors(SPARE_DESCRIPTORS);
  const listening = listen(
    { hostname, port },
    (socket, remote) => {
      if (connections.size >= MAX_CONNECTIONS && !makeRoom(connections)) return socket.close();
      const connection = new HttpConnection(socket, remote.replace(/:\d+$/, ""), now);
      const served = connection.serve(handler).finally(() => {
        connections.delete(connection);
        spare.refill();
      });
      connections.set(connection, served);
    },
    onTrouble,
    spare,
  );
  spare.refill();
  const sweep = setInterval(() => {
    for (const connection of connections.keys()) {
      if (now() >= connection.deadlineMs) void connection.expire();
    }
  }, SWEEP_MS);
  Deno.unrefTimer(sweep);
  return {
    port: listening.port,
    get connections() {
      return connections.size;
    },
    async close(graceMs) {
      listening.close();
      for (const connection of connections.keys()) connection.finish();
      await atMost(graceMs, Promise.all(connections.values()));
      for (const connection of connections.keys()) connection.close();
      clearInterval(sweep);
      spare.close();
    },
  };
}

/** Ends the connection that has asked nothing for longest; false when all are being answered. */
function makeRoom(connections: ReadonlyMap<HttpConnection, unknown>): boolean {
  for (const connection of connections.keys()) {
    if (!connection.isWaiting) continue;
    connection.close();
    return true;
  }
  return false;
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, late]);
  clearTimeout(timer);
}
