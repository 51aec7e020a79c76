import { assertEquals } from "@std/assert";
import { GET, PUT } from "../../support/proxy_rig.ts";
import type { FickleBackend } from "./fickle_backend.ts";
import type { FickleNetwork } from "./fickle_network.ts";
import { areBalanced, nameAt, resolvedName, routingHeader } from "./hosts.ts";
import type { Scene } from "./scene.ts";

/** A name is asked for again after so long, and until then its old addresses are the backends. */
const NAME_MS = 30_000 + 1_000;

/** The longest ejection, a probe that nobody answers, a lease, and a call that is answered: then everybody is back. */
const BACK_MS = 30_000 + 1_000 + 1_000 + 2_000;
const LOOK_EVERY_MS = 500;

/** Calls of each round, so that every routing has a reason to come to each host. */
const CALLS_IN_ROUND = 6;

/** Everybody is well from now on; returns the hosts that calls can go to. */
export async function heal(
  { rig }: Scene,
  { backend, network }: { backend: FickleBackend; network: FickleNetwork },
): Promise<readonly string[]> {
  backend.heal();
  const named = network.heal();
  await rig.settle();
  await backend.answerAll();
  return named;
}

/** No host stays out that answers: in bounded time from now on each of these is healthy, and is given calls. */
export async function expectAllBack(scene: Scene, addresses: readonly string[]): Promise<void> {
  const { rig, hosts } = scene;
  if (!areBalanced(hosts)) return;
  if (resolvedName(hosts) !== undefined) await rig.advance(NAME_MS);
  const untilMs = rig.clock.now() + BACK_MS;
  const caller = await rig.caller();
  const before = new Map(addresses.map((host) => [host, rig.requestsAt(host).length]));
  const away = () => addresses.filter((host) => rig.requestsAt(host).length === before.get(host));
  const ill = () =>
    rig.proxy.inspection.backends().filter(({ standing }) => standing !== "healthy")
      .map(({ counters: { name }, standing }) => `${name} is ${standing}`);
  for (let round = 0; away().length + ill().length > 0 && rig.clock.now() < untilMs; round++) {
    if (round > 0) await rig.advance(LOOK_EVERY_MS);
    for (let n = 0; n < CALLS_IN_ROUND; n++) {
      const host = addresses[n % addresses.length]!;
      const header = routingHeader(hosts);
      const metadata = header === undefined ? [] : [[header, nameAt(host, hosts)] as const];
      caller.call(n % 2 === 0 ? GET : PUT, `back? ${round} ${n}`, { metadata });
      await rig.settle();
    }
  }
  assertEquals(ill(), [], "hosts that are left out though they answer");
  assertEquals(away(), [], "hosts that are never given calls");
  const names = rig.proxy.inspection.backends().map(({ counters: { name } }) => name);
  assertEquals(names, addresses.map((host) => nameAt(host, hosts)), "the backends");
}
