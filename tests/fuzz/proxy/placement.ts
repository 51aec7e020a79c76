import { assert, assertEquals } from "@std/assert";
import { valueOf } from "../../support/peer_end.ts";
import { CALL_ID } from "./asked.ts";
import { nameAt, routingHeader } from "./hosts.ts";
import type { Scene } from "./scene.ts";
import { isSidecars } from "./sidecars_questions.ts";

/** Times that a call is sent at most (gRFC A6). */
const MOST_SENT = 2;

/** A call comes to an application once; a second time it is sent only where the first one was provably not looked at. */
export function checkSentOnce({ rig, answers }: Scene): void {
  const byId = Map.groupBy(rig.requests, ({ fields }) => valueOf(fields, CALL_ID) ?? "");
  byId.delete("");
  for (const [id, sent] of byId) {
    const hosts = sent.map(({ backend }) => rig.hostOf(backend)).join(" and ");
    const looked = sent.filter((request) => !answers.isUnseen(request));
    assert(looked.length <= 1, `call ${id} came to ${hosts}, and ${looked.length} looked at it`);
    assert(sent.length <= MOST_SENT, `call ${id} came to ${hosts}`);
  }
}

/**
 * A call goes to no other shard than the one that it is meant for: who is named in its header, or one and the same for
 * each other word. Where names change, words may move.
 */
export function checkShards(
  { rig, hosts }: Scene,
  { haveNamesChanged }: { haveNamesChanged: boolean },
): void {
  const header = routingHeader(hosts);
  if (hosts.kind !== "shards" || header === undefined || haveNamesChanged) return;
  const owners = new Map(hosts.addresses.map((host) => [nameAt(host, hosts), host]));
  for (const request of rig.requests) {
    if (isSidecars(request) || request.path === undefined) continue;
    const word = valueOf(request.fields, header) ?? "";
    const host = rig.hostOf(request.backend);
    if (!owners.has(word)) owners.set(word, host);
    assertEquals(host, owners.get(word), `the shard of a call for "${word}"`);
  }
}
