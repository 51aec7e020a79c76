/**
 * Scenario 36: no answer crosses from one identity to another, and what cannot be shared does not queue.
 *
 * The windows of 50 and 100 ms are tested to the millisecond in `tests/proxy/call_test.ts`, certificates as
 * identities in `tests/proxy/identity_test.ts` and `tests/sidecar/tls_test.ts`, the parts of the key in
 * `tests/collapse/key_test.ts`, grpc-js callers in `tests/interop/sharing_test.ts`. Here: whole sidecars, sockets.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { BackendRequest } from "../support/backend_end.ts";
import { STORED_LONG } from "../support/beside.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { until } from "../support/waiting.ts";
import { allEnded, callerAt, ListeningBackend } from "./support_d.ts";

const LIST = "/test.Service/ListItems";

/** Each of them is somebody else to some backend. */
const IDENTITIES: readonly Pairs[] = [
  [["authorization", "T1"]],
  [["authorization", "T2"]],
  [],
  [["authorization", ""]],
  [["authorization", "t1"]],
  [["authorization", "T1"], ["authorization", "T2"]],
  [["authorization", "T2"], ["authorization", "T1"]],
  [["authorization", "T1,T2"]],
  [["proxy-authorization", "T1"]],
  [["cookie", "T1"]],
  [["cookie", "T1"], ["authorization", "T1"]],
  [["x-api-key", "T1"]],
  [["x-token-bin", "VDE"]],
  [["x-token-bin", "VDI"]],
  [["x-forwarded-for", "192.0.2.1"]],
  [["x-forwarded-client-cert", "Hash=1"]],
  [["baggage", "user=1"]],
  // Names that look like those of traces and are none of them.
  [["x-request-id-token", "T1"]],
  [["x-b3", "T1"]],
  [["x-datadog", "T1"]],
  [["sw8-user", "T1"]],
];

Deno.test("Scenario 36(a): each identity has its own answer and one backend call, in flight and stored", async () => {
  await using backend = new ListeningBackend();
  await using local = await LocalSidecar.before(backend, STORED_LONG);
  await using first = await callerAt(local.port);
  await using second = await callerAt(local.port);
  const askAll = () =>
    IDENTITIES.flatMap((metadata) => [
      first.call(GET, "same", { metadata }),
      second.call(GET, "same", { metadata }),
    ]);
  const calls = askAll();
  await backend.saw(IDENTITIES.length); // with none of them answered: nobody waits for another's
  await until(() => local.sidecar.proxy.map.waiting === calls.length, "everybody on a flight");
  for (const request of backend.requests.toReversed()) request.replies([identityOf(request)]);
  await allEnded(calls);
  expectOwn(calls);
  const repeats = askAll().reverse();
  await allEnded(repeats);
  expectOwn(repeats.reverse());
  assertEquals(backend.requests.length, IDENTITIES.length);
  const { led, joined, hit } = local.outcomes;
  const count = IDENTITIES.length;
  assertEquals({ led, joined, hit }, { led: count, joined: count, hit: 2 * count });
});

Deno.test("Scenario 36(a): nothing crosses in the 100 ms after, nor at the moment the result leaves", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.replies([identityOf(request)]);
    const caller = await rig.caller();
    const ask = async (token: string) => {
      const metadata = [["authorization", token]] as const;
      const call = caller.call(GET, "1", { metadata });
      await rig.settle();
      call.expects(0, `authorization=${token}`);
    };
    await ask("T1");
    await rig.advance(50);
    await ask("T2");
    await ask("T1");
    rig.expectsRequests(2);
    await rig.advance(50); // that of T1 has left, that of T2 has not
    await ask("T2");
    await ask("T1");
    rig.expectsRequests(3);
    await rig.advance(99);
    await ask("T1");
    await ask("T2");
    rig.expectsRequests(4);
  });
});

Deno.test("Scenario 36(a): an answer that denies or fails reaches its own identity alone", async () => {
  await using backend = new ListeningBackend();
  await using local = await LocalSidecar.before(backend, {
    ...STORED_LONG,
    COLLAPSER_CACHE_ERRORS: "true",
  });
  await using caller = await callerAt(local.port);
  const tokens = ["good", "bad"].map((token): Pairs => [["authorization", token]]);
  const ask = () => tokens.map((metadata) => caller.call(GET, "1", { metadata }));
  const calls = [...ask(), ...ask()];
  await backend.saw(2);
  for (const request of backend.requests) {
    if (identityOf(request).endsWith("bad")) request.fails(7, [["grpc-message", "not you"]]);
    else request.replies(["yes"]);
  }
  await allEnded(calls);
  const repeats = ask();
  await allEnded(repeats);
  [...calls, ...repeats].forEach((call, i) => i % 2 ? call.expects(7) : call.expects(0, "yes"));
  assertEquals(backend.requests.length, 2);
});

Deno.test("Scenario 36(a): a leader who leaves hands its flight to its own identity alone", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const ask = (token: string) => caller.call(LIST, "1", { metadata: [["authorization", token]] });
    const [leader, stranger, follower] = [ask("T1"), ask("T2"), ask("T1")];
    await rig.settle();
    rig.request(0).begins(["1"]);
    leader.cancels();
    await rig.settle();
    follower.cancels(); // and this was the last of them
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    assertEquals(rig.request(1).seen.reset, undefined);
    rig.request(1).replies(["T2's"]);
    await rig.settle();
    stranger.expects(0, "T2's");
  });
});

Deno.test("Scenario 36(a): an authority is an identity too, with keys named or not", async () => {
  const authorities = ["one.test", "two.test", "one.test:50052"];
  for (const keyHeaders of [undefined, ["tenant"]]) {
    await withRig({ keyHeaders }, async (rig) => {
      const caller = await rig.caller();
      const calls = authorities.map((authority) =>
        caller.call(GET, "1", {
          head: [
            [":method", "POST"],
            [":scheme", "http"],
            [":path", GET],
            [":authority", authority],
            ["content-type", "application/grpc"],
            ["te", "trailers"],
          ],
        })
      );
      await rig.settle();
      rig.expectsRequests(3);
      rig.requests.forEach((request, i) => request.replies([authorities[i]!]));
      await rig.settle();
      calls.forEach((call, i) => call.expects(0, authorities[i]!));
    });
  }
});

for (const connections of [1, 10]) {
  Deno.test(`Scenario 36(b): ten identities on ${connections} connections are at the backend at once`, async () => {
    await using backend = new ListeningBackend();
    await using local = await LocalSidecar.before(backend);
    await using crowd = await Crowd.of(connections, local.port);
    const calls = Array.from(
      { length: 10 },
      (_, i) => crowd.caller(i).call(GET, "same", { metadata: [["authorization", `T${i}`]] }),
    );
    await backend.saw(10); // none has been answered
    for (const request of backend.requests) request.replies([identityOf(request)]);
    await allEnded(calls);
    calls.forEach((call, i) => call.expects(0, `authorization=T${i}`));
    assertEquals(backend.requests.length, 10);
  });
}

Deno.test("Scenario 36(c): ten calls of what does not collapse are at the backend at once, each with its answer", async () => {
  await using backend = new ListeningBackend();
  await using local = await LocalSidecar.before(backend, STORED_LONG);
  await using crowd = await Crowd.of(2, local.port);
  const calls = Array.from({ length: 10 }, (_, i) => crowd.caller(i).call(PUT, "same"));
  await backend.saw(10);
  backend.requests.forEach((request, i) => request.replies([`${i}`]));
  await allEnded(calls);
  const answers = new Set(calls.flatMap(({ messages }) => messages));
  assertEquals([answers.size, backend.requests.length], [10, 10]);
  const again = crowd.caller(0).call(PUT, "same");
  await backend.saw(11); // nothing of it is kept either
  backend.requests[10]!.replies(["10"]);
  await allEnded([again]);
  again.expects(0, "10");
});

Deno.test("Scenario 36(c): what a backend calls private does not queue: all who wait go on at once", async () => {
  await using backend = new ListeningBackend();
  await using local = await LocalSidecar.before(backend, STORED_LONG);
  await using caller = await callerAt(local.port);
  const calls = Array.from({ length: 10 }, () => caller.call(GET, "same"));
  await until(() => local.sidecar.proxy.map.waiting === 10, "ten on one flight");
  await backend.saw(1);
  const headers = [["cache-control", "private"]] as const;
  backend.requests[0]!.begins(["0"], { headers });
  await backend.saw(10); // the other nine, while the first has not ended
  backend.requests[0]!.ends();
  backend.requests.slice(1).forEach((request, i) => request.replies([`${i + 1}`], { headers }));
  await allEnded(calls);
  assertEquals(new Set(calls.flatMap(({ messages }) => messages)).size, 10);
  for (const call of calls) call.expects(0, call.messages[0]!);
  const repeats = [caller.call(GET, "same"), caller.call(GET, "same")];
  await backend.saw(12); // at once too, now that it is known
  for (const request of backend.open) request.replies(["later"], { headers });
  await allEnded(repeats);
});

/** Callers that leave together. */
class Crowd implements AsyncDisposable {
  readonly #callers: readonly (CallerEnd & AsyncDisposable)[];

  private constructor(callers: readonly (CallerEnd & AsyncDisposable)[]) {
    this.#callers = callers;
  }

  static async of(connections: number, port: number): Promise<Crowd> {
    return new Crowd(
      await Promise.all(Array.from({ length: connections }, () => callerAt(port))),
    );
  }

  /** Any number has a caller. */
  caller(number: number): CallerEnd {
    return this.#callers[number % this.#callers.length]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller[Symbol.asyncDispose]()));
  }
}

/** What a backend reads of a request's metadata. */
function identityOf({ fields }: BackendRequest): string {
  const from = fields.findIndex(([name]) => name === "content-type") + 1;
  return textOf(fields.slice(from));
}

function textOf(fields: Pairs): string {
  return fields.map(([name, value]) => `${name}=${value}`).join(" ");
}

/** Two calls for each identity, in order. */
function expectOwn(calls: readonly CallerCall[]): void {
  calls.forEach((call, i) => call.expects(0, textOf(IDENTITIES[i >> 1]!)));
}
