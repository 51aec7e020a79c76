/** What was asked, and what may come of it. */

import { assert, assertEquals } from "@std/assert";
import type { CallerCall, CallerEnd } from "../../support/caller_end.ts";
import { valueOf } from "../../support/peer_end.ts";
import { PUT } from "../../support/proxy_rig.ts";
import type { Rules } from "./rules.ts";

/** Answered by the sidecar itself or by the backend, so that its reply says nothing of whose it is. */
export const HEALTH = "/grpc.health.v1.Health/Check";

/** Metadata that tells calls apart that ask the same, and is no part of any key; those sent again keep it. */
export const CALL_ID = "x-request-id";

/** What a call asks; its metadata says who does. */
export interface Question {
  readonly path: string;
  readonly auth: string;
  readonly said: string;
  /** The backend that it is meant for, as far as the routing heeds that; "" for none. */
  readonly shard: string;
}

/** A call as it was made. */
export interface Asked extends Question {
  readonly caller: CallerEnd;
  readonly call: CallerCall;
  /** Its {@linkcode CALL_ID}; "" for none. */
  readonly id: string;
  /** Whom its caller's certificate names. */
  readonly identity: string;
  readonly isFresh: boolean;
  readonly atMs: number;
  /** Its place among all that happened, and that of the last write whose answer had been seen by then. */
  readonly place: number;
  readonly writePlace: number;
  hasEnded: boolean;
}

/** The order of all that happens in a case. */
export class Timeline {
  #place = 0;

  next(): number {
    return ++this.#place;
  }
}

/** A place that the backend named in its trailers; 0 where it named none. */
export function placeOf(call: CallerCall, name: string): number {
  return Number(valueOf(call.trailers, name) ?? 0);
}

/** The messages are this call's own, whole, each once and in order. */
export function checkReply({ call, path, auth, said }: Asked): void {
  const key = said.replace(/\.+$/, "");
  call.messages.forEach((message, i) => {
    const own = `${path} ${auth} `;
    const mine = message.startsWith(`${own}${key} #${i} `) || message.startsWith(`${own} #${i} `);
    assert(mine, `call ${call.id} of ${own}${key} got "${message.slice(0, 60)}" as number ${i}`);
  });
  const count = valueOf(call.trailers, "x-count");
  if (count !== undefined) assertEquals(call.messages.length, Number(count), `call ${call.id}`);
}

/** The call whose answer this is asked the same, for the same, as the same. */
export function checkOwner(asked: Asked, byId: ReadonlyMap<string, Asked>): void {
  const owner = byId.get(valueOf(asked.call.trailers, "x-answers") ?? "");
  if (owner === undefined) return; // the answer does not say
  for (const what of ["path", "auth", "shard", "identity"] as const) {
    assertEquals(asked[what], owner[what], `call ${asked.call.id} got what ${owner.id} asked`);
  }
}

/** The answer is not older than it may be. */
export function checkAge(
  { call, isFresh, atMs, place, writePlace, path }: Asked,
  { keepMs, isWriteShared, invalidates }: Rules,
): void {
  const began = placeOf(call, "x-began");
  if (began === 0) return; // it is no answer of the backend's
  const what = `call ${call.id} got an answer`;
  const endedMs = Number(valueOf(call.trailers, "x-at"));
  assert(endedMs + keepMs >= atMs, `${what} that has expired`);
  const isWrite = path === PUT && !isWriteShared;
  if (isFresh || isWrite) assert(began > place, `${what} older than its question`);
  if (invalidates && !isWriteShared) {
    assert(began > writePlace, `${what} older than a write that was answered before`);
  }
}

/** Nothing comes on a stream after its end, but for RST_STREAM. */
export function checkEnds(caller: CallerEnd): void {
  const ended = new Set<number>();
  const reset = new Set<number>();
  for (const frame of caller.frames) {
    if (!("streamId" in frame)) continue;
    const { streamId, type } = frame;
    assert(!reset.has(streamId), `${type} after RST_STREAM on stream ${streamId}`);
    if (type === "RST_STREAM") reset.add(streamId);
    else if (type !== "WINDOW_UPDATE") {
      assert(!ended.has(streamId), `${type} after the end of stream ${streamId}`);
    }
    if ((type === "HEADERS" || type === "DATA") && frame.endStream) ended.add(streamId);
  }
}
