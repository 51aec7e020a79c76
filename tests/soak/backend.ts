/**
 * A backend of the soak, on our own server role: a process that can be killed and come back on its port.
 *
 *     deno run -A tests/soak/backend.ts PORT [INDEX COUNT replicas|shards]
 *
 * Says `listening PORT`, then obeys lines of its standard input: `goaway` (every connection is to end in order),
 * `abort` (every connection is cut), `stall` (nothing is answered any more) and `resume`, `count` (answered with one
 * line of JSON). SIGTERM ends it in order.
 *
 * @module
 */

import { listen } from "../../lib/transport/mod.ts";
import { type BackendKind, Place } from "./place.ts";
import { type ServedContext, ServedSession } from "./served_session.ts";

/** What `count` is answered with. */
export interface BackendCounts {
  /** Requests' heads that came since the process began. */
  readonly calls: number;
  /** Streams that are open. */
  readonly open: number;
  /** Longest that a timer of its came late. */
  readonly lateMs: number;
}

const LOOK_EVERY_MS = 50;

const sessions = new Set<ServedSession>();
let calls = 0;
let lateMs = 0;
let whenEmpty: (() => void) | undefined;

/** While it is stalled, resolved when it goes on. */
let stall: PromiseWithResolvers<void> | undefined;

const [port = "0", index = "0", count = "1", kind = "replicas"] = Deno.args;

const context: ServedContext = {
  refused: new Set(),
  place: new Place(Number(index), { count: Number(count), kind: kind as BackendKind }),
  awake: () => stall?.promise ?? Promise.resolve(),
  called: () => void calls++,
  closed(session) {
    sessions.delete(session);
    if (sessions.size === 0) whenEmpty?.();
  },
};

if (import.meta.main) await main(Number(port));

async function main(port: number): Promise<void> {
  const listening = listen({ hostname: "127.0.0.1", port }, (socket) => {
    const session = new ServedSession(socket, context);
    sessions.add(session);
    void session.run();
  }, (error) => console.error(error.message));
  Deno.addSignalListener("SIGTERM", () => {
    if (whenEmpty !== undefined) return; // told twice
    listening.close();
    whenEmpty = () => Deno.exit(0);
    for (const session of sessions) session.drain();
    if (sessions.size === 0) whenEmpty();
  });
  console.log(`listening ${listening.port}`);
  watchLateness();
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) obey(line);
  }
  if (whenEmpty === undefined) Deno.exit(0); // whoever started it is gone
}

function watchLateness(): void {
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    lateMs = Math.max(lateMs, nowMs - lastMs - LOOK_EVERY_MS);
    lastMs = nowMs;
  }, LOOK_EVERY_MS);
}

function obey(order: string): void {
  if (order === "goaway") { for (const session of sessions) session.drain(); }
  if (order === "abort") { for (const session of sessions) session.abort(); }
  if (order === "stall") stall ??= Promise.withResolvers();
  if (order === "resume") {
    stall?.resolve();
    stall = undefined;
  }
  if (order !== "count") return;
  const open = [...sessions].reduce((sum, { connection }) => sum + connection.openStreams, 0);
  console.log(JSON.stringify({ calls, open, lateMs } satisfies BackendCounts));
}
