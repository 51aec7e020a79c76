/**
 * A slow follower, and back-pressure. Who is let go of, when, and what the backend is credited for stands with small
 * numbers in `tests/proxy/shared_call_test.ts` and, for calls that pass, both ways, in
 * `tests/proxy/call_passing_test.ts`; here are the field's numbers on real sockets, and the other places where a caller
 * can stall.
 *
 * @module
 */

import { assert, assertEquals, assertLess } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { answering, sendAsCredited } from "../support/credit.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { framed, WIDE } from "../support/peer_end.ts";
import { SidecarProcess } from "../support/process.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST } from "../support/socket_rig.ts";
import { until, within } from "../support/waiting.ts";

const MESSAGES = 1_000;
const MESSAGE_BYTES = 65_536;

/** A different call so often meanwhile. */
const OTHER_EVERY_MS = 100;

const MAX_GROWTH_BYTES = 64 * 2 ** 20;

/** In a process that records its coverage memory says nothing. */
const VARIABLES = { DENO_COVERAGE_DIR: undefined };

const TOO_SLOW = "collapser: the caller reads too slowly to share this stream";

Deno.test("Scenario 18: 64 MB go past a follower that never reads: who reads has all of it, others are answered, memory stays, it alone ends with 8", async () => {
  await using backend = new ListeningBackend();
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    ...VARIABLES,
  });
  await sidecar.becomes(200);
  await using reader = await DialledCaller.at(sidecar.grpcPort);
  await using stuck = await DialledCaller.at(sidecar.grpcPort, {
    settings: [[SETTING.initialWindowSize, 0]],
  });
  await using asking = await DialledCaller.at(sidecar.grpcPort);
  const all = reader.call(LIST, "1");
  const request = await backend.request(0);
  const none = stuck.call(LIST, "1");
  const after = stuck.call(PUT); // once it is there, the follower's call is in
  await until(() => backend.requests.length === 2, "the call after the follower's");
  after.cancels();
  backend.onRequest = (other) => other.echoes();
  const before = await residentBytes(sidecar);
  const others: CallerCall[] = [];
  const timer = setInterval(
    () => others.push(asking.call(GET, `${others.length}`)),
    OTHER_EVERY_MS,
  );
  const message = framed(new Uint8Array(MESSAGE_BYTES).fill(0x78));
  request.begins();
  const sent = (function* () {
    for (let i = 0; i < MESSAGES; i++) yield message;
  })();
  await within(sendAsCredited(answering(request), sent), "the whole stream", 60_000);
  const growth = await residentBytes(sidecar) - before;
  request.ends();
  await until(() => all.status !== undefined, "the reader's end");
  clearInterval(timer);
  await until(() => others.every(({ status }) => status !== undefined), "the other calls");

  assertEquals([all.status, all.reply.text.length], [0, MESSAGES * message.length]);
  const one = all.reply.text.slice(0, message.length);
  assert(all.reply.text === one.repeat(MESSAGES) && one.endsWith("xxxx"));
  for (const [i, other] of others.entries()) other.expects(0, `re:${i}`);
  await until(() => none.status !== undefined, "the follower's end");
  assertEquals([none.status, none.grpcMessage, none.reply.text], [8, TOO_SLOW, ""]);
  assertLess(growth, MAX_GROWTH_BYTES);
  assertEquals([backend.ends.length, request.seen.reset], [1, undefined]);
});

/** Ways for a caller to stall: each takes so much of the stream and no more. */
const STALLS: Readonly<
  Record<
    string,
    { settings: typeof WIDE; connectionBytes?: number; stall?: (c: CallerEnd) => void }
  >
> = {
  "its stream's window is shut": { settings: [[SETTING.initialWindowSize, 0]] },
  "its connection's window is used up": { settings: WIDE, connectionBytes: 0 },
  "its socket is not read": { settings: WIDE, stall: ({ socket }) => socket.hold() },
};

for (const who of ["leader", "follower"] as const) {
  for (const [how, { settings, connectionBytes, stall }] of Object.entries(STALLS)) {
    Deno.test(`Scenario 18: a ${who} that stalls since ${how} holds nobody up, and ends alone`, async () => {
      await withRig({ maxMessageBytes: 100_000 }, async (rig) => {
        const options = connectionBytes === undefined ? {} : { connectionBytes };
        const stuck = await rig.caller(settings, options);
        const quick = await rig.caller();
        const first = who === "leader" ? stuck : quick;
        const second = first === stuck ? quick : stuck;
        const calls = new Map([[first, first.call(LIST, "1")]]);
        await rig.settle();
        calls.set(second, second.call(LIST, "1"));
        const other = quick.call(PUT, "1");
        await rig.settle();
        rig.expectsRequests(2);
        stall?.(stuck);
        const messages = await stream(rig, { count: 400, bytes: 10_000 });
        rig.request(1).echoes();
        rig.request(0).ends();
        await rig.settle();
        calls.get(quick)!.expects(0, ...messages);
        other.expects(0, "re:1");
        assertEquals(rig.request(0).seen.reset, undefined);
        stuck.socket.release();
        stuck.grants(2 ** 30);
        await rig.settle();
        assertEquals([calls.get(stuck)!.status, calls.get(stuck)!.grpcMessage], [8, TOO_SLOW]);
        assertEquals(rig.proxy.map.waiting, 0);
      });
    });
  }
}

Deno.test("Scenario 18: a stalled stream holds up no other on the same connection of the caller, its own flight's included", async () => {
  await withRig({ maxMessageBytes: 100_000 }, async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 0]]);
    const [read, stuck] = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    const unary = caller.call(GET, "2");
    read.grants(2 ** 30);
    unary.grants(100);
    await rig.settle();
    const messages = await stream(rig, { count: 100, bytes: 10_000 });
    rig.request(1).echoes();
    rig.request(0).ends();
    await rig.settle();
    read.expects(0, ...messages);
    unary.expects(0, "re:2");
    assertEquals(stuck.status, 8);
  });
});

Deno.test("Scenario 18: when nobody reads, the backend is held back and nobody is let go; who reads again has everything", async () => {
  await withRig(async (rig) => {
    const callers = [];
    for (let i = 0; i < 3; i++) callers.push(await rig.caller([[SETTING.initialWindowSize, 0]]));
    const calls = callers.map((caller) => caller.call(LIST, "1"));
    await rig.settle();
    const window = 131_072; // what we give a stream
    const message = "x".repeat(window / 8 - 5);
    rig.request(0).begins(Array.from({ length: 8 }, () => message));
    await rig.advance(5_000);
    assertEquals(rig.request(0).seen.granted, 0);
    for (const call of calls) assertEquals([call.status, call.reply.text], [undefined, ""]);
    for (const call of calls) call.grants(2 ** 30);
    await rig.settle();
    rig.request(0).ends();
    await rig.settle();
    for (const call of calls) call.expects(0, ...Array.from({ length: 8 }, () => message));
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 18: a reply that is stored is read as slowly as one likes, long after its time", async () => {
  await withRig(async (rig) => {
    const [caller, slow] = [await rig.caller(), await rig.caller([[SETTING.initialWindowSize, 0]])];
    const reply = "y".repeat(200_000);
    const led = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies([reply]);
    await rig.settle();
    led.expects(0, reply);
    const hit = slow.call(GET, "1");
    for (let i = 0; i < 20; i++) {
      hit.grants(9_000);
      await rig.advance(1_000);
    }
    assertEquals(hit.reply.text.length, 180_000);
    hit.grants(100_000);
    await rig.settle();
    hit.expects(0, reply);
    rig.expectsRequests(1);
  });
});

/** Messages of the first request, each on its way before the next. */
async function stream(
  rig: ProxyRig,
  { count, bytes }: { count: number; bytes: number },
): Promise<string[]> {
  const messages: string[] = [];
  rig.request(0).begins();
  for (let i = 0; i < count; i++) {
    const message = `${i} `.padEnd(bytes, "x");
    messages.push(message);
    rig.request(0).sends(message);
    await rig.settle();
  }
  return messages;
}

async function residentBytes(sidecar: SidecarProcess): Promise<number> {
  const { text } = await sidecar.ask("/metrics");
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)![1]);
}
