import { serveHttp } from "../http/mod.ts";
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
  const server = serveHttp({
    hostname: options.hostname,
    port: options.port,
    handler: (request, address) => answer(site, request, address),
    onTrouble: ({ message }) =>
      options.log.warn("Cannot accept an admin connection", { error: message }),
  });
  site.start();
  let closed: Promise<void> | undefined;
  return {
    port: server.port,
    close() {
      site.stop(); // pages that listen would hold up the end
      return closed ??= server.close(CLOSE_GRACE_MS);
    },
  };
}
