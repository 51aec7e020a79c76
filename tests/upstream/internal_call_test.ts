import { assertEquals } from "@std/assert";
import { SILENT } from "../../lib/observe/mod.ts";
import { Timers } from "../../lib/transport/mod.ts";
import type { Exchange, Failure, Upstream } from "../../lib/upstream/mod.ts";
import { InternalCall } from "../../lib/upstream/internal_call.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { ascii, pairsOf } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";

/** A backend that keeps what is started, and ends it as it is told. */
class FakeBackend implements Upstream {
  readonly started: Exchange[] = [];
  readonly cancelled: Exchange[] = [];
  nowMs = 0;

  start(exchange: Exchange): void {
    this.started.push(exchange);
  }

  bodyGrew(): void {}

  cancel(exchange: Exchange): void {
    exchange.disown();
    this.cancelled.push(exchange);
  }

  settle(exchange: Exchange, failure: Failure): void {
    exchange.reply.fail(failure);
    exchange.tell(this.nowMs, SILENT);
  }
}

/** A call, made and not started. */
function make({ scheme = "http" }: { scheme?: "http" | "https" } = {}) {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const backend = new FakeBackend();
  const ended: { exchange: Exchange; bytes: number }[] = [];
  const call = new InternalCall(
    { backend, timers, scheme, instance: 7 },
    { path: "/a.S/Ask", authority: "who", message: ascii("what"), patienceMs: 500 },
    (exchange) => ended.push({ exchange, bytes: exchange.reply.log.heldBytes }),
  );
  return { clock, timers, backend, ended, call };
}

Deno.test("InternalCall asks for one message of its own, by the clock of its patience", () => {
  for (const scheme of ["http", "https"] as const) {
    const { timers, backend, call } = make({ scheme });
    assertEquals([backend.started.length, timers.pending], [0, 0]);
    call.start();
    const [exchange] = backend.started;
    assertEquals(pairsOf(exchange!.target.list.fields), [
      [":method", "POST"],
      [":scheme", scheme],
      [":path", "/a.S/Ask"],
      [":authority", "who"],
      ["te", "trailers"],
      ["content-type", "application/grpc"],
      ["x-collapser-instance", "7"],
    ]);
    assertEquals(exchange!.target.method, { path: "/a.S/Ask", policy: {} });
    const text = "\0\0\0\0\x04what";
    assertEquals(framesOf(exchange!.body), [{ type: "DATA", streamId: 1, text, endStream: true }]);
    assertEquals([exchange!.isProbe, exchange!.key, exchange!.perCall], [true, undefined, []]);
    assertEquals(exchange!.deadlineMs, timers.nowMs + 500);
    assertEquals(timers.pending, 1);
    call.stop();
    timers.stop();
  }
});

Deno.test("InternalCall hears of its end once, with the logs still there, and lets go of them", () => {
  const { timers, backend, ended, call } = make();
  call.start();
  const exchange = backend.started[0]!;
  exchange.tell(0, SILENT); // it grows, which nobody cares about
  assertEquals(ended, []);
  backend.settle(exchange, { kind: "noStatus" });
  assertEquals(ended.map((end) => [end.exchange === exchange, end.bytes > 0]), [[true, true]]);
  assertEquals([exchange.body.heldBytes, exchange.reply.log.heldBytes, timers.pending], [0, 0, 0]);
  timers.stop();
});

Deno.test("InternalCall is given up when its patience is over", () => {
  const { clock, timers, ended, call } = make();
  call.start();
  const startMs = clock.now();
  assertEquals([clock.step(startMs + 499), ended.length], [false, 0]);
  while (ended.length === 0) assertEquals(clock.step(startMs + 504), true);
  assertEquals(ended[0]!.exchange.reply.failure, { kind: "deadline" });
  assertEquals(timers.pending, 0);
  timers.stop();
});

Deno.test("InternalCall that is stopped is cancelled, and hears nothing any more", () => {
  const { timers, backend, ended, call } = make();
  call.start();
  call.stop();
  const [exchange] = backend.started;
  assertEquals([backend.cancelled, timers.pending], [[exchange], 0]);
  exchange!.reply.fail({ kind: "callerGone" });
  exchange!.tell(0, SILENT);
  assertEquals(ended, []);
  timers.stop();
});

Deno.test("InternalCall is over for who made it when a fault of ours keeps it from being told", () => {
  const { timers, backend, ended, call } = make();
  call.start();
  call.faulted();
  assertEquals(ended.map(({ exchange }) => exchange), backend.started);
  assertEquals(timers.pending, 0);
  timers.stop();
});
