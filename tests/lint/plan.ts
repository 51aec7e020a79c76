/**
 * The plan of `lib/` as data: which rooms there are and what each may know, through which file each
 * package enters, who owns the environment and the sockets, and how doc comments do not open. The
 * lint rules in `rooms.ts` compare every file with it; a new room or package is one line here.
 *
 * @module
 */

/** What one folder under `lib/` may know. */
export interface Room {
  /** Rooms it may import, through their `mod.ts`. */
  readonly imports: readonly string[];
  /** Rooms of which it may import types, and nothing that runs. */
  readonly types?: readonly string[];
  /** Synchronous, and never asks the outside world anything: time and chance are arguments. */
  readonly pure?: true;
  /** The folders of a room that is divided, lowest first: each says what it may know of those above it. */
  readonly folders?: Readonly<Record<string, Folder>>;
}

/** A room within a room: it has a `mod.ts` too, and knows the same other rooms. */
export type Folder = Pick<Room, "imports" | "types">;

/** The rooms, lowest first: imports point up this list, never sideways. */
export const ROOMS: Readonly<Record<string, Room>> = {
  wire: { imports: [], pure: true },
  connection: { imports: ["wire"], pure: true },
  grpc: { imports: ["wire"], pure: true },
  collapse: { imports: ["grpc"], pure: true },
  freshness: { imports: ["wire", "grpc", "collapse"], pure: true },
  transport: { imports: ["connection"] },
  observe: { imports: ["grpc"], types: ["connection"], pure: true },
  upstream: { imports: ["wire", "grpc", "freshness", "connection", "transport", "observe"] },
  balance: { imports: ["wire", "grpc", "transport", "observe", "upstream"] },
  // What is known of answers without making a call: no backend, no caller, no clock.
  trust: { imports: ["grpc"], pure: true },
  trial: {
    imports: [
      "wire",
      "collapse",
      "freshness",
      "grpc",
      "transport",
      "observe",
      "upstream",
      "trust",
    ],
  },
  // Never `balance`: callers know a backend as something that calls are started at.
  downstream: {
    imports: [
      "wire",
      "collapse",
      "freshness",
      "grpc",
      "connection",
      "transport",
      "observe",
      "upstream",
      "trial",
    ],
  },
  proxy: {
    imports: [
      "trial",
      "trust",
      "wire",
      "collapse",
      "grpc",
      "transport",
      "observe",
      "upstream",
      "balance",
      "downstream",
    ],
  },
  config: {
    imports: [],
    types: ["wire", "grpc", "collapse", "transport", "observe", "balance", "downstream", "proxy"],
  },
  // Of `connection` both want the token bucket alone: one for all, in the lowest room that has a use for it.
  telemetry: { imports: ["wire", "connection", "grpc", "observe"] },
  http: { imports: ["transport"] },
  admin: {
    imports: ["http", "connection", "grpc", "observe", "proxy", "config", "telemetry"],
    types: ["upstream"],
  },
  sidecar: {
    imports: [
      "wire",
      "connection",
      "grpc",
      "collapse",
      "transport",
      "observe",
      "proxy",
      "config",
      "telemetry",
      "http",
      "admin",
    ],
    types: ["downstream"],
  },
  measure: {
    imports: ["wire", "grpc", "connection", "transport", "proxy", "http", "sidecar", "telemetry"],
    folders: {
      report: { imports: [] },
      client: { imports: [] },
      load: { imports: ["report", "client"] },
      demo: { imports: ["report", "client", "load"] },
      stall: { imports: ["report", "client", "load"] },
      // It is handed the way to measure a blast.
      tax: { imports: ["report", "client", "load", "demo"], types: ["stall"] },
    },
  },
  // The second opinion on everything above, so it shares no code with it.
  hello: { imports: [] },
  // From text to text: it reads no file, and knows of Kubernetes what a pod is.
  inject: { imports: ["config"], pure: true },
  cli: { imports: ["sidecar", "measure", "hello", "config", "inject"] },
};

/** `main.ts` hands its arguments to `cli` and knows nothing else. */
export const MAIN: Room = { imports: ["cli"] };

/** The one file through which each package enters, so that replacing it is a change of one file. */
export const DOORS: Readonly<Record<string, string>> = {
  "prom-client": "lib/telemetry/registry.ts",
  "uplot": "lib/admin/uplot.ts",
  "@humanwhocodes/momoa": "lib/config/policy/json.ts",
  "asn1js": "lib/transport/x509.ts",
  "@grpc/grpc-js": "lib/hello/grpc.ts",
  "@grpc/proto-loader": "lib/hello/grpc.ts",
  "protobufjs": "lib/hello/grpc.ts",
  "yaml": "lib/inject/yaml.ts",
};

/**
 * Words with which no doc comment opens, since an editor shows it alone, without the neighbour that such a word leans
 * on. A word before `it`, `they` or `them` ("Whether it", "Closes it") is as bad.
 */
export const LEANING_OPENERS: readonly string[] = [
  "Also",
  "Both",
  "Else",
  "It",
  "Its",
  "Likewise",
  "Of it",
  "Of that",
  "One that",
  "Such",
  "That",
  "The former",
  "The latter",
  "The other",
  "The others",
  "The rest",
  "The same",
  "Their",
  "Them",
  "There",
  "These",
  "They",
  "This",
  "Those",
  "Who",
  "Whom",
  "Whose",
];

/** The one module of the platform a pure room may import: a codec of bytes and text, without effect. */
export const PURE_MODULES: ReadonlySet<string> = new Set(["node:buffer"]);

const TRANSPORT = ["lib/transport/"];

/** What only some files may touch: a member, a type or a module, and the paths that own it. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "Deno.env": ["lib/config/environment.ts"],
  "process.env": ["lib/config/environment.ts"],
  "Deno.serve": [],
  "Deno.connect": TRANSPORT,
  "Deno.connectTls": TRANSPORT,
  "Deno.startTls": TRANSPORT,
  "Deno.listen": TRANSPORT,
  "Deno.listenTls": TRANSPORT,
  "Deno.listenDatagram": TRANSPORT,
  "Deno.resolveDns": TRANSPORT,
  "Deno.Conn": TRANSPORT,
  "Deno.TcpConn": TRANSPORT,
  "Deno.TlsConn": TRANSPORT,
  "Deno.UnixConn": TRANSPORT,
  "Deno.Listener": TRANSPORT,
  "Deno.TcpListener": TRANSPORT,
  "Deno.TlsListener": TRANSPORT,
  "Deno.UnixListener": TRANSPORT,
  "node:dgram": TRANSPORT,
  "node:dns": TRANSPORT,
  "node:http": TRANSPORT,
  "node:http2": TRANSPORT,
  "node:https": TRANSPORT,
  "node:net": TRANSPORT,
  "node:tls": TRANSPORT,
};

/** Names that reach a clock, chance, a socket, a console, or another turn of the event loop. */
export const EFFECTS: ReadonlySet<string> = new Set([
  "AbortSignal",
  "BroadcastChannel",
  "Date",
  "Deno",
  "EventSource",
  "MessageChannel",
  "Performance",
  "Promise",
  "Temporal",
  "WebSocket",
  "Worker",
  "addEventListener",
  "caches",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "globalThis",
  "localStorage",
  "navigator",
  "performance",
  "process",
  "queueMicrotask",
  "sessionStorage",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);
