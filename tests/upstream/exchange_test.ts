import { assertEquals, assertStrictEquals } from "@std/assert";
import { SILENT } from "../../lib/observe/mod.ts";
import { type Attempt, type Exchange, NO_DEADLINE } from "../../lib/upstream/exchange.ts";
import { block, pairsOf, RESPONSE } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";
import { exchangeOf, RecordingOwner } from "./exchange_fixture.ts";

/** An attempt that keeps what it was asked for. */
class FakeAttempt implements Attempt {
  readonly startedMs = 0;
  sentTo = 0;
  readonly isTouched = false;
  credited: number[] = [];

  sendBody(): void {}

  credit(bytes: number): void {
    this.credited.push(bytes);
  }

  abandon(): void {}
}

function receive({ reply }: Exchange, bytes: Uint8Array): void {
  reply.receive(bytes, 0, bytes.length);
}

Deno.test("Exchange.fieldsToSend puts the time that is left in place of the time that was given", () => {
  const perCall = [["x-a", "1"], ["grpc-timeout", "500m"], ["traceparent", "t"]] as const;
  const exchange = exchangeOf(new RecordingOwner(), { perCall, deadlineMs: 1_500 });
  for (const [nowMs, left] of [[1_000, "500m"], [1_337, "163m"], [1_499.5, "500u"]] as const) {
    const fields = exchange.fieldsToSend(nowMs);
    assertEquals(pairsOf(fields), [["x-a", "1"], ["grpc-timeout", left], ["traceparent", "t"]]);
    assertEquals(fields.map(({ perCall }) => perCall), [true, true, true]);
    assertStrictEquals(fields[0], exchange.perCall[0]);
    assertEquals(exchange.sentDeadlineMs, 1_500);
  }
});

Deno.test("Exchange.fieldsToSend tells the deadline that the call has when it is sent", () => {
  const perCall = [["grpc-timeout", "500m"], ["x-a", "1"]] as const;
  const exchange = exchangeOf(new RecordingOwner(), { perCall, deadlineMs: 1_500 });
  exchange.deadlineMs = 3_000; // that of who waits longest, since the leader left
  assertEquals(pairsOf(exchange.fieldsToSend(1_000))[0], ["grpc-timeout", "2S"]);
  assertEquals(exchange.sentDeadlineMs, 3_000);
  exchange.deadlineMs = NO_DEADLINE;
  assertEquals(pairsOf(exchange.fieldsToSend(1_000)), [["x-a", "1"]]);
  assertEquals(exchange.sentDeadlineMs, NO_DEADLINE);
});

Deno.test("Exchange.fieldsToSend leaves the fields of a call without a deadline as they are", () => {
  const exchange = exchangeOf(new RecordingOwner(), { perCall: [["x-a", "1"]] });
  assertStrictEquals(exchange.fieldsToSend(1_000), exchange.perCall);
  assertEquals(exchange.sentDeadlineMs, NO_DEADLINE);
});

Deno.test("Exchange.tell tells of growth as often as it comes, and of the end once", () => {
  const owner = new RecordingOwner();
  const exchange = exchangeOf(owner);
  for (let i = 0; i < 2; i++) exchange.tell(i, SILENT);
  exchange.reply.fail({ kind: "draining" });
  for (let i = 2; i < 4; i++) exchange.tell(i, SILENT);
  assertEquals([owner.heard, owner.endedMs], [["grew", "grew", "ended"], 2]);
  exchange.bodyMoved();
  exchange.wake(9);
  assertEquals([owner.heard.length, owner.moved], [3, 0]); // who is done hears nothing at all
});

Deno.test("Exchange.disown keeps everything from who does not wait any more", () => {
  const owner = new RecordingOwner();
  const exchange = exchangeOf(owner);
  exchange.bodyMoved();
  exchange.wake(7);
  assertEquals([owner.moved, owner.heard], [1, ["time is up at 7"]]);
  exchange.disown();
  exchange.bodyMoved();
  exchange.wake(8);
  exchange.tell(9, SILENT);
  exchange.reply.fail({ kind: "callerGone" });
  exchange.tell(10, SILENT);
  assertEquals([owner.moved, owner.heard], [1, ["time is up at 7"]]);
});

Deno.test("Exchange.tell says so when its owner fails, and lets the owner say it to those who wait", () => {
  const faults: string[] = [];
  const observer = {
    ...SILENT,
    faultOfOurs: (what: string, error: unknown) => void faults.push(`${what}: ${error}`),
  };
  const owner = new RecordingOwner();
  const exchange = exchangeOf(owner);
  owner.onGrowth = owner.onEnd = () => {
    throw new Error("no room");
  };
  exchange.tell(1, observer);
  exchange.reply.fail({ kind: "draining" });
  exchange.tell(2, observer);
  exchange.tell(3, observer);
  assertEquals(owner.heard, ["grew", "faulted", "ended", "faulted"]);
  assertEquals(faults, new Array(2).fill("passing a reply on: Error: no room"));
});

Deno.test("Exchange.canRepeat is over with the first of the reply, its end, or the first of the body that is let go of", () => {
  const make = () => exchangeOf(new RecordingOwner(), { message: "1" });
  assertEquals(make().canRepeat, true);
  const begun = make();
  begun.reply.log.appendHeaders(block(RESPONSE), false);
  const ended = make();
  ended.reply.fail({ kind: "deadline" });
  const cut = make();
  cut.body.dropBefore(1);
  const released = make();
  released.reply.fail({ kind: "deadline" });
  released.release();
  for (const exchange of [begun, ended, cut, released]) assertEquals(exchange.canRepeat, false);
});

Deno.test("Exchange.unsentBytes counts frames from where the sending under way stands, or all", () => {
  const exchange = exchangeOf(new RecordingOwner(), { message: "12345" });
  const frameBytes = 9 + 5 + 5;
  assertEquals(exchange.unsentBytes, frameBytes);
  const attempt = exchange.attempt = new FakeAttempt();
  assertEquals(exchange.unsentBytes, frameBytes);
  attempt.sentTo = 14;
  assertEquals(exchange.unsentBytes, 5);
  exchange.attempt = undefined;
  assertEquals(exchange.unsentBytes, frameBytes);
});

Deno.test("Exchange.credit gives what was read, once, and nothing for frame headers that are unread", () => {
  const exchange = exchangeOf(new RecordingOwner());
  const attempt = exchange.attempt = new FakeAttempt();
  exchange.credit(0);
  assertEquals(attempt.credited, []);
  receive(exchange, framed("x".repeat(95)));
  const unread = exchange.reply.log.end; // one frame header more than its DATA
  exchange.credit(unread);
  assertEquals(attempt.credited, []);
  exchange.credit(60);
  exchange.credit(60);
  exchange.credit(80); // somebody slower
  exchange.credit(0);
  assertEquals(attempt.credited, [40, 60]);
  receive(exchange, framed("x".repeat(5)));
  exchange.credit(-9);
  assertEquals([attempt.credited, exchange.reply.creditedBytes], [[40, 60, 10], 110]);
});

Deno.test("Exchange.credit waits for a call that is sent", () => {
  const exchange = exchangeOf(new RecordingOwner());
  receive(exchange, framed("x"));
  exchange.credit(0);
  assertEquals(exchange.reply.creditedBytes, 0);
});

Deno.test("Exchange.release frees what it gathered and what it sent", () => {
  const exchange = exchangeOf(new RecordingOwner(), { message: "1" });
  receive(exchange, framed("x"));
  exchange.release();
  const { body, reply: { log } } = exchange;
  assertEquals([body.heldBytes, log.heldBytes, body.end, log.end], [0, 0, 0, 0]);
});
