import { answer } from "./routes.ts";
import { Site } from "./site.ts";
import type { AdminSources } from "./sources.ts";

/** Longest that closing waits for answers under way: a scrape is far shorter, a client that stopped reading is not. */
const CLOSE_GRACE_MS = 1_000;

export interface AdminOptions extends AdminSources {
  /** Address to listen on. `::` takes both IP versions; where IPv6 is off, IPv4 alone. */
  readonly hostname: string;
  /** Port to listen on; 0 takes a free one. */
  readonly port: number;
}

/** The admin listener while it runs. */
export interface Admin {
  readonly port: number;
  /** Takes no more requests, and resolves when those under way are answered or have had a second. Once is enough. */
  close(): Promise<void>;
}

/** Listens for scrapes and probes. Throws what the system says when the address cannot be had. */
export function startAdmin(options: AdminOptions): Admin {
  const site = new Site(options);
  const server = serveOn(
    options,
    (request, { remoteAddr }) => answer(site, request, hostOf(remoteAddr)),
  );
  site.start();
  let closed: Promise<void> | undefined;
  return {
    port: server.addr.port,
    close() {
      site.stop(); // pages that listen would hold up the end
      return closed ??= close(server);
    },
  };
}

function hostOf(address: Deno.Addr): string {
  return "hostname" in address ? address.hostname : "";
}

/** Serves at an address. `::` takes both IP versions; where IPv6 is switched off, IPv4 alone is what was meant. */
function serveOn(
  address: { hostname: string; port: number },
  handler: Deno.ServeHandler,
): Deno.HttpServer<Deno.NetAddr> {
  const { hostname, port } = address;
  function onListen(): void {} // which would print a line of its own
  try {
    return Deno.serve({ hostname, port, onListen }, handler);
  } catch (error) {
    const noIpv6 = error instanceof Error &&
      /EAFNOSUPPORT|Address family not supported|os error 97/.test(error.message);
    if (hostname !== "::" || !noIpv6) throw error;
    return Deno.serve({ hostname: "0.0.0.0", port, onListen }, handler);
  }
}

/**
 * Closes the server without aborting: that would not hang either, but throws out of the event loop once a shutdown has
 * begun.
 */
async function close(server: Deno.HttpServer): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_GRACE_MS);
  await Promise.race([server.shutdown(), late]);
  clearTimeout(timer);
  server.unref(); // what is left must not keep the process
}
