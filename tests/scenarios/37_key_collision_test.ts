/**
 * Scenario 37: what differs in any part is never answered as one, and followers are given all that the leader is.
 *
 * Every part of the key stands in `tests/collapse/key_test.ts`, each against its neighbours; a flight's metadata in
 * `tests/proxy/shared_call_test.ts`. Here: whole sidecars, cold and warm, and the ways in which heads are compressed.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { STORED_LONG } from "../support/beside.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { ascii, block, concat, data, headers, type Pairs } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** Lengths on both sides of where keys become digests, frames and reads end, and strings hash by their length. */
const LENGTHS = [65, 2_043, 2_044, 16_379, 16_384, 70_000];

/** A call to make: a path, a message or none, and metadata. */
interface Question {
  readonly path?: string;
  readonly said?: string | undefined;
  readonly metadata?: Pairs;
}

/** No two of them are the same question. */
const QUESTIONS: readonly Question[] = [
  ...LENGTHS.flatMap((length) => [
    { said: "x".repeat(length - 1) + "a" },
    { said: "x".repeat(length - 1) + "b" },
    { said: "x".repeat(64) + "c" + "x".repeat(length - 65) },
  ]),
  { said: "" },
  { said: undefined },
  { said: "\0" },
  { said: "\0\0" },
  { path: "/a.S/Get", said: "1" },
  { path: "/b.S/Get", said: "1" },
  { path: "/a.S/Get/", said: "1" },
  { path: "/a.S/Get?1", said: "1" },
  { path: "/a.S/GET", said: "1" },
  { said: "1", metadata: [["a", "bc"]] },
  { said: "1", metadata: [["ab", "c"]] },
  { said: "1", metadata: [["a", "b"], ["c", ""]] },
  { said: "1", metadata: [["a", "b"], ["a", "c"]] },
  { said: "1", metadata: [["a", "c"], ["a", "b"]] },
  { said: "1", metadata: [["a", "b,c"]] },
  { said: "1", metadata: [["a", "b, c"]] },
  { said: "1", metadata: [["a", "1:b"]] },
  { said: "1", metadata: [["grpc-encoding", "gzip"]] },
  { said: "1", metadata: [["grpc-encoding", "identity"]] },
  { said: "1", metadata: [["grpc-accept-encoding", "gzip"]] },
  { said: "1", metadata: [["grpc-accept-encoding", "identity"]] },
];

Deno.test("Scenario 37(a): questions that differ anywhere are at the backend each, and each has its own answer", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    for (let round = 0; round < 3; round++) { // the later ones find everything about the head worked out
      const calls = QUESTIONS.map((question) => ask(caller, question));
      const count = QUESTIONS.length * (round + 1);
      await backend.has(count);
      for (const [i, request] of backend.requests.slice(-QUESTIONS.length).entries()) {
        assertEquals(request.path, QUESTIONS[i]!.path ?? GET);
        const { said } = QUESTIONS[i]!;
        assertEquals(request.messages, said === undefined ? [] : [said]);
        request.replies([`${round}.${i}`], { headers: [["cache-control", "max-age=0"]] });
      }
      await ended(...calls);
      calls.forEach((call, i) => call.expects(0, `${round}.${i}`));
      assertEquals(backend.requests.length, count);
    }
  });
});

Deno.test("Scenario 37(a): stored answers are told apart as flights are, and found again", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    backend.onRequest = (request) => request.replies([`${request.id}`]);
    const caller = await rig.caller();
    const other = await rig.caller();
    const first = QUESTIONS.map((question) => ask(caller, question));
    await ended(...first);
    const answers = first.map(({ messages }) => messages[0]!);
    assertEquals(new Set(answers).size, QUESTIONS.length);
    const again = QUESTIONS.map((question) => ask(other, question));
    await ended(...again);
    let notKept = 0;
    QUESTIONS.forEach(({ said, path }, i) => {
      // Without a message it is no question, and that path is none of gRPC's.
      if (said === undefined || path === "/a.S/Get/") notKept++;
      else again[i]!.expects(0, answers[i]!);
    });
    assertEquals(backend.requests.length, QUESTIONS.length + notKept);
  });
});

Deno.test("Scenario 37(a): a message and the same bytes with the compression flag are two questions", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const metadata: Pairs = [["grpc-encoding", "gzip"]];
    const plain = framed("same bytes");
    const flagged = concat(Uint8Array.of(1), plain.subarray(1));
    for (const message of [plain, flagged, plain]) {
      caller.begins((id) => [
        headers(id, [...requestHead(GET), ...metadata]),
        data(id, message, { endStream: true }),
      ]);
    }
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.requests.map(({ seen }) => seen.text.charCodeAt(0)), [0, 1]);
    rig.requests.forEach((request, i) => request.replies([`${i}`]));
    await rig.settle();
    assertEquals(caller.calls.map(({ messages }) => messages), [["0"], ["1"], ["0"]]);
  });
});

Deno.test("Scenario 37(a): the same compressed head on two connections is two questions where their tables differ", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const fields = requestHead(GET);
    const tokens = ["T1", "T2"];
    callers.forEach((caller, i) => {
      const own: Pairs = [...fields, ["authorization", tokens[i]!]];
      caller.begins((id) => [headers(id, indexing(own)), question(id, "warm")]);
    });
    await rig.settle();
    const count = fields.length + 1;
    // Only references, the newest entry last: byte for byte the same on both connections.
    const references = Uint8Array.from({ length: count }, (_, i) => 0x80 | (61 + count - i));
    for (let round = 0; round < 3; round++) {
      const calls = callers.map((caller) =>
        caller.begins((id) => [headers(id, references), question(id, `${round}`)])
      );
      await rig.settle();
      rig.expectsRequests(2 * (round + 2));
      answerByToken(rig);
      await rig.settle();
      calls.forEach((call, i) => call.expects(0, tokens[i]!));
    }
  });
});

Deno.test("Scenario 37(a): the same compressed head is another question once the table has changed", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const common = requestHead(GET);
    // Each field twice, one after the other: so an entry more moves each reference to the same field once more.
    for (const field of common.flatMap((field) => [field, field])) {
      const head = concat(
        ...common.map((each) => each === field ? indexing([each]) : block([each])),
      );
      caller.begins((id) => [headers(id, head), question(id, "fill")]);
    }
    const [t1, t2]: [Pairs, Pairs] = [[["authorization", "T1"]], [["authorization", "T2"]]];
    const withToken = (token: Pairs) => concat(block(common), indexing(token));
    const last = 62 + 2 * common.length;
    const references = Uint8Array.from(
      [...common.keys()].map((i) => 0x80 | (last - 2 * i)).concat(0x80 | 62),
    );
    for (const token of [t1, t2]) {
      caller.begins((id) => [headers(id, withToken(token)), question(id, token[0]![1])]);
      for (let again = 0; again < 2; again++) {
        const call = caller.begins((id) => [headers(id, references), question(id, `${again}`)]);
        await rig.settle();
        assertEquals(call.reply.reset, undefined);
      }
    }
    await rig.settle();
    answerByToken(rig);
    await rig.settle();
    const said = caller.calls.slice(2 * common.length).map(({ messages }) => messages[0]);
    assertEquals(said, ["T1", "T1", "T1", "T2", "T2", "T2"]);
  });
});

Deno.test("Scenario 37(b): what may change something is at the backend as often as it is asked", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    // A verb that reads is not enough, nor is one that only begins like it.
    const paths = [
      PUT,
      "/test.Service/GetOrCreateItem",
      "/test.Service/Getter",
      "/test.Service/get",
    ];
    const calls = paths.slice(0, 3).flatMap((path) => [
      caller.call(path, "1"),
      caller.call(path, "1"),
    ]);
    await backend.has(6);
    backend.requests.forEach((request, i) => request.replies([`${i}`]));
    await ended(...calls);
    calls.forEach((call, i) => call.expects(0, `${i}`));
    const reads = [caller.call(paths[3]!, "1"), caller.call(paths[3]!, "1")]; // case does not matter
    await rig.waits(2);
    await backend.has(7);
    backend.requests[6]!.replies(["read"]);
    await ended(...reads);
    assertEquals(backend.requests.length, 7);
  });
});

for (const path of [GET, LIST]) {
  Deno.test(`Scenario 37(c): followers and repeats of ${path} have the leader's headers, messages and trailers, frame for frame`, async () => {
    await withSockets({ variables: STORED_LONG }, async (rig) => {
      const { backend, local } = rig;
      const first = await rig.caller();
      const second = await rig.caller();
      const calls = [first.call(path, "1"), first.call(path, "1"), second.call(path, "1")];
      await rig.waits(3);
      await backend.has(1);
      const metadata: Pairs = [
        ["x-tag", "a"],
        ["x-twice", "one=1"],
        ["x-twice", "two=2"],
        ["x-data-bin", "AAECAw"],
        ["x-long", "v".repeat(20_000)], // more than one frame
        ["x-empty", ""],
      ];
      const messages = path === GET ? ["one"] : ["one", "", "three".repeat(9_000)];
      backend.requests[0]!.replies(messages, { headers: metadata, trailers: metadata });
      await ended(...calls);
      const repeats = [second.call(path, "1"), first.call(path, "1")];
      await ended(...repeats);
      for (const { reply } of [...calls, ...repeats]) {
        assertEquals(reply.blocks, [
          [[":status", "200"], ["content-type", "application/grpc"], ...metadata],
          [["grpc-status", "0"], ...metadata],
        ]);
        assertEquals([reply.messages, reply.endedBy], [messages, "HEADERS"]);
      }
      assertEquals(backend.requests.length, 1);
      assertEquals(local.outcomes.hit, 2);
    });
  });
}

Deno.test("Scenario 37(c): a response header reaches followers when it comes, before any message", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const calls = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await backend.has(1);
    backend.requests[0]!.begins([], { headers: [["x-tag", "early"]] });
    const hasHead = ({ reply }: CallerCall) => reply.blocks[0]?.at(-1)?.[1] === "early";
    await until(() => calls.every(hasHead), "the header at both");
    const late = caller.call(LIST, "1");
    await until(() => hasHead(late), "the header at who came later");
    backend.requests[0]!.ends();
    await ended(...calls, late);
    assertEquals(backend.requests.length, 1);
  });
});

function ask(caller: CallerEnd, { path = GET, said, metadata = [] }: Question): CallerCall {
  return caller.call(path, said, { metadata });
}

/** One message as the end of a request. */
function question(id: number, text: string): Uint8Array {
  return data(id, framed(text), { endStream: true });
}

/** A block of literals that all go into the table (RFC 7541 §6.2.1); names and values are short. */
function indexing(fields: Pairs): Uint8Array {
  return concat(...fields.map(([name, value]) =>
    concat(
      Uint8Array.of(0x40, name.length),
      ascii(name),
      Uint8Array.of(value.length),
      ascii(value),
    )
  ));
}

/** Says to whoever asks which token they showed. */
function answerByToken(rig: ProxyRig): void {
  for (const request of rig.requests) {
    if (request.isOver) continue;
    request.replies([request.fields.find(([name]) => name === "authorization")?.[1] ?? "none"]);
  }
}
