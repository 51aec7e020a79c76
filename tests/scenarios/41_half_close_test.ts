/**
 * Scenario 41: nobody waits for a half-close that does not come, and what has no message is passed on as it is.
 *
 * How long a call that might collapse is waited for stands in `tests/proxy/call_clock_test.ts`, to the millisecond;
 * half-closes of every shape in `tests/proxy/call_passing_test.ts`; reflection by a stock client in `tests/interop`.
 * Here: conversations on real sockets, and what a request without any message meets.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { besideHello, STORED_LONG } from "../support/beside.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { block, concat, continuation, data, headers } from "../support/frames.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const CHAT = "/test.Service/Chat";
const REFLECTION = ["v1", "v1alpha"].map((version) =>
  `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
);

/** Alarms come this much late at most, and calls that might collapse pass after 10 ms. */
const PASSES_MS = 14;

/** The row's limit. */
const REPLY_MS = 200;

for (const path of [CHAT, LIST, ...REFLECTION]) {
  Deno.test(`Scenario 41(a): a conversation on ${path} goes on before any half-close, and pairs are apart`, async () => {
    await withSockets(async (rig) => {
      const { backend, local } = rig;
      const caller = await rig.caller();
      const calls = [1, 2].map(() => caller.call(path, "hello", { ends: false }));
      await until(
        () => backend.requests.length === 2 && backend.requests.every(saidHello),
        "both at the backend",
      );
      backend.requests.forEach((request, i) => request.begins([`answer ${i}`]));
      await until(() => calls.every(({ messages }) => messages.length === 1), "the answers");
      for (const word of ["again", "and again"]) {
        for (const call of calls) call.sends(word);
        await until(() => backend.requests.every(({ messages }) => messages.at(-1) === word), word);
        for (const request of backend.requests) request.sends(`re:${word}`);
        await until(() => calls.every(({ messages }) => messages.at(-1) === `re:${word}`), word);
      }
      assert(backend.requests.every(({ ended }) => !ended), "nobody has half-closed");
      for (const call of calls) call.ends();
      await backend.has(2);
      for (const request of backend.requests) request.ends();
      await ended(...calls);
      const answers = calls.map(({ messages }) => messages[0]).sort();
      assertEquals(answers, ["answer 0", "answer 1"]);
      for (const call of calls) call.expects(0, call.messages[0]!, "re:again", "re:and again");
      assertEquals(local.outcomes.passed, 2);
    });
  });
}

Deno.test("Scenario 41(a): a caller that asks and keeps its side open is answered within 200 ms", async () => {
  for (const [path, limitMs] of [[CHAT, 0], [REFLECTION[0]!, 0], [LIST, PASSES_MS]] as const) {
    assert(limitMs < REPLY_MS);
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const calls = [1, 2].map(() => caller.call(path, "hello", { ends: false }));
      await rig.advance(limitMs);
      rig.expectsRequests(2);
      rig.requests.forEach((request, i) => request.begins([`${i}`]));
      await rig.settle();
      assertEquals(calls.flatMap(({ messages }) => messages).sort(), ["0", "1"]);
      for (const call of calls) call.cancels();
    });
  }
});

Deno.test("Scenario 41(a): reflection lists services and describes one to a caller that never half-closes", async () => {
  await using pair = await besideHello();
  await using caller = await DialledCaller.at(pair.local.port);
  for (const path of REFLECTION) {
    const calls = [1, 2].map(() => caller.call(path, listServices(), { ends: false }));
    await until(() => calls.every(({ messages }) => messages.length === 1), "the list of services");
    for (const { messages } of calls) assert(messages[0]!.includes("hello.v1.Hello"));
    for (const call of calls) call.sends(fileContaining("hello.v1.Hello"));
    await until(() => calls.every(({ messages }) => messages.length === 2), "the file");
    for (const { messages } of calls) assert(messages[1]!.includes("GetGreeting"));
    for (const call of calls) call.ends();
    await ended(...calls);
    for (const call of calls) assertEquals(call.status, 0);
  }
});

Deno.test("Scenario 41(a): a backend that ends first ends the call for a caller that never half-closes", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    for (const path of [CHAT, LIST]) {
      const call = caller.call(path, "hello", { ends: false });
      await until(() => backend.open.some(saidHello), "the call at the backend");
      backend.open[0]!.replies(["bye"], { status: 9 });
      await until(() => call.status !== undefined, "the status");
      call.expects(9, "bye");
      call.sends("too late"); // what was on its way harms nothing
      call.ends();
    }
    const next = caller.call(GET, "1");
    await until(() => backend.requests.at(-1)!.path === GET, "the next call");
    backend.requests.at(-1)!.replies(["fine"]);
    await ended(next);
    next.expects(0, "fine");
    assertEquals(caller.seen("GOAWAY"), []);
  });
});

Deno.test("Scenario 41(a): a caller that opens, says nothing and gives up is not left at the backend", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const early = caller.call(LIST, undefined, { ends: false });
    await rig.advance(5);
    early.cancels(); // before it passed
    await rig.advance(100);
    rig.expectsRequests(0);
    const late = caller.call(LIST, undefined, {
      ends: false,
      metadata: [["grpc-timeout", "50m"]],
    });
    await rig.advance(PASSES_MS);
    rig.expectsRequests(1);
    await rig.advance(50);
    assertEquals(late.status, 4);
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    const { rejected, passed } = rig.outcomes;
    assertEquals({ rejected, passed }, { rejected: 1, passed: 1 });
  });
});

/** A request without a message, in each shape that it can have. */
const EMPTY: Readonly<Record<string, (caller: CallerEnd, path: string) => CallerCall>> = {
  "HEADERS that end the stream": (caller, path) => caller.call(path),
  "HEADERS, then an empty DATA frame that ends it": (caller, path) => {
    const call = caller.call(path, undefined, { ends: false });
    call.ends();
    return call;
  },
  "HEADERS, then a padded DATA frame without bytes that ends it": (caller, path) =>
    caller.begins((id) => [
      headers(id, requestHead(path)),
      data(id, "", { endStream: true, padding: 7 }),
    ]),
  "HEADERS, empty DATA, then trailers": (caller, path) =>
    caller.begins((id) => [
      headers(id, requestHead(path)),
      data(id, ""),
      headers(id, [["x-trailer", "1"]], { endStream: true }),
    ]),
  "HEADERS that end the stream and go on in CONTINUATION": (caller, path) =>
    caller.begins((id) => {
      const bytes = block(requestHead(path));
      return [
        headers(id, bytes.subarray(0, 20), { endStream: true, endHeaders: false }),
        continuation(id, bytes.subarray(20)),
      ];
    }),
};

for (const [shape, begin] of Object.entries(EMPTY)) {
  Deno.test(`Scenario 41(b): an empty request of ${shape} has its half-close and its status at once`, async () => {
    await withSockets({ variables: STORED_LONG }, async (rig) => {
      const { backend, local } = rig;
      backend.onRequest = (request) => request.replies([]);
      const caller = await rig.caller();
      const paths = [CHAT, LIST, GET, PUT, ...REFLECTION, "/grpc.health.v1.Health/Check"];
      const calls = paths.flatMap((path) => [begin(caller, path), begin(caller, path)]);
      await ended(...calls);
      for (const call of calls) {
        call.expects(0);
        assertEquals([call.reply.text, call.reply.endedBy], ["", "HEADERS"]);
      }
      assertEquals(backend.requests.length, calls.length); // none of them was shared
      for (const { messages, ended } of backend.requests) {
        assertEquals([messages, ended], [[], true]);
      }
      assertEquals(local.outcomes.passed, calls.length);
    });
  });

  Deno.test(`Scenario 41(c): a request of ${shape} is not shared with one that has a message, nor kept for it`, async () => {
    await withSockets({ variables: STORED_LONG }, async (rig) => {
      const { backend } = rig;
      backend.onRequest = (request) => {
        if (request.messages.length === 0) request.fails(13, [["grpc-message", "no message"]]);
        else request.replies([`${request.messages[0]!.length} bytes`]);
      };
      const caller = await rig.caller();
      for (let round = 0; round < 2; round++) {
        const [before, none, after] = [
          caller.call(GET, ""),
          begin(caller, GET),
          caller.call(GET, "1"),
        ];
        await ended(before, none, after);
        before.expects(0, "0 bytes");
        none.expects(13);
        assertEquals(none.grpcMessage, "no message");
        after.expects(0, "1 bytes");
      }
      assertEquals(backend.requests.length, 4); // those with a message were stored
    });
  });
}

Deno.test("Scenario 41(c): a status that comes at once reaches a caller whose HEADERS ended the stream, in one HEADERS", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const path of [GET, PUT]) {
      const call = caller.call(path);
      await rig.settle();
      assertEquals(rig.request(-1).seen.endedBy, "HEADERS"); // no DATA was made up for it
      rig.request(-1).fails(12, [["grpc-message", "never heard of it"]]);
      await rig.settle();
      assertEquals(call.reply.blocks.length, 1);
      assertEquals([call.status, valueOf(call.trailers, "grpc-message")], [
        12,
        "never heard of it",
      ]);
    }
  });
});

Deno.test("Scenario 41(c): a request that is cut off in its message is passed on as it is, and ends", async () => {
  const message = framed("0123456789");
  const cuts = [message.subarray(0, 3), message.subarray(0, 5), message.subarray(0, 9)];
  const glued = concat(message, message.subarray(0, 4));
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const bytes of [...cuts, glued]) {
      const call = caller.begins((id) => [
        headers(id, requestHead("/test.Service/GetCut")),
        data(id, bytes, { endStream: true }),
      ]);
      await rig.settle();
      assertEquals(rig.request(-1).seen.text.length, bytes.length);
      assertEquals(rig.request(-1).ended, true);
      rig.request(-1).fails(13);
      await rig.settle();
      call.expects(13);
    }
    assertEquals(rig.outcomes, { passed: 4 });
  });
});

function saidHello({ messages }: { messages: readonly string[] }): boolean {
  return messages[0] === "hello";
}

/** ServerReflectionRequest with list_services "". */
function listServices(): Uint8Array {
  return Uint8Array.of(0x3a, 0);
}

/** ServerReflectionRequest with file_containing_symbol. */
function fileContaining(symbol: string): Uint8Array {
  return Uint8Array.of(0x22, symbol.length, ...new TextEncoder().encode(symbol));
}
