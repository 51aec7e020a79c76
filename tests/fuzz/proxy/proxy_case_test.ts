/** Proof that a case notices what it is there for: each fault is planted in the proxy, and found. */

import { assertExists, assertMatch } from "@std/assert";
import { OutlierDetection } from "../../../lib/balance/outlier_detection.ts";
import { CallerContexts } from "../../../lib/downstream/caller_contexts.ts";
import { CallerSession } from "../../../lib/downstream/caller_session.ts";
import { Bulkhead } from "../../../lib/upstream/bulkhead.ts";
import { Exchange } from "../../../lib/upstream/exchange.ts";
import { UpstreamSession } from "../../../lib/upstream/upstream_session.ts";
import { ERROR_CODE } from "../../../lib/wire/mod.ts";
import { play } from "../run.ts";
import { type Planted, ProxyCase } from "./proxy_case.ts";

const SEED = 1;

/** Enough to meet a planted fault: the rarest shows in one case of a hundred, the others in one of ten. */
const PLANTED_CASES = 400;

interface Plant {
  /** What the proxy does. */
  readonly name: string;
  /** What must be said of it. */
  readonly words: RegExp;
  readonly planted?: Planted;
  /** Puts the fault into the code itself; returns how to take it out again. */
  readonly plant?: () => () => void;
}

const SHARDS: Planted["hosts"] = {
  addresses: ["a", "b"],
  kind: "shards",
  routing: { by: "header", name: "x-shard" },
  isNamed: false,
};

const PLANTS: readonly Plant[] = [
  {
    name: "gives one caller's answer to another",
    words: / got /,
    planted: { lies: { codec: { digest: () => "same", latin1: () => "same" } } },
  },
  {
    name: "gives an answer to callers of another identity",
    words: /got what c/,
    plant: () =>
      replace(CallerContexts.prototype, "of", (of) =>
        function (this: CallerContexts) {
          return of.call(this, "");
        }),
  },
  {
    name: "keeps the place of a call that its backend has reset",
    words: /calls left at/,
    planted: { options: { backendMaxConcurrent: 1_024, backendAdaptiveConcurrency: false } },
    plant: () =>
      replace(Bulkhead.prototype, "leave", (leave) =>
        function (this: Bulkhead, exchange) {
          const isReset = exchange.reply.failure?.kind === "backendReset";
          return isReset ? false : leave.call(this, exchange);
        }),
  },
  {
    name: "does not tell who waits that the connection was lost",
    words: /has no end|bytes are held/,
    plant: () =>
      replace(Exchange.prototype, "tell", (tell) =>
        function (this: Exchange, ...news) {
          if (this.reply.failure?.kind !== "connectionLost") tell.apply(this, news);
        }),
  },
  {
    name: "lets a backend work for nobody",
    words: /open for nobody|left open|may be|is left to request/,
    plant: () =>
      replace(
        UpstreamSession.prototype,
        "letGo",
        (letGo) =>
          function (this: UpstreamSession, stream) {
            if (stream.receivedBytes > 0) letGo.call(this, stream);
          },
      ),
  },
  {
    name: "sends more calls to a backend than it may",
    words: / calls at /,
    planted: { options: { backendMaxConcurrent: 1 } },
    plant: () => replace(Bulkhead.prototype, "admits", () => () => true),
  },
  {
    name: "sends more calls of a method to a backend than the policy allows",
    words: /calls of \/test.Service\/.* are at/,
    planted: { options: { policies: [{ service: "", method: "", maxConcurrent: 1 }] } },
    plant: () => replace(Bulkhead.prototype, "admitsMethod", () => () => true),
  },
  {
    name: "leaves a host out for good that does not say how it is",
    words: /left out though they answer/,
    planted: { hosts: SHARDS, options: { backendOutlierDetection: true } },
    plant: () =>
      replace(
        OutlierDetection.prototype,
        "recovers",
        (recovers) =>
          function (this: OutlierDetection, host, recovery) {
            if (recovery !== "unknown") recovers.call(this, host, recovery);
          },
      ),
  },
  {
    name: "gives a half-open host no second call when the first one has no answer",
    words: /left out though they answer/,
    planted: { hosts: SHARDS, options: { backendOutlierDetection: true } },
    plant: () => replace(OutlierDetection.prototype, "leaseEnds", () => () => {}),
  },
  {
    name: "sends a call again that an application has looked at",
    words: /looked at it/,
    plant: () =>
      replace(
        UpstreamSession.prototype,
        "reset",
        (reset) =>
          function (this: UpstreamSession, stream, code, fault) {
            const taken = code === ERROR_CODE.internalError ? ERROR_CODE.refusedStream : code;
            reset.call(this, stream, taken, fault);
          },
      ),
  },
  {
    name: "takes shards for replicas",
    words: /the shard of a call/,
    planted: { hosts: SHARDS, lies: { backendKind: "replicas" } },
  },
  {
    name: "counts less than it holds of requests",
    words: /are there|bytes of requests that are held/,
    plant: () =>
      replace(CallerSession.prototype, "held", (held) =>
        function (this: CallerSession, moreBytes) {
          held.call(this, Math.min(moreBytes, 10));
        }),
  },
  {
    name: "counts what it held of requests when they are gone",
    words: /bytes of requests that are held/,
    plant: () =>
      replace(CallerSession.prototype, "held", (held) =>
        function (this: CallerSession, moreBytes) {
          held.call(this, Math.max(moreBytes, -10));
        }),
  },
];

for (const { name, words, planted, plant } of PLANTS) {
  Deno.test(`ProxyCase finds a proxy that ${name}`, async () => {
    const takeOut = plant?.();
    try {
      const run = (draws: ConstructorParameters<typeof ProxyCase>[0]) =>
        new ProxyCase(draws, planted).run();
      const target = { name: "planted", about: "a fault that must be found", run };
      const { finding } = await play(target, { seed: SEED, runs: PLANTED_CASES, shrinkMs: 0 });
      assertExists(finding, "the fault was not found");
      assertMatch(String(finding.error), words);
    } finally {
      takeOut?.();
    }
  });
}

function replace<T, K extends keyof T>(
  of: T,
  name: K,
  by: (original: T[K]) => T[K],
): () => void {
  const original = of[name];
  of[name] = by(original);
  return () => void (of[name] = original);
}
