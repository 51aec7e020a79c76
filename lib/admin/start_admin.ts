import { type HttpServer, serveHttp } from "../http/mod.ts";
import { isLoopback } from "./loopback.ts";
import { answer, type Serving } from "./routes.ts";
import { Site } from "./site.ts";
import type { AdminSources } from "./sources.ts";

/** Longest that closing waits for answers under way: a scrape is far shorter, a client that stopped reading is not. */
const CLOSE_GRACE_MS = 1_000;

/** Where a listener is: an address and a port, 0 for a free one. */
export interface ListenAt {
  /** `::` takes both IP versions; where IPv6 is off, IPv4 alone. */
  readonly hostname: string;
  readonly port: number;
}

export interface AdminOptions extends AdminSources, ListenAt {
  /** Where the page and /api are, when not beside /metrics, /health and /ready. */
  readonly pages?: ListenAt;
}

/** The admin listener while it runs. */
export interface Admin {
  /** Port of /metrics, /health and /ready. */
  readonly port: number;
  /** Port of the page and /api. */
  readonly pagePort: number;
  /** Takes no more requests, and resolves when those under way are answered or have had a second. Once is enough. */
  close(): Promise<void>;
}

/** The address of the page's own listener cannot be had; the message is the system's. */
export class PagesRefused extends Error {}

/**
 * Listens for scrapes, probes and people. Throws what the system says when the address cannot be had,
 * {@linkcode PagesRefused} when it is that of the page.
 */
export function startAdmin(options: AdminOptions): Admin {
  const site = new Site(options);
  const { pages } = options;
  const figures = serve(site, options, pages === undefined ? "everything" : "figures");
  const servers = [figures];
  if (pages !== undefined) servers.push(servePages(site, pages, figures));
  site.start();
  let closed: Promise<unknown> | undefined;
  return {
    port: figures.port,
    pagePort: servers.at(-1)!.port,
    async close() {
      site.stop(); // pages that listen would hold up the end
      await (closed ??= Promise.all(servers.map((server) => server.close(CLOSE_GRACE_MS))));
    },
  };
}

function serve(site: Site, { hostname, port }: ListenAt, serving: Serving): HttpServer {
  return serveHttp({
    hostname,
    port,
    handler(request, address) {
      const isPrivate = isLoopback(hostname) && isLoopback(address);
      return answer(site, { request, address, serving, isPrivate });
    },
    onTrouble: ({ message }) => site.unaccepted(message),
  });
}

/** Serves the page; when its address cannot be had, `figures` is closed again. */
function servePages(site: Site, pages: ListenAt, figures: HttpServer): HttpServer {
  try {
    return serve(site, pages, "everything");
  } catch (error) {
    void figures.close(0);
    const why = error instanceof Error ? error.message : String(error);
    throw new PagesRefused(why, { cause: error });
  }
}
