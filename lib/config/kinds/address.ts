import type { BackendEntry } from "../../balance/mod.ts";
import type { Kind, Parsed } from "./kind.ts";

const EXPECTED = "expected host:port, [v6]:port, dns:///host:port or unix:/path";

/** The URI form of a name that may have several addresses (gRPC "Name Resolution"). */
const DNS = "dns:///";

/** What stands before the path of a unix socket. */
const UNIX = "unix:";

/** An IPv6 address in brackets, with at least two colons; a zone may follow (RFC 4007 §11). */
const IPV6 = /^\[((?=.*:.*:)[0-9a-fA-F:.]+(?:%[\w.-]+)?)\]$/;

/** A backend's name before `=`: it becomes the value of a metric's label. */
const NAME = /^([A-Za-z0-9][\w.-]*)=(.*)$/;

/** An entry without its name, which may be made of the rest. */
type Place = Omit<BackendEntry, "name">;

/** A place to connect to. */
export interface HostPort {
  /** Host name or IP address, without brackets. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
}

export const HOST_PORT: Kind<HostPort> = {
  placeholder: "HOST:PORT",
  parse: parseHostPort,
  show: ({ host, port }) => `${bracketed(host)}:${port}`,
};

/** A place to connect to, and what it is called. */
export const NAMED_ADDRESS: Kind<HostPort & { readonly name: string }> = {
  placeholder: "NAME=HOST:PORT",
  parse(text) {
    const [, name, rest = ""] = NAME.exec(text) ?? [];
    const parsed = parseHostPort(rest);
    return name === undefined || "why" in parsed
      ? { why: "expected a name and an address, such as a=127.0.0.1:50051" }
      : { value: { name, ...parsed.value } };
  },
  show: ({ name, ...address }) => `${name}=${HOST_PORT.show(address)}`,
};

/** An address to listen on, brackets off: "[::]" is "::", as `Deno.listen` takes it. */
export const LISTEN_HOST: Kind<string> = {
  placeholder: "HOST",
  parse(text) {
    const host = plainHost(text) ?? plainHost(`[${text}]`);
    return host === undefined
      ? { why: "expected an address without a port, such as [::] or 0.0.0.0" }
      : { value: host };
  },
  show: bracketed,
};

/** An address to listen on as {@linkcode LISTEN_HOST} reads it, or "unix:" and the path of a socket as they are. */
export const LISTEN_ADDRESS: Kind<string> = {
  placeholder: "HOST",
  parse(text) {
    if (!text.startsWith(UNIX)) {
      const parsed = LISTEN_HOST.parse(text);
      return "why" in parsed ? { why: `${parsed.why}, or unix:/path` } : parsed;
    }
    const parsed = parseUnix(text);
    return "why" in parsed ? parsed : { value: showPlace(parsed.value) };
  },
  show: (host) => unixPath(host) === undefined ? bracketed(host) : host,
};

/** The path in what {@linkcode LISTEN_ADDRESS} gives; undefined when it is no unix socket's. */
export function unixPath(host: string): string | undefined {
  return host.startsWith(UNIX) ? host.slice(UNIX.length) : undefined;
}

/** The addresses of BACKEND_ADDRESS: at least one, names and addresses all different. */
export const BACKENDS: Kind<readonly BackendEntry[]> = {
  placeholder: "ADDRESSES",
  parse(text): Parsed<readonly BackendEntry[]> {
    const backends: BackendEntry[] = [];
    for (const entry of text.split(",").map((part) => part.trim()).filter(Boolean)) {
      const parsed = parseBackend(entry);
      if ("why" in parsed) {
        return entry === text ? parsed : { why: `"${entry}" in it: ${parsed.why}` };
      }
      const { name } = parsed.value;
      if (backends.some((other) => other.name === name)) {
        return { why: `"${name}" stands in it twice` };
      }
      backends.push(parsed.value);
    }
    return backends.length === 0 ? { why: EXPECTED } : { value: backends };
  },
  show: (backends) => backends.map(showBackend).join(","),
};

function parseBackend(entry: string): Parsed<BackendEntry> {
  const [, given, rest = ""] = NAME.exec(entry) ?? [undefined, undefined, entry];
  const parsed = rest.startsWith(UNIX) ? parseUnix(rest) : parseTcp(rest);
  if ("why" in parsed) return parsed;
  return { value: { name: given ?? showPlace(parsed.value), ...parsed.value } };
}

function parseUnix(text: string): Parsed<Place> {
  const path = text.slice(UNIX.length).replace(/^\/\/(?=\/)/, ""); // gRPC's unix:///path too
  if (path === "" || path.startsWith("//")) return { why: "expected a path, as in unix:/path" };
  return { value: { address: { host: "", port: 0, path } } };
}

function parseTcp(text: string): Parsed<Place> {
  const resolves = text.startsWith(DNS);
  const parsed = parseHostPort(resolves ? text.slice(DNS.length) : text);
  if ("why" in parsed) return { why: EXPECTED };
  return { value: { address: parsed.value, resolves } };
}

function parseHostPort(text: string): Parsed<HostPort> {
  const colon = text.lastIndexOf(":");
  const port = /^\d+$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0;
  // ":50051" is this machine, as in the Go original.
  const host = colon === 0 ? "localhost" : plainHost(text.slice(0, Math.max(colon, 0)));
  return host === undefined || port < 1 || port > 65_535
    ? { why: "expected host:port" }
    : { value: { host, port } };
}

/** The host without brackets; undefined when it is no host, or IPv6 that lacks them. */
function plainHost(text: string): string | undefined {
  const v6 = IPV6.exec(text)?.[1];
  return v6 ?? (/^[\w.-]+$/.test(text) ? text : undefined);
}

function showBackend(backend: BackendEntry): string {
  const place = showPlace(backend);
  return backend.name === place ? place : `${backend.name}=${place}`;
}

function showPlace({ address, resolves = false }: Place): string {
  if (address.path !== undefined) return `${UNIX}${address.path}`;
  return `${resolves ? DNS : ""}${HOST_PORT.show(address)}`;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
