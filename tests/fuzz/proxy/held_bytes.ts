import { assert, assertEquals } from "@std/assert";
import type { Call, CallerSession } from "../../../lib/downstream/mod.ts";
import type { Exchange } from "../../../lib/upstream/mod.ts";
import type { FrameLog } from "../../../lib/wire/mod.ts";
import type { ProxyRig } from "../../support/proxy_rig.ts";

/**
 * What connections say they hold of requests is what there is, found by going from the proxy's connections to their
 * calls and on to every log that these lead to. A shared request stands for all who wait for it, and one of them
 * accounts for it.
 */
export function checkHeld({ proxy }: ProxyRig): void {
  const shared = new Set<Exchange>();
  const needed = logsNeeded(proxy.sessions);
  let saidBytes = 0;
  let ownBytes = 0;
  for (const session of proxy.sessions) {
    const bytes = callsOf(session).reduce((sum, call) => sum + bytesOf(call, needed), 0);
    assert(session.heldBytes >= bytes, `${session.heldBytes} bytes are held, ${bytes} are there`);
    saidBytes += session.heldBytes;
    ownBytes += bytes;
    for (const { flight } of callsOf(session)) {
      if (flight?.reply.exchange !== undefined) shared.add(flight.reply.exchange);
    }
  }
  const sharedBytes = [...shared].reduce((sum, { unsentBytes }) => sum + unsentBytes, 0);
  assertEquals(saidBytes, ownBytes + sharedBytes, "bytes of requests that are held");
}

function callsOf({ connection }: CallerSession): Call[] {
  return [...connection.streams()].flatMap(({ owner }) => owner ?? []);
}

/**
 * The requests of backend calls that have not ended. Followers of an answer that turned out private share one log, and
 * each lets go of it at the end of its own reply: it is whole until the last one has.
 */
function logsNeeded(sessions: Iterable<CallerSession>): ReadonlySet<FrameLog> {
  const calls = [...sessions].flatMap(callsOf);
  const exchanges = calls.flatMap(({ ownExchange, flight }) =>
    [
      ownExchange ?? [],
      flight?.reply.exchange ?? [],
    ].flat()
  );
  return new Set(exchanges.filter(({ reply }) => !reply.ended).map(({ body }) => body));
}

/** What is kept of a request for its own call alone: gathered, or not yet taken by the backend. */
function bytesOf(call: Call, needed: ReadonlySet<FrameLog>): number {
  const { ownExchange } = call;
  // What others still need is theirs; but nobody keeps anything for a call that has been answered.
  if (ownExchange?.reply.ended) return needed.has(ownExchange.body) ? 0 : ownExchange.body.end;
  if (ownExchange !== undefined) return ownExchange.unsentBytes;
  return call.flight === undefined ? call["body"]?.log?.end ?? 0 : 0;
}
