import { assertEquals, assertStrictEquals } from "@std/assert";
import { Stream } from "../../lib/connection/mod.ts";
import { type AttemptCarrier, StreamAttempt } from "../../lib/upstream/stream_attempt.ts";
import { exchangeOf, RecordingOwner } from "./exchange_fixture.ts";

/** A carrier that keeps what it was asked for. */
class FakeCarrier implements AttemptCarrier {
  readonly heard: unknown[] = [];

  sendBody(attempt: StreamAttempt): void {
    this.heard.push(["body", attempt]);
  }

  credit(stream: Stream<StreamAttempt>, bytes: number): void {
    this.heard.push(["credit", stream.id, bytes]);
  }

  letGo(stream: Stream<StreamAttempt>): void {
    this.heard.push(["letGo", stream.id, stream.owner]);
  }
}

Deno.test("StreamAttempt asks its carrier on behalf of its stream, and stands where that does", () => {
  const carrier = new FakeCarrier();
  const stream = new Stream<StreamAttempt>(7, 100, 100);
  const exchange = exchangeOf(new RecordingOwner());
  const attempt = new StreamAttempt(exchange, stream, carrier, 42);
  stream.owner = attempt;
  assertEquals([attempt.startedMs, attempt.isTouched, attempt.isRefused], [42, false, false]);
  assertStrictEquals(attempt.exchange, exchange);
  assertEquals(attempt.sentTo, 0);
  stream.position = 33;
  assertEquals(attempt.sentTo, 33);
  attempt.sendBody();
  attempt.credit(5);
  assertEquals(carrier.heard, [["body", attempt], ["credit", 7, 5]]);
});

Deno.test("StreamAttempt.abandon leaves nobody for what still comes, and then lets go of the stream", () => {
  const carrier = new FakeCarrier();
  const stream = new Stream<StreamAttempt>(7, 100, 100);
  const exchange = exchangeOf(new RecordingOwner());
  stream.owner = new StreamAttempt(exchange, stream, carrier, 0);
  stream.owner.abandon();
  assertEquals(stream.owner, undefined);
  assertEquals(carrier.heard, [["letGo", 7, undefined]]);
});
