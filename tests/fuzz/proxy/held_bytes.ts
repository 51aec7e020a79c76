import { CallerSession } from "../../../lib/downstream/caller_session.ts";
import type { ProxyRig } from "../../support/proxy_rig.ts";

/** Bytes of requests that calls say they hold, by the map of the proxy that they belong to. */
const held = new WeakMap<object, number>();

const count = CallerSession.prototype.held;

/** What a session counts nobody can ask it for, and a little that is left over would never be seen. */
CallerSession.prototype.held = function (moreBytes: number): void {
  const { map } = this.context;
  const before = held.get(map);
  if (before !== undefined) held.set(map, before + moreBytes);
  count.call(this, moreBytes);
};

export function watchHeld({ proxy }: ProxyRig): void {
  held.set(proxy.map, 0);
}

export function heldBytes({ proxy }: ProxyRig): number {
  return held.get(proxy.map)!;
}
