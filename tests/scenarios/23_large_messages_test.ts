/**
 * Large messages. Requests beyond what is collapsed, messages cut in odd places and a reply of 2 MB stand, for the
 * caller's side, in `tests/proxy/call_test.ts` and `tests/proxy/shared_call_test.ts`; here are the field's sizes on real
 * sockets and with a stock client, and the reply's cuts. The row wants one call for leader and follower of 8 MiB each;
 * the contract collapses no request above COLLAPSER_MAX_MESSAGE_BYTES (4 MiB): those two are calls of their own.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { latin1 } from "../../lib/wire/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import { MIRROR_PATHS, startMirror } from "../interop/mirror.ts";
import { show } from "../interop/seen.ts";
import { beside } from "../support/beside.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { answering, asking, Credit, sendAsCredited } from "../support/credit.ts";
import { concat, data, headers, pattern, RESPONSE, TRAILERS } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** A write of another service, which leaves this one's results stored. */
const OTHER_PUT = "/test.Other/PutItem";

const MEBIBYTE = 2 ** 20;
const LARGE_BYTES = 8 * MEBIBYTE;
const HUGE_BYTES = 12 * MEBIBYTE;

/** What is collapsed at most when nothing else is set. */
const COLLAPSED_BYTES = 4 * MEBIBYTE;

Deno.test("Scenario 23(a): a request and a reply of 8 MiB come through whole for two equal callers, each with a call of its own", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const question = framed(pattern(LARGE_BYTES));
    const reply = framed(pattern(LARGE_BYTES).reverse());
    const one = await rig.caller();
    const two = await rig.caller();
    let credit: Credit | undefined; // that of the backend's one connection
    backend.onRequest = async (request) => {
      credit ??= new Credit(request.backend);
      request.begins();
      await sendAsCredited(answering(request), [reply], credit);
      request.ends();
    };
    const calls = await Promise.all([one, two].map(async (caller) => {
      const call = caller.call(GET, undefined, { ends: false });
      await sendAsCredited(asking(call, caller), [question]);
      call.ends();
      return call;
    }));
    await until(() => calls.every(({ status }) => status !== undefined), "both replies");
    for (const call of calls) {
      assertEquals(call.status, 0);
      assert(call.reply.text === textOf(reply), "the reply's bytes are the same");
    }
    assertEquals(backend.requests.length, 2);
    for (const { seen } of backend.requests) {
      assert(seen.text === textOf(question), "the request's bytes are the same");
    }
    assertEquals([local.outcomes.passed, backend.ends.length], [2, 1]);
  });
});

Deno.test("Scenario 23(a): a small question's reply of 8 MiB is one call for leader and follower, and is not kept", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    const { local } = rig;
    const one = await rig.caller();
    const two = await rig.caller();
    const reply = framed(pattern(LARGE_BYTES));
    const leader = one.call(GET, "1");
    const request = await rig.request(0);
    const follower = two.call(GET, "1");
    await rig.waits(2);
    request.begins();
    await sendAsCredited(answering(request), [reply]);
    request.ends();
    for (const call of [leader, follower]) {
      await until(() => call.status !== undefined, "the end");
      assertEquals(call.status, 0);
      assert(call.reply.text === textOf(reply), "the bytes are the same");
    }
    const again = two.call(GET, "1");
    (await rig.request(1)).replies(["small"]);
    await until(() => again.status !== undefined, "the next one's end");
    again.expects(0, "small");
    const { joined, led, hit } = local.outcomes;
    assertEquals({ joined, led, hit }, { joined: 1, led: 2, hit: 0 });
  });
});

Deno.test("Scenario 23(a): grpc-js sends 8 MiB and has them back, read and write alike", async () => {
  const mirror = await startMirror();
  await using local = await beside(mirror);
  await using client = new GrpcJs(local.port);
  const messages = [pattern(LARGE_BYTES)];
  const plans = [MIRROR_PATHS.getBack, MIRROR_PATHS.postBack].map((path) =>
    ({ name: "8 MiB", kind: "unary", path, messages }) as const
  );
  for (const seen of await Promise.all(plans.map((plan) => client.see(plan)))) {
    assertEquals([seen.code, seen.messages], [0, messages.map(show)]);
  }
  assertEquals(mirror.total, 2);
});

Deno.test("Scenario 23(b): four replies of 12 MiB at once on one connection, and a small one among them, come through whole", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const replies = [0, 1, 2, 3].map((i) => framed(pattern(HUGE_BYTES).fill(i, 0, 1_000)));
    const calls: CallerCall[] = [];
    for (const [i] of replies.entries()) {
      calls.push(caller.call(i % 2 === 0 ? GET : PUT, `${i}`));
      await rig.request(i);
    }
    const credit = new Credit(backend.ends[0]!);
    const answer = async (i: number, reply: Uint8Array) => {
      const request = backend.requests[i]!;
      request.begins();
      await sendAsCredited(answering(request), [reply], credit);
      request.ends();
    };
    const sending = replies.map((reply, i) => answer(i, reply));
    await until(() => calls.every(({ reply }) => reply.text.length > 0), "a beginning of each");
    const small = caller.call(GET, "small");
    await rig.request(4);
    await Promise.all([...sending, answer(4, framed("small"))]);
    await until(() => [...calls, small].every(({ status }) => status !== undefined), "all five");
    small.expects(0, "small");
    for (const [i, call] of calls.entries()) {
      assertEquals(call.status, 0);
      assert(call.reply.text === textOf(replies[i]!), `the bytes of reply ${i} are the same`);
    }
    assertEquals([caller.seen("GOAWAY"), backend.ends.length], [[], 1]);
  });
});

Deno.test("Scenario 23(c): a reply's messages are relayed wherever they are cut, shared and kept or passing", async () => {
  const both = concat(framed("first"), framed(""), framed("0123456789"));
  const cuts: Readonly<Record<string, readonly number[]>> = {
    "all in one frame": [],
    "within the first prefix": [3],
    "between a prefix and its message": [5],
    "within the last prefix": [17],
    "with an empty frame between": [12, 12],
    "byte by byte": Array.from({ length: both.length - 1 }, (_, i) => i + 1),
  };
  for (const [name, places] of Object.entries(cuts)) {
    for (const together of [true, false]) {
      await withRig(async (rig) => {
        const caller = await rig.caller();
        const calls = [GET, GET, OTHER_PUT].map((path) => caller.call(path, "1"));
        await rig.settle();
        for (const { id, backend } of rig.requests) {
          const frames = [...places, both.length].map((to, i) =>
            data(id, both.subarray(i === 0 ? 0 : places[i - 1], to))
          );
          const all = [headers(id, RESPONSE), ...frames];
          const end = headers(id, TRAILERS, { endStream: true });
          for (const frame of together ? [concat(...all, end)] : [...all, end]) {
            backend.sends(frame);
            await rig.settle();
          }
        }
        const hit = caller.call(GET, "1");
        await rig.settle();
        for (const call of [...calls, hit]) {
          call.expects(0, "first", "", "0123456789");
          assertEquals(call.reply.text, latin1(both, 0, both.length), name);
        }
        rig.expectsRequests(2);
      });
    }
  }
});

Deno.test("Scenario 23: a prefix that promises 4 GiB passes at once, and costs no more than what comes", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const prefix = Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff);
    const call = caller.call(GET, undefined, { ends: false });
    caller.sends(data(call.id, concat(prefix, new Uint8Array(100))));
    await rig.settle();
    rig.expectsRequests(1);
    assertEquals(rig.request(0).seen.text.length, 105);
    const asked = caller.call(PUT, "1");
    await rig.settle();
    rig.backend.sends(
      headers(rig.request(1).id, RESPONSE),
      data(rig.request(1).id, concat(prefix, new Uint8Array(100))),
    );
    await rig.settle();
    assertEquals(asked.reply.text.length, 105);
    rig.request(0).fails(8, [["grpc-message", "too large"]]);
    rig.backend.sends(headers(rig.request(1).id, TRAILERS, { endStream: true }));
    await rig.settle();
    assertEquals([call.status, call.grpcMessage, asked.status], [8, "too large", 0]);
  });
});

Deno.test("Scenario 23: a request of exactly 4 MiB is collapsed, one of a byte more passes", async () => {
  for (const [more, collapses] of [[0, true], [1, false]] as const) {
    await withRig(async (rig) => {
      rig.backend.grants(2 ** 30);
      const caller = await rig.caller();
      const question = pattern(COLLAPSED_BYTES + more);
      const calls = [caller.call(GET, question), caller.call(GET, question)];
      await rig.settle();
      rig.expectsRequests(collapses ? 1 : 2);
      for (const request of rig.requests) {
        assert(request.messages[0] === textOf(question), "the bytes are the same");
        request.replies(["one"]);
      }
      await rig.settle();
      for (const call of calls) call.expects(0, "one");
    });
  }
});

function textOf(bytes: Uint8Array): string {
  return latin1(bytes, 0, bytes.length);
}
