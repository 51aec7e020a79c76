/**
 * `tax` in front of other people's proxies. What is asserted is that they are measured, never how fast anything is:
 * the machine may be busy.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { TaxOptions } from "../../../lib/measure/mod.ts";
import type { TaxResult } from "../../../lib/measure/tax/result.ts";
import { runTax } from "../../../lib/measure/tax/run_tax.ts";
import { GatedBackend } from "../../support/gated_backend.ts";
import { type PeerName, PeerProxy, peerVersion } from "../../support/peer_proxies.ts";
import { RecordedScreen } from "../recorded_screen.ts";
import { NO_EMBEDDED, shortRun } from "./rig.ts";

const PEERS: readonly PeerName[] = ["envoy", "nginx"];

for (const name of PEERS) {
  const version = peerVersion(name);
  const why = version === undefined ? ` (skipped: there is no ${name} on this machine)` : "";
  Deno.test(`runTax measures a real ${name} with its CPU${why}`, {
    ignore: version === undefined,
  }, async () => {
    await using backend = new GatedBackend({ open: true });
    await using proxy = await PeerProxy.start(name, backend.port);
    const { result, screen } = await tax({
      direct: { name: "direct", address: { host: "127.0.0.1", port: backend.port } },
      proxies: [{ name, address: { host: "127.0.0.1", port: proxy.port }, pid: proxy.pid }],
    });
    const [peer] = result.proxies;
    const made = [result.direct, result.relay, peer!].map(({ callsMade }) => callsMade);
    assertEquals(backend.calls, made.reduce((sum, calls) => sum + calls, 0));
    for (const rate of peer!.rates) assertEquals(rate.failed, 0);
    assertEquals(peer!.saturation?.failed, 0);
    assert(everyNumberIsFinite(result), "a figure is not a number");
    assert(peer!.saturation!.cpu!.totalMs.most > 0, "a hop that costs no CPU");
    assert(peer!.residentBytes! > 2 ** 20, "a process without memory");
    assert(peer!.rates[0]!.bytesPerCall.sent > 20);
    assertEquals(peer!.verdict.advice, "go direct");
    assertStringIncludes(screen.text, name);
    for (const line of screen.text.split("\n")) assert(line.length <= 80, line);
  });
}

async function tax(targets: Pick<TaxOptions, "direct" | "proxies">) {
  const screen = new RecordedScreen();
  const jsonFile = await Deno.makeTempFile();
  try {
    const options = { ...shortRun(), ...targets, jsonFile };
    assertEquals(await runTax(options, { embedded: NO_EMBEDDED, screen }), 0, screen.text);
    assertEquals(screen.complaints, []);
    const result = JSON.parse(await Deno.readTextFile(jsonFile)) as TaxResult;
    return { result, screen };
  } finally {
    await Deno.remove(jsonFile);
  }
}

/** JSON writes what is no number as null, which only stands where a figure may be missing. */
function everyNumberIsFinite({ proxies, direct }: TaxResult): boolean {
  const numbers = [direct, ...proxies].flatMap(({ rates, saturation }) =>
    [...rates, saturation!].flatMap((phase) => [
      phase.perSecond.median,
      phase.meanMs,
      phase.maxMs,
      phase.latencyMs.p50,
      phase.bytesPerCall.sent,
      phase.bytesPerCall.received,
    ])
  );
  const differences = proxies.flatMap(({ added, cost }) => [
    ...added.flatMap(({ ms, split }) => [
      ms.p50?.median,
      ms.p50?.least,
      split?.hopMs,
      split?.processingMs,
      split?.queueingMs,
    ]),
    cost.cpu,
    cost.crossZone,
  ]);
  return [...numbers, ...differences].every(Number.isFinite);
}
