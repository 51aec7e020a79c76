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
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, type SocketRig, withSockets } from "../support/socket_rig.ts";

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
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend, local } = rig;
    const first = await rig.caller();
    const second = await rig.caller();
    const askAll = () =>
      IDENTITIES.flatMap((metadata) => [
        first.call(GET, "same", { metadata }),
        second.call(GET, "same", { metadata }),
      ]);
    const calls = askAll();
    await backend.has(IDENTITIES.length); // with none of them answered: nobody waits for another's
    await rig.waits(calls.length);
    for (const request of backend.requests.toReversed()) request.replies([identityOf(request)]);
    await ended(...calls);
    expectOwn(calls);
    const repeats = askAll().reverse();
    await ended(...repeats);
    expectOwn(repeats.reverse());
    assertEquals(backend.requests.length, IDENTITIES.length);
    const { led, joined, hit } = local.outcomes;
    const count = IDENTITIES.length;
    assertEquals({ led, joined, hit }, { led: count, joined: count, hit: 2 * count });
  });
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
  const variables = { ...STORED_LONG, COLLAPSER_CACHE_ERRORS: "true" };
  await withSockets({ variables }, async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const tokens = ["good", "bad"].map((token): Pairs => [["authorization", token]]);
    const ask = () => tokens.map((metadata) => caller.call(GET, "1", { metadata }));
    const calls = [...ask(), ...ask()];
    await backend.has(2);
    for (const request of backend.requests) {
      if (identityOf(request).endsWith("bad")) request.fails(7, [["grpc-message", "not you"]]);
      else request.replies(["yes"]);
    }
    await ended(...calls);
    const repeats = ask();
    await ended(...repeats);
    [...calls, ...repeats].forEach((call, i) => i % 2 ? call.expects(7) : call.expects(0, "yes"));
    assertEquals(backend.requests.length, 2);
  });
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
    await withSockets(async (rig) => {
      const { backend } = rig;
      const crowd = await crowdOf(connections, rig);
      const calls = Array.from(
        { length: 10 },
        (_, i) =>
          crowd[i % connections]!.call(GET, "same", { metadata: [["authorization", `T${i}`]] }),
      );
      await backend.has(10); // none has been answered
      for (const request of backend.requests) request.replies([identityOf(request)]);
      await ended(...calls);
      calls.forEach((call, i) => call.expects(0, `authorization=T${i}`));
      assertEquals(backend.requests.length, 10);
    });
  });
}

Deno.test("Scenario 36(c): ten calls of what does not collapse are at the backend at once, each with its answer", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    const crowd = await crowdOf(2, rig);
    const calls = Array.from({ length: 10 }, (_, i) => crowd[i % 2]!.call(PUT, "same"));
    await backend.has(10);
    backend.requests.forEach((request, i) => request.replies([`${i}`]));
    await ended(...calls);
    const answers = new Set(calls.flatMap(({ messages }) => messages));
    assertEquals([answers.size, backend.requests.length], [10, 10]);
    const again = crowd[0]!.call(PUT, "same");
    await backend.has(11); // nothing of it is kept either
    backend.requests[10]!.replies(["10"]);
    await ended(again);
    again.expects(0, "10");
  });
});

Deno.test("Scenario 36(c): what a backend calls private does not queue: all who wait go on at once", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const calls = Array.from({ length: 10 }, () => caller.call(GET, "same"));
    await rig.waits(10);
    await backend.has(1);
    const headers = [["cache-control", "private"]] as const;
    backend.requests[0]!.begins(["0"], { headers });
    await backend.has(10); // the other nine, while the first has not ended
    backend.requests[0]!.ends();
    backend.requests.slice(1).forEach((request, i) => request.replies([`${i + 1}`], { headers }));
    await ended(...calls);
    assertEquals(new Set(calls.flatMap(({ messages }) => messages)).size, 10);
    for (const call of calls) call.expects(0, call.messages[0]!);
    const repeats = [caller.call(GET, "same"), caller.call(GET, "same")];
    await backend.has(12); // at once too, now that it is known
    for (const request of backend.open) request.replies(["later"], { headers });
    await ended(...repeats);
  });
});

/** As many callers, each on a connection of its own. */
function crowdOf(connections: number, rig: SocketRig): Promise<CallerEnd[]> {
  return Promise.all(Array.from({ length: connections }, () => rig.caller()));
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
