/**
 * Who shares an answer with whom, counted at a grpc-js backend and seen by a grpc-js client.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  decodeGreetingReply,
  encodeGreetingRequest,
  type GreetingReply,
  type GreetingRequest,
  HELLO_PATHS,
} from "../../lib/hello/mod.ts";
import { besideHello, STORED_LONG } from "../support/beside.ts";
import { until } from "../support/waiting.ts";
import { GrpcJs } from "./grpc_js.ts";
import type { Plan } from "./seen.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;

const USERS = 50;
const CALLERS_EACH = 20;

/** Long enough for a call that is sent next to meet this one, on a busy machine too. */
const SLOW_MS = 500;

/** The reply to a unary call that must end well. */
async function greeting(
  client: GrpcJs,
  call: { path: string; request: GreetingRequest; metadata?: Plan["metadata"] },
): Promise<GreetingReply> {
  const { path, request, metadata = [] } = call;
  const messages = [encodeGreetingRequest(request)];
  const seen = await client.see({ name: path, kind: "unary", path, messages, metadata });
  assertEquals([seen.code, seen.message], [0, "OK"]);
  return decodeGreetingReply(Uint8Array.from(atob(seen.messages[0]!), (c) => c.charCodeAt(0)));
}

Deno.test("sharing is among callers with the same credentials alone, in flight and stored", async () => {
  await using pair = await besideHello(STORED_LONG);
  await using client = new GrpcJs(pair.local.port);
  const callers = Array.from({ length: USERS * CALLERS_EACH }, (_, n) => `Bearer ${n % USERS}`);
  const request = { name: "me", delayMs: SLOW_MS, echoMetadata: ["authorization"] };
  const askAll = async () => {
    const answers = new Map<string, Set<number>>();
    await Promise.all(callers.map(async (user) => {
      const metadata = [["authorization", user]] as const;
      const reply = await greeting(client, { path: getGreeting, request, metadata });
      assertEquals(reply.metadata, { authorization: user });
      answers.set(user, (answers.get(user) ?? new Set()).add(reply.from));
    }));
    return [...answers.values()].map((calls) => calls.size);
  };
  const oneEach = Array.from({ length: USERS }, () => 1);
  assertEquals(await askAll(), oneEach);
  assertEquals(pair.hello.total, USERS);
  assertEquals(pair.local.outcomes.led, USERS);
  assertEquals(await askAll(), oneEach);
  assertEquals(pair.hello.total, USERS);
  assertEquals(pair.local.outcomes.hit, callers.length);
});

Deno.test("sharing is in spite of what says nothing about the answer: traces, time-outs", async () => {
  await using pair = await besideHello(STORED_LONG);
  await using client = new GrpcJs(pair.local.port);
  const callers = Array.from({ length: 10 }, (_, n) => `request ${n}`);
  const froms = await Promise.all(callers.map(async (id) => {
    const metadata = [["x-request-id", id], ["traceparent", `00-${id}`]] as const;
    return (await greeting(client, { path: getGreeting, request: {}, metadata })).from;
  }));
  assertEquals(new Set(froms), new Set([1]));
});

Deno.test("sharing is not for writes: each reaches the backend", async () => {
  await using pair = await besideHello(STORED_LONG);
  await using client = new GrpcJs(pair.local.port);
  const request = { name: "Ada", delayMs: 30 };
  const writes = Array.from(
    { length: 20 },
    () => greeting(client, { path: createGreeting, request }),
  );
  const froms = new Set((await Promise.all(writes)).map(({ from }) => from));
  assertEquals([froms.size, pair.hello.total], [20, 20]);
  assertEquals(pair.hello.counts(), { [createGreeting]: 20 });
});

Deno.test("sharing ends with a write: its caller sees what it wrote", async () => {
  await using pair = await besideHello(STORED_LONG);
  await using client = new GrpcJs(pair.local.port);
  const read = async () => (await greeting(client, { path: getGreeting, request: {} })).from;
  const write = async () => (await greeting(client, { path: createGreeting, request: {} })).from;
  assertEquals([await read(), await read()], [1, 1]);
  assertEquals(await write(), 2);
  assertEquals([await read(), await read()], [3, 3]);
});

Deno.test("sharing of a call under way ends with a write, for those who come after it", async () => {
  await using pair = await besideHello(STORED_LONG);
  await using client = new GrpcJs(pair.local.port);
  const slow = { path: getGreeting, request: { delayMs: SLOW_MS } };
  const before = [greeting(client, slow), greeting(client, slow)];
  await until(() => pair.local.sidecar.proxy.map.waiting === 2, "both on one flight");
  await until(() => pair.hello.report().inFlight === 1, "their call at the backend");
  assertEquals((await greeting(client, { path: createGreeting, request: {} })).from, 2);
  assertEquals((await greeting(client, slow)).from, 3);
  assertEquals((await Promise.all(before)).map(({ from }) => from), [1, 1]);
});
