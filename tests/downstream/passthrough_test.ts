import { assert, assertEquals } from "@std/assert";
import { Stream } from "../../lib/connection/mod.ts";
import { Behaviour } from "../../lib/downstream/behaviour.ts";
import type { Method } from "../../lib/downstream/method_table.ts";
import type { MissedSharing } from "../../lib/downstream/missed_sharing.ts";
import { type PassedCall, Passthrough } from "../../lib/downstream/passthrough.ts";
import type { RequestRoute } from "../../lib/downstream/request_route.ts";
import { MessageScanner } from "../../lib/grpc/mod.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { Timers } from "../../lib/transport/mod.ts";
import { type Failure, NO_DEADLINE, type Upstream } from "../../lib/upstream/mod.ts";
import { FrameLog, MAX_WINDOW_BYTES, SETTING } from "../../lib/wire/mod.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { concat, data, headers, type Pairs } from "../support/frames.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { framed } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { listOf } from "../upstream/exchange_fixture.ts";

/** What the proxy gives a stream, of either side. */
const STREAM_WINDOW_BYTES = 131_072;

/** DATA frames of this much fill it. */
const PIECE = new Uint8Array(16_384);
const PIECES = STREAM_WINDOW_BYTES / PIECE.length;

/** A caller's call that keeps what its passthrough did to it. */
class FakeCall implements PassedCall {
  readonly mayQueue = "yes";
  readonly route: RequestRoute;
  readonly perCall = [];
  readonly deadlineMs = NO_DEADLINE;
  readonly stream = new Stream<unknown>(1, 0, 0);
  readonly heard: unknown[] = [];
  /** What was heard by the backend. */
  readonly asked: string[] = [];
  readonly session;

  constructor({ eligible = false } = {}) {
    const method = {
      ...{ path: PUT, policy: {}, verdict: { eligible, why: "" }, recent: {} },
      ...{ service: { name: "", generation: 0 }, invalidates: "no", behaviour: new Behaviour() },
    } as unknown as Method;
    this.route = { list: listOf(requestHead(PUT)), method } as unknown as RequestRoute;
    const { heard, asked } = this;
    const missed = { passed: () => void asked.push("compared") } as unknown as MissedSharing;
    const backend: Upstream = {
      start: () => void asked.push("started"),
      bodyGrew: () => void asked.push("grew"),
      cancel: () => void asked.push("cancelled"),
      settle: () => void asked.push("settled"),
    };
    this.session = {
      context: {
        ...{ backend, missed, counters: new ProxyCounters(), timers: new Timers(new FakeClock()) },
      },
      connection: {
        consumed: (stream: Stream<unknown>, bytes: number) =>
          void heard.push(["consumed", stream.id, bytes]),
      },
      flushSoon: () => void heard.push("flush"),
    };
  }

  holds(bytes: number): void {
    this.heard.push(["holds", bytes]);
  }

  readMore(): void {
    this.heard.push("reads");
  }

  failOwn(failure: Failure): void {
    this.heard.push(failure.kind);
  }

  /** What was heard since it was asked last. */
  take(): unknown[] {
    return this.heard.splice(0);
  }
}

/** A call that passes with these pieces of its request gathered, and followed. */
function passing(call: FakeCall, ...pieces: Uint8Array[]): Passthrough {
  const body = new FrameLog();
  const scanner = new MessageScanner();
  for (const piece of pieces) {
    body.appendData(piece, 0, piece.length);
    scanner.scan(piece, 0, piece.length);
  }
  return new Passthrough(call, body, scanner, { headEndsStream: false });
}

/** Says how far the body was sent. */
function sendsTo({ exchange }: Passthrough, sentTo: number): void {
  exchange.attempt = {
    ...{ startedMs: 0, sentTo, isTouched: false },
    ...{ sendBody() {}, credit() {}, abandon() {} },
  };
  exchange.bodyMoved();
}

function push(own: Passthrough, piece: Uint8Array, endStream = false): void {
  const read = concat(Uint8Array.of(9), piece, Uint8Array.of(9));
  own.push(read, 1, read.length - 1, endStream);
}

Deno.test("Passthrough holds what waits for a backend, and gives credit for what that has taken", () => {
  const call = new FakeCall();
  const own = passing(call, framed("one")); // credited while it was gathered
  own.start();
  assertEquals([call.take(), call.asked], [[], ["started"]]);
  own.bodyMoved(); // into a queue
  assertEquals(call.take(), [["holds", 17]]);
  push(own, new Uint8Array(50));
  push(own, new Uint8Array(50));
  assertEquals(call.take(), [["holds", 17 + 59], ["holds", 17 + 59 + 59]]);
  sendsTo(own, 17);
  assertEquals(call.take(), [["holds", 118]]); // frame headers of ours are no credit
  sendsTo(own, 17 + 59);
  assertEquals(call.take(), [["holds", 59], ["consumed", 1, 41], "flush"]);
  push(own, new Uint8Array(10));
  assertEquals(call.take(), []); // it is sent: the backend says how far
  sendsTo(own, 17 + 59 + 59 + 19);
  assertEquals(call.take(), [["holds", 0], ["consumed", 1, 69], "flush"]);
  sendsTo(own, 17 + 59 + 59 + 19);
  assertEquals(call.take(), [["holds", 0]]);
});

Deno.test("Passthrough passes on what says something, and nothing once its reply has ended", () => {
  const call = new FakeCall();
  const own = passing(call, framed("one"));
  const { exchange } = own;
  push(own, new Uint8Array(0));
  assertEquals([exchange.body.end, call.asked], [17, []]);
  push(own, new Uint8Array(0), true);
  assertEquals([exchange.body.end, exchange.body.ended, call.asked], [17 + 9, true, ["grew"]]);
  const over = passing(new FakeCall(), framed("one"));
  over.exchange.reply.fail({ kind: "draining" });
  push(over, framed("two"), true);
  assertEquals([over.exchange.body.end, over.exchange.body.ended], [17, false]);
});

Deno.test("Passthrough knows a stream by the second message, wherever it begins", () => {
  const cases: [gathered: Uint8Array[], pushed: Uint8Array[], isStreaming: boolean][] = [
    [[framed("one")], [], false],
    [[framed("one"), framed("two")], [], true],
    [[framed("one").subarray(0, 4)], [framed("one").subarray(4)], false],
    [[framed("one")], [Uint8Array.of(0)], true],
    [[], [concat(framed("one"), framed("two"))], true],
  ];
  for (const [gathered, pushed, isStreaming] of cases) {
    const own = passing(new FakeCall(), ...gathered);
    for (const piece of pushed) push(own, piece);
    assertEquals(own.exchange.isStreaming, isStreaming, Deno.inspect({ gathered, pushed }));
  }
});

Deno.test("Passthrough has a request compared that is one piece of a method that does not collapse", () => {
  const compared = (own: Passthrough, call: FakeCall, ...pieces: Uint8Array[]) => {
    pieces.forEach((piece, i) => push(own, piece, i === pieces.length - 1));
    return call.asked.includes("compared");
  };
  const [plain, eligible, gathered, pieces] = [
    new FakeCall(),
    new FakeCall({ eligible: true }),
    new FakeCall(),
    new FakeCall(),
  ];
  assertEquals(compared(passing(plain), plain, framed("one")), true);
  assertEquals(compared(passing(eligible), eligible, framed("one")), false);
  assertEquals(compared(passing(gathered, framed("one")), gathered, framed("two")), false);
  assertEquals(compared(passing(pieces), pieces, framed("one"), framed("two")), false);
});

Deno.test("Passthrough lets its backend send what the caller has read, and keeps nothing of that", () => {
  const own = passing(new FakeCall(), framed("one"));
  const credited: number[] = [];
  sendsTo(own, 17);
  own.exchange.attempt!.credit = (bytes) => void credited.push(bytes);
  const { reply } = own.exchange;
  const message = framed("x".repeat(95));
  for (let i = 0; i < 2; i++) reply.receive(message, 0, message.length);
  own.progressed(109);
  assertEquals([credited, reply.log.start], [[91], 109]); // less a frame header that is unread
  own.progressed(218);
  assertEquals([credited, reply.log.start], [[91, 109], 218]);
});

Deno.test("Passthrough lets its call read whatever comes, and ends that alone for a fault of ours", () => {
  const call = new FakeCall();
  const own = passing(call);
  const { exchange } = own;
  exchange.tell(0, SILENT);
  exchange.wake(1); // the call's own deadline bounds it
  exchange.reply.fail({ kind: "draining" });
  exchange.tell(2, SILENT);
  assertEquals(call.take(), ["reads", ["holds", 0], "reads"]);
  own.faulted();
  own.cancel();
  assertEquals([call.take(), call.asked], [["faultOfOurs"], ["cancelled"]]);
});

Deno.test("Call that passes relays each message as it comes, both ways", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, undefined, { ends: false });
    await rig.settle();
    const request = rig.request(0);
    request.begins();
    await rig.settle();
    assertEquals(call.reply.blocks.length, 1);
    for (let i = 0; i < 5; i++) {
      call.sends(`ask ${i}`);
      await rig.settle();
      assertEquals(request.messages.at(-1), `ask ${i}`);
      request.sends(`answer ${i}`);
      await rig.settle();
      assertEquals(call.messages.at(-1), `answer ${i}`);
    }
    assertEquals(request.ended, false);
    call.ends();
    await rig.settle();
    assertEquals(request.ended, true);
    request.sends("bye");
    request.ends({ trailers: [["x-end", "1"]] });
    await rig.settle();
    call.expects(0, "answer 0", "answer 1", "answer 2", "answer 3", "answer 4", "bye");
    assertEquals(call.trailers, [["grpc-status", "0"], ["x-end", "1"]]);
  });
});

Deno.test("Call that passes relays a half-close that comes as DATA, alone, or as trailers (scenario 41)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const ways: ((id: number) => Uint8Array)[] = [
      (id) => data(id, framed("2"), { endStream: true }),
      (id) => data(id, "", { endStream: true }),
      (id) => headers(id, [["x-trailer", "1"]], { endStream: true }),
    ];
    for (const [i, way] of ways.entries()) {
      const call = caller.call(PUT, "1", { ends: false });
      await rig.settle();
      assertEquals(rig.request(i).ended, false);
      caller.sends(way(call.id));
      await rig.settle();
      assertEquals(rig.request(i).seen.endedBy, "DATA");
      assertEquals(rig.request(i).messages, i === 0 ? ["1", "2"] : ["1"]);
      rig.request(i).replies(["x"]);
      await rig.settle();
      call.expects(0, "x");
    }
  });
});

Deno.test("Call that passes ends with a reply that comes before its request has ended", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1", { ends: false });
    await rig.settle();
    rig.request(0).replies(["enough"], { status: 3 });
    await rig.settle();
    call.expects(3, "enough");
    assertEquals(call.reply.reset, "NO_ERROR"); // RFC 9113 §8.1: no more of it, please
    assertEquals(rig.request(0).seen.reset, "NO_ERROR");
    call.sends("on its way already");
    call.ends();
    const next = caller.call(PUT, "2");
    await rig.settle();
    assertEquals(rig.request(0).messages, ["1"]);
    rig.request(1).replies(["fine"]);
    await rig.settle();
    next.expects(0, "fine");
  });
});

Deno.test("Call that passes takes no more of its request than the backend does (scenario 18)", async () => {
  await withRig({ backendSettings: [[SETTING.initialWindowSize, 1_000]] }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, undefined, { ends: false });
    await rig.settle();
    const request = rig.request(0);
    for (let i = 0; i < PIECES; i++) caller.sends(data(call.id, PIECE));
    await rig.settle();
    assertEquals(request.seen.text.length, 1_000);
    assertEquals(call.reply.granted, 0);
    request.grants(STREAM_WINDOW_BYTES / 2 - 1_000);
    request.backend.grants(MAX_WINDOW_BYTES - 65_535);
    await rig.settle();
    assertEquals(request.seen.text.length, STREAM_WINDOW_BYTES / 2);
    request.grants(STREAM_WINDOW_BYTES); // beyond what is there
    await rig.settle();
    assertEquals(request.seen.text.length, STREAM_WINDOW_BYTES);
    assertEquals(call.reply.granted, STREAM_WINDOW_BYTES);
    call.cancels();
    await rig.settle();
    assertEquals(request.seen.reset, "CANCEL");
  });
});

Deno.test("Call that passes while it waits for a backend holds no more of its request than a window", async () => {
  await withRig({ dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, undefined, { ends: false });
    for (let i = 0; i < PIECES; i++) caller.sends(data(call.id, PIECE));
    await rig.settle();
    assertEquals(call.reply.granted, 0);
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals(rig.request(0).seen.text.length, STREAM_WINDOW_BYTES);
    assertEquals(call.reply.granted, STREAM_WINDOW_BYTES);
    call.cancels();
    await rig.settle();
  });
});

Deno.test("Call that passes asks its backend for no more than its caller reads (scenario 18)", async () => {
  await withRig(async (rig) => {
    const [stuck, other] = [await rig.caller([[SETTING.initialWindowSize, 0]]), await rig.caller()];
    const call = stuck.call(PUT, "1");
    const quick = other.call(PUT, "2");
    await rig.settle();
    const request = rig.request(0);
    request.begins();
    for (let i = 0; i < PIECES; i++) request.backend.sends(data(request.id, PIECE));
    await rig.settle();
    assertEquals([request.seen.granted, call.reply.text.length], [0, 0]);
    rig.request(1).replies(["fine"]);
    await rig.settle();
    quick.expects(0, "fine"); // nobody else is held up, on the same connection to the backend
    call.grants(STREAM_WINDOW_BYTES / 2 + 1_000);
    await rig.settle();
    assert(request.seen.granted >= STREAM_WINDOW_BYTES / 2);
    assert(request.seen.granted <= STREAM_WINDOW_BYTES / 2 + 1_000);
    call.grants(STREAM_WINDOW_BYTES);
    await rig.settle();
    assertEquals(call.reply.text.length, STREAM_WINDOW_BYTES);
    request.ends();
    await rig.settle();
    assertEquals(call.status, 0);
  });
});

Deno.test("Call takes padded DATA and gives back all of its credit (scenario 21)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, undefined, { ends: false });
    await rig.settle();
    let sent = 0;
    for (let i = 0; i < 600; i++) {
      caller.sends(data(call.id, framed("x"), { padding: 255 }));
      sent += 6 + 255 + 1;
    }
    await rig.settle();
    assertEquals(rig.request(0).messages.length, 600);
    assert(sent - call.reply.granted < STREAM_WINDOW_BYTES / 2, `${call.reply.granted} of ${sent}`);
    const request = rig.request(0);
    request.begins();
    for (let i = 0; i < 600; i++) {
      request.backend.sends(data(request.id, framed("y"), { padding: 255 }));
    }
    await rig.settle();
    assertEquals(call.messages.length, 600);
    assert(sent - request.seen.granted < STREAM_WINDOW_BYTES / 2);
    call.ends();
    request.ends();
    await rig.settle();
    assertEquals(call.status, 0);
  });
});

Deno.test("Call that passes tells its outcome also when its reply was read in pieces", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 0]]);
    const call = caller.call(PUT, "1", { metadata: [["x-collapser-debug", "1"]] });
    await rig.settle();
    rig.request(0).begins(["0123456789"]);
    await rig.settle();
    for (let i = 0; i < 9; i++) {
      call.grants(1);
      await rig.settle();
    }
    rig.request(0).sends("again");
    rig.request(0).ends({ trailers: [["x-own", "kept"]] });
    await rig.settle();
    call.grants(100);
    await rig.settle();
    call.expects(0, "0123456789", "again");
    assertEquals(call.trailers, [["grpc-status", "0"], ["x-own", "kept"], [
      "x-collapser",
      "passed",
    ]]);
  });
});

Deno.test("Call that passes ends its backend call when its caller goes (scenarios 32, 44)", async () => {
  const ways: ((call: CallerCall, caller: CallerEnd) => void)[] = [
    (call) => call.cancels(),
    (_, caller) => caller.leaves(),
    (_, caller) => caller.leaves(new Deno.errors.ConnectionReset("Connection reset by peer")),
  ];
  for (const leave of ways) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const call = caller.call(PUT, "1", { ends: false });
      await rig.settle();
      rig.request(0).begins(["a"]);
      await rig.settle();
      leave(call, caller);
      await rig.settle();
      assertEquals(rig.request(0).seen.reset, "CANCEL");
      assertEquals(call.messages, ["a"]);
      assertEquals(rig.outcomes, { passed: 1 });
    });
  }
});

Deno.test("Call relays flag and encoding as they are, and keeps differently coded ones apart (scenario 27)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const compressed = Uint8Array.of(1, 0, 0, 0, 2, 0x1f, 0x8b);
    const call = caller.call(GET, undefined, { ends: false });
    caller.sends(data(call.id, compressed, { endStream: true }));
    const plain = caller.call(GET, Uint8Array.of(0x1f, 0x8b));
    const identity = caller.call(GET, "i", { metadata: [["grpc-encoding", "identity"]] });
    const accepts: Pairs = [["grpc-accept-encoding", "gzip"]];
    const unknown = caller.call(GET, "u", { metadata: [["grpc-encoding", "zstd"]] });
    await rig.settle();
    rig.expectsRequests(4);
    assertEquals(rig.request(0).seen.text, "\x01\0\0\0\x02\x1f\x8b");
    rig.request(0).fails(13);
    rig.request(1).replies(["plain"]);
    rig.request(2).replies(["i"], { headers: [["grpc-encoding", "identity"]] });
    rig.request(3).fails(12, accepts);
    await rig.settle();
    call.expects(13);
    plain.expects(0, "plain");
    identity.expects(0, "i");
    unknown.expects(12);
    assertEquals(unknown.trailers?.at(-1), accepts[0]);
    assertEquals(identity.reply.blocks[0]?.at(-1), ["grpc-encoding", "identity"]);
  });
});

Deno.test("Call passes DATA that is not cut into messages on, and never collapses it", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const bodies = [
      Uint8Array.of(0, 0, 0), // half a prefix
      Uint8Array.of(0, 0, 0, 0, 9, 1), // less than announced
      Uint8Array.of(0, 0, 0, 0, 1, 1, 2), // more than announced
    ];
    for (const [i, body] of bodies.entries()) {
      const call = caller.call(`/test.Service/Get${i}x`, undefined, { ends: false });
      caller.sends(data(call.id, body, { endStream: true }));
      await rig.settle();
      assertEquals(rig.request(i).seen.text, String.fromCharCode(...body));
      assertEquals(rig.request(i).ended, true);
      rig.request(i).fails(13);
      await rig.settle();
      call.expects(13);
    }
    assertEquals(rig.passed, { streaming: 3 });
  });
});
