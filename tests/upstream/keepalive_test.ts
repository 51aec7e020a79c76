import { assertEquals, assertMatch } from "@std/assert";
import { Timers } from "../../lib/transport/mod.ts";
import { Keepalive, type Watched } from "../../lib/upstream/keepalive.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

/** A connection that a test reads from, sends on, and is watched. */
class FakeWatched implements Watched {
  isBusy = true;
  lastReadMs = 0;
  /** What was done, and when, counted from the beginning. */
  readonly heard: string[] = [];
  readonly clock = new FakeClock();
  readonly timers = new Timers(this.clock);
  readonly keepalive = new Keepalive(this, this.timers);
  readonly #startMs = this.clock.now();

  ping(opaque: Uint8Array): void {
    assertEquals(opaque.length, 8);
    this.heard.push(`ping at ${this.#elapsedMs}`);
  }

  giveUp(silentMs: number): void {
    this.heard.push(`given up at ${this.#elapsedMs} after ${silentMs}`);
  }

  /** Time passes up to `ms` from the beginning, everybody being woken. */
  until(ms: number): void {
    while (this.clock.step(this.#startMs + ms));
    this.clock.jump(this.#startMs + ms);
    this.timers.refresh();
  }

  /** Something comes now: frames of a reply, or else an answer to a PING. */
  reads({ flows = false } = {}): void {
    this.lastReadMs = this.clock.now();
    if (flows) this.keepalive.hasFlowed = true;
  }

  /** Whole seconds, since alarms are a few milliseconds late. */
  get #elapsedMs(): string {
    return `${Math.floor((this.clock.now() - this.#startMs) / 1_000)} s`;
  }
}

Deno.test("Keepalive asks after 20 s of silence, and gives up 10 s after that", () => {
  const watched = new FakeWatched();
  watched.keepalive.begin();
  watched.until(19_999);
  assertEquals(watched.heard, []);
  watched.until(60_000);
  assertMatch(watched.heard.join(), /^ping at 20 s,given up at 30 s after 300\d\d$/);
  assertEquals(watched.timers.pending, 0);
});

Deno.test("Keepalive counts silence from what came last, and from when the calls began", () => {
  const watched = new FakeWatched();
  watched.keepalive.begin();
  watched.until(15_000);
  watched.reads({ flows: true });
  watched.until(34_990);
  assertEquals(watched.heard, []);
  watched.until(35_010);
  assertEquals(watched.heard, ["ping at 35 s"]);
  const idle = new FakeWatched();
  idle.reads(); // and nothing for an hour, in which nobody called
  idle.until(3_600_000);
  idle.keepalive.begin();
  idle.until(3_619_990);
  assertEquals(idle.heard, []);
  idle.until(3_620_010);
  assertEquals(idle.heard, ["ping at 3620 s"]);
});

Deno.test("Keepalive asks again after 301 s, or after 20 s where the backend has sent something since", () => {
  const watched = new FakeWatched();
  watched.keepalive.begin();
  for (const atMs of [20_100, 321_200, 622_300]) {
    watched.until(atMs);
    watched.reads(); // the answer
  }
  assertEquals(watched.heard, ["ping at 20 s", "ping at 321 s", "ping at 622 s"]);
  watched.until(700_000);
  watched.reads({ flows: true });
  watched.until(719_990);
  assertEquals(watched.heard.length, 3);
  watched.until(720_010);
  assertEquals(watched.heard.slice(3), ["ping at 720 s"]);
  watched.until(800_000);
  assertMatch(watched.heard.at(-1)!, /^given up at 730 s after 300\d\d$/);
});

Deno.test("Keepalive takes whatever comes for an answer, and late calls for a part of the same silence", () => {
  const watched = new FakeWatched();
  watched.keepalive.begin();
  watched.until(10_000);
  watched.isBusy = false; // that call gave up
  watched.until(15_000);
  watched.isBusy = true;
  watched.keepalive.begin();
  watched.until(20_010);
  assertEquals(watched.heard, ["ping at 20 s"]);
  watched.until(25_000);
  watched.reads({ flows: true });
  watched.until(44_000);
  assertEquals(watched.heard.length, 1);
  watched.until(45_100);
  assertEquals(watched.heard, ["ping at 20 s", "ping at 45 s"]);
});

Deno.test("Keepalive asks nothing where nobody waits, and goes on with the next call", () => {
  const watched = new FakeWatched();
  watched.keepalive.begin();
  watched.isBusy = false;
  watched.until(100_000);
  assertEquals([watched.heard, watched.timers.pending], [[], 0]);
  watched.isBusy = true;
  watched.keepalive.begin();
  watched.until(100_010); // it owed an answer all the while
  assertEquals(watched.heard, ["ping at 100 s"]);
  watched.keepalive.stop();
  watched.until(200_000);
  assertEquals([watched.heard.length, watched.timers.pending], [1, 0]);
});

Deno.test("Keepalive gives a backend up that owes an answer and gives no sign of life", async () => {
  await withRig({ backendTimeoutMs: 600_000 }, async (rig) => {
    const caller = await rig.caller();
    rig.backend.answersPings = false;
    const [shared, passed] = [caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.advance(19_900);
    assertEquals(rig.backend.seen("PING").length, 0);
    await rig.advance(200);
    assertEquals(rig.backend.seen("PING").length, 1);
    await rig.advance(9_800);
    assertEquals([shared.status, rig.backends.length], [undefined, 1]);
    await rig.advance(200);
    const text = "the connection to the backend was lost: no sign of life for 30 s";
    for (const call of [shared, passed]) call.expectsFailure(14, text);
    assertEquals([rig.backends.length, rig.backends[0]!.socket.isClosed], [2, true]);
    rig.onRequest = (request) => request.echoes();
    const next = caller.call(GET, "3");
    await rig.settle();
    next.expects(0, "re:3");
  });
});

Deno.test("Keepalive asks an idle backend nothing, and a patient one rarely", async () => {
  // Answers to questions about descriptors would allow for more, as any sign of life.
  await withRig({ backendTimeoutMs: 10_000_000, asksDescriptors: false }, async (rig) => {
    const caller = await rig.caller();
    const first = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).echoes();
    await rig.advance(3_600_000);
    first.expects(0, "re:1");
    assertEquals(rig.backend.seen("PING").length, 0, "no call is open");
    const watch = caller.call(PUT, "2");
    await rig.advance(310_000);
    assertEquals(rig.backend.seen("PING").length, 1);
    await rig.advance(20_000);
    assertEquals(rig.backend.seen("PING").length, 2);
    await rig.advance(3_000_000);
    assertEquals(rig.backend.seen("PING").length, 11, "one in five minutes");
    rig.request(1).begins(["news"]); // by which a server forgives what came before
    await rig.advance(30_000);
    assertEquals(rig.backend.seen("PING").length, 12);
    rig.request(1).ends();
    await rig.advance(600_000);
    assertEquals(rig.backend.seen("PING").length, 12);
    watch.expects(0, "news");
  });
});

Deno.test("Keepalive does not take slow data for silence", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).begins();
    for (let i = 0; i < 20; i++) {
      await rig.advance(15_000);
      rig.request(0).sends("tick");
    }
    rig.request(0).ends();
    await rig.settle();
    assertEquals([call.messages.length, rig.backend.seen("PING").length], [20, 0]);
  });
});

Deno.test("Keepalive notices a silent backend although no call waits for long", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.backend === rig.backends[0] || request.echoes();
    const caller = await rig.caller();
    rig.backend.answersPings = false;
    let call = caller.call(PUT, "0");
    for (let second = 1; second <= 35; second++) {
      await rig.advance(500);
      call.cancels();
      await rig.advance(500);
      call = caller.call(PUT, String(second));
    }
    await rig.settle();
    assertEquals(rig.backends.length, 2);
    call.expects(0, "re:35");
  });
});

Deno.test("Keepalive watches no idle connection that is let go of, though its end takes a while", async () => {
  await withRig({ asksDescriptors: false }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    await rig.advance(6_000); // what watched the connecting is over
    caller.leaves();
    await rig.settle();
    rig.proxy.close();
    assertEquals([rig.backend.socket.isClosed, rig.timers.pending], [false, 0]);
  });
});
