import { assert, assertEquals } from "@std/assert";
import type { Call, CallerSession } from "../../../lib/downstream/mod.ts";
import type { Exchange } from "../../../lib/upstream/mod.ts";
import type { ProxyRig } from "../../support/proxy_rig.ts";

/**
 * What connections say they hold of requests is what there is, found by going from the proxy's connections to their
 * calls and on to every log that these lead to. A shared request stands for all who wait for it, and one of them
 * accounts for it.
 */
export function checkHeld({ proxy }: ProxyRig): void {
  const shared = new Set<Exchange>();
  let saidBytes = 0;
  let ownBytes = 0;
  for (const session of proxy.sessions) {
    const bytes = callsOf(session).reduce((sum, call) => sum + bytesOf(call), 0);
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

/** What is kept of a request for its own call alone: gathered, or not yet taken by the backend. */
function bytesOf(call: Call): number {
  if (call.ownExchange?.reply.ended) return call.ownExchange.body.end;
  if (call.ownExchange !== undefined) return call.ownExchange.unsentBytes;
  return call.flight === undefined ? call["body"]?.log?.end ?? 0 : 0;
}
