/**
 * Padding, and windows that change. One padded stream, and a passed reply whose window sinks below zero, stand in
 * `tests/proxy/call_passing_test.ts`, the accounts themselves in `tests/conformance/rfc9113_6_9_flow_control_test.ts`;
 * here are many calls, both hops, and shared replies.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import type { BackendEnd } from "../support/backend_end.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { requestHead } from "../support/caller_end.ts";
import { answering, sendAsCredited } from "../support/credit.ts";
import {
  data,
  headers,
  type Pairs,
  pattern,
  RESPONSE,
  settings,
  TRAILERS,
} from "../support/frames.ts";
import { framed, WIDE } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** The most that a frame can be padded, and the byte that says so. */
const PADDING = 255;
const PADDING_COST = PADDING + 1;

/** Frames that a message is cut into. */
const FRAMES = 10;

/** What we announce for a connection, and what of it may be owed before it is given back. */
const CONNECTION_WINDOW = 2 ** 20;
const OWED_AT_MOST = CONNECTION_WINDOW / 2;

const METADATA: Pairs = [["x-a", "1"], ["x-b", "2"]];

Deno.test("Scenario 21(a): 300 unary calls whose every frame is padded are answered, and each hop gives all credit back", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const text = "y".repeat(2_000);
    let sent = 0;
    for (let i = 0; i < 300; i++) {
      const asked = `${i} `.padEnd(2_000, "x");
      const call = caller.begins((id) => [
        headers(id, [...requestHead(i % 2 === 0 ? GET : PUT), ...METADATA], { padding: PADDING }),
        ...paddedMessage(id, asked, { endStream: true }),
      ]);
      await rig.settle();
      const { backend, id, fields, messages } = rig.request(-1);
      assertEquals([fields.slice(-2), messages], [[...METADATA], [asked]]);
      backend.sends(
        headers(id, [...RESPONSE, ...METADATA], { padding: PADDING }),
        ...paddedMessage(id, text),
        headers(id, [...TRAILERS, ...METADATA], { padding: PADDING, endStream: true }),
      );
      await rig.settle();
      call.expects(0, text);
      assertEquals(call.reply.blocks, [[...RESPONSE, ...METADATA], [...TRAILERS, ...METADATA]]);
      sent += text.length + 5 + FRAMES * PADDING_COST;
    }
    expectsCredit(caller, sent);
    expectsCredit(rig.backend, sent);
    assertEquals([caller.seen("GOAWAY"), rig.backends.length], [[], 1]);
  });
});

/** In so many frames that 300 calls have more padding than a window holds. */
function paddedMessage(id: number, text: string, { endStream = false } = {}): Uint8Array[] {
  const bytes = framed(text);
  const size = Math.ceil(bytes.length / FRAMES);
  return Array.from({ length: FRAMES }, (_, i) => {
    const piece = bytes.subarray(i * size, (i + 1) * size);
    return data(id, piece, { padding: PADDING, endStream: endStream && i === FRAMES - 1 });
  });
}

Deno.test("Scenario 21(a): padding that comes for streams which are turned away, cancelled or over is given back, too", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const wrong = requestHead(PUT).map(([name, value]) =>
      [name, name === "content-type" ? "text/plain" : value] as const
    );
    const late = (id: number) =>
      Array.from({ length: 30 }, () => data(id, "x", { padding: PADDING }));
    const bytes = 30 * (1 + PADDING_COST);
    let [sent, answered] = [0, 0];
    for (let round = 0; round < 80; round++) {
      const refused = caller.begins((id) => [
        headers(id, wrong),
        ...late(id),
        data(id, "", { padding: PADDING, endStream: true }),
      ]);
      const call = caller.call(PUT, "1", { ends: false });
      await rig.settle();
      const request = rig.request(-1);
      call.cancels();
      caller.sends(...late(call.id)); // which crossed the cancel
      await rig.settle();
      assertEquals(request.seen.reset, "CANCEL");
      request.backend.sends(headers(request.id, RESPONSE), ...late(request.id));
      await rig.advance(50); // a flood of what is late is another matter
      assertEquals(refused.reply.blocks[0]![0], [":status", "415"]);
      sent += bytes + PADDING_COST + 6 + bytes;
      answered += bytes;
      rig.uncounted++;
    }
    expectsCredit(caller, sent);
    expectsCredit(rig.backend, answered);
    const last = caller.call(PUT, "1");
    await rig.settle();
    rig.request(-1).echoes();
    await rig.settle();
    last.expects(0, "re:1");
  });
});

Deno.test("Scenario 21(a): frames of nothing but padding give all their credit back, and mean nothing", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1", { ends: false });
    await rig.settle();
    const request = rig.request(0);
    request.begins(["a"]);
    let sent = 0;
    for (let i = 0; i < 3_000; i++) {
      caller.sends(data(call.id, "", { padding: PADDING }));
      request.backend.sends(data(request.id, "", { padding: PADDING }));
      sent += PADDING_COST;
      if (i % 100 === 0) await rig.advance(100); // a flood of them is another matter
    }
    await rig.settle();
    const ofStream = 131_072; // what we announce for a stream, half of which may be owed
    assert(sent - call.reply.granted < ofStream / 2, `${call.reply.granted} of ${sent}`);
    assert(sent - request.seen.granted < ofStream / 2, `${request.seen.granted} of ${sent}`);
    assertEquals([request.messages, call.messages], [["1"], ["a"]]);
    call.sends("2", { ends: true });
    request.ends();
    await rig.settle();
    call.expects(0, "a");
  });
});

Deno.test("Scenario 21(b): a shared reply of 1 MB waits while its window is below zero, and goes on by SETTINGS alone", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 60_000]]);
    const other = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), other.call(GET, "1")];
    await rig.settle();
    const reply = textOf(pattern(2 ** 20));
    rig.request(0).replies([pattern(2 ** 20)]);
    await rig.settle();
    const [first, second, third] = calls as [CallerCall, CallerCall, CallerCall];
    third.expects(0, reply); // nobody waits for who cannot read
    const hit = caller.call(GET, "1");
    await rig.settle();
    await sinksAndRises(rig, caller, [first, second, hit]);
    for (const call of [first, second, hit]) {
      assertEquals([call.status, call.messages.length], [0, 1]);
      assert(call.messages[0] === reply, "the bytes are the same");
    }
    assertEquals([caller.seen("RST_STREAM"), caller.seen("GOAWAY")], [[], []]);
    rig.expectsRequests(1);
  });
});

/** All of these calls have had their 60,000 bytes. */
async function sinksAndRises(rig: ProxyRig, end: CallerEnd, calls: CallerCall[]): Promise<void> {
  const expect = (bytes: number) => {
    for (const { reply } of calls) assertEquals(reply.text.length, bytes);
  };
  expect(60_000);
  end.sends(settings([SETTING.initialWindowSize, 16_384]));
  await rig.settle();
  for (const call of calls) call.grants(43_616); // to 0 exactly
  await rig.settle();
  expect(60_000);
  end.sends(
    settings([SETTING.initialWindowSize, 0]),
    settings([SETTING.initialWindowSize, 16_385]),
  );
  await rig.settle();
  expect(60_001);
  end.sends(settings([SETTING.initialWindowSize, 2 ** 20 + 100_000]));
  await rig.settle();
}

Deno.test("Scenario 21(b): a request of 1 MB to a backend waits and goes on in the same way, gathered or passing", async () => {
  for (const path of [GET, PUT]) {
    await withRig({ backendSettings: [[SETTING.initialWindowSize, 60_000]] }, async (rig) => {
      rig.backend.grants(2 ** 30);
      const caller = await rig.caller();
      const question = pattern(2 ** 20);
      const call = caller.call(path, undefined, { ends: false });
      const bytes = framed(question);
      let at = 0;
      const feed = async () => { // as far as the proxy lets the caller
        for (; at < bytes.length && at < 131_072 + call.reply.granted; at += 16_384) {
          const endStream = at + 16_384 >= bytes.length;
          caller.sends(data(call.id, bytes.subarray(at, at + 16_384), { endStream }));
          await rig.settle();
        }
      };
      await feed();
      const request = rig.request(0);
      const sizes: number[] = [];
      const announce = async (size: number) => {
        request.backend.sends(settings([SETTING.initialWindowSize, size]));
        await rig.settle();
        await feed();
        sizes.push(request.seen.text.length);
      };
      sizes.push(request.seen.text.length);
      await announce(16_384);
      request.grants(43_616); // to 0 exactly
      await rig.settle();
      sizes.push(request.seen.text.length);
      await announce(16_385);
      assertEquals(sizes, [60_000, 60_000, 60_000, 60_001]);
      await announce(2 ** 20 + 100_000);
      while (at < bytes.length) await feed();
      assertEquals([request.ended, request.messages.length], [true, 1]);
      assert(request.messages[0] === textOf(question), "the bytes are the same");
      request.replies(["done"]);
      await rig.settle();
      call.expects(0, "done");
      assertEquals([rig.backends.length, rig.backend.seen("GOAWAY")], [1, []]);
    });
  }
});

Deno.test("Scenario 21: on real sockets padded calls and a reply whose window sinks and rises come through whole", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 60_000]]);
    const reply = framed(pattern(2 ** 20));
    const call = caller.begins((id) => [
      headers(id, requestHead(PUT), { padding: PADDING }),
      data(id, framed("1"), { padding: PADDING, endStream: true }),
    ]);
    const request = await rig.request(0);
    request.begins();
    const sending = sendAsCredited(answering(request), [reply]).then(() => request.ends());
    await until(() => call.reply.text.length === 60_000, "all that the window allows");
    caller.sends(settings([SETTING.initialWindowSize, 16_384]));
    await until(() => caller.seen("SETTINGS ack").length === 2, "the smaller window");
    assertEquals(call.reply.text.length, 60_000);
    caller.sends(settings(...WIDE));
    await sending;
    await until(() => call.status !== undefined, "the end");
    assertEquals(call.status, 0);
    assert(call.reply.text === textOf(reply), "the bytes are the same");
  });
});

/** The proxy has given back what was sent but for what it may owe. */
function expectsCredit(end: CallerEnd | BackendEnd, sent: number): void {
  const updates = end.seen("WINDOW_UPDATE").filter(({ streamId }) => streamId === 0);
  const granted = updates.reduce((sum, { increment }) => sum + increment, 0);
  const owed = sent - (granted - (CONNECTION_WINDOW - 65_535));
  assert(owed >= 0 && owed <= OWED_AT_MOST, `${owed} bytes are owed of ${sent}`);
}

function textOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
