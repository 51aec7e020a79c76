import { assert, assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { Timers, Turn } from "../../lib/transport/mod.ts";
import { SETTING } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import {
  concat,
  headers,
  pattern,
  ping,
  PREFACE,
  raw,
  REQUEST,
  RESPONSE,
  settings,
  windowUpdate,
} from "../support/frames.ts";
import { logOf } from "../support/scripted_peer.ts";
import { FakeClock } from "../support/fake_clock.ts";
import type { MemorySocket } from "../support/memory_socket.ts";
import { PumpFixture, settle, upTo } from "./pump_fixture.ts";

/** Output beyond this stops reading. */
const STOP_READING_BYTES = 2 ** 20;

/** A PING frame. */
const PING_BYTES = 17;

/** Frames of a type that nobody knows, which are read and ignored (RFC 9113 §5.5). */
const FILLER = raw(0xfa, {}, new Uint8Array(16_384));

// ---- writing

Deno.test("Pump writes what the connection begins with in the first turn, in one write", async () => {
  const { socket, pump } = new PumpFixture();
  assertEquals(socket.writeSizes.length, 0);
  await settle();
  assertEquals(socket.writeSizes.length, 1);
  pump.abort();
});

Deno.test("Pump.flushSoon makes one write a turn, however often it is asked", async () => {
  const fixture = await PumpFixture.ready();
  for (let turn = 1; turn <= 3; turn++) {
    for (let i = 0; i < 100; i++) {
      fixture.say();
      fixture.pump.flushSoon();
    }
    assertEquals(fixture.socket.writeSizes.length, turn - 1, "not before the turn is over");
    await settle();
    assertEquals(fixture.socket.writeSizes.length, turn);
  }
  assertEquals(fixture.takeNumbers(), upTo(300));
  fixture.pump.abort();
});

Deno.test("Pump.flushSoon takes its place in a turn once", async () => {
  class CountingTurn extends Turn {
    added = 0;
    override add(pump: { flush(): void }): void {
      this.added++;
      super.add(pump);
    }
  }
  const turn = new CountingTurn();
  const fixture = await PumpFixture.ready({ turn });
  const before = turn.added;
  for (let i = 0; i < 10; i++) fixture.pump.flushSoon();
  assertEquals(turn.added, before + 1);
  await settle();
  fixture.pump.flushSoon();
  assertEquals(turn.added, before + 2);
  fixture.pump.abort();
});

Deno.test("Pump.flushSoon writes nothing when there is nothing", async () => {
  const fixture = await PumpFixture.ready();
  fixture.pump.flushSoon();
  await settle();
  assertEquals(fixture.socket.writeSizes, []);
  assertEquals(fixture.socket.closes, 0);
  fixture.pump.abort();
});

Deno.test("Pump writes an answer without being asked", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.sends(concat(ping(1), ping(2)));
  await settle();
  assertEquals(fixture.takeFrames().map(({ type }) => type), ["PING ack", "PING ack"]);
  assertEquals(fixture.socket.writeSizes.length, 1);
  fixture.pump.abort();
});

Deno.test("Pump has one write under way and gathers the rest for the next", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  for (let i = 0; i < 10; i++) {
    fixture.say();
    fixture.pump.flushSoon();
    await settle();
  }
  assertEquals(fixture.socket.writeSizes, [PING_BYTES]);
  fixture.socket.accept();
  await settle();
  assertEquals(fixture.socket.writeSizes, [PING_BYTES, 9 * PING_BYTES]);
  fixture.socket.accept();
  await settle();
  assertEquals(fixture.takeNumbers(), upTo(10));
  assert(!fixture.socket.isWriting);
  fixture.pump.abort();
});

Deno.test("Pump never lets the rest of a partial write land after later output", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const fixture = await PumpFixture.ready();
    const random = rng(seed);
    fixture.socket.hold();
    for (let step = 0; step < 200; step++) {
      if (random() < 0.5) {
        fixture.say(1 + Math.floor(random() * 5));
        fixture.pump.flushSoon();
      }
      if (random() < 0.7) await settle();
      if (fixture.socket.isWriting) {
        fixture.socket.accept(Math.ceil(random() * fixture.socket.writeSizes.at(-1)!));
      }
    }
    fixture.pump.flushSoon();
    await settle();
    while (fixture.socket.isWriting) {
      fixture.socket.accept();
      await settle();
    }
    assertEquals(fixture.takeNumbers(), upTo(fixture.said), `seed ${seed}`);
    assert(fixture.said > 50, `seed ${seed}`);
    fixture.pump.abort();
    await fixture.running;
    assertEquals(fixture.ends, [undefined], `seed ${seed}`);
  }
});

Deno.test("Pump tells the connection that its output went out, so that streams go on", async () => {
  const fixture = await PumpFixture.ready();
  const log = logOf([{ headers: RESPONSE }, { data: pattern(3_000_000) }]);
  fixture.sink.reactions = { writable: (stream) => fixture.connection.relay(stream, log) };
  fixture.socket.sends(concat(
    settings([SETTING.initialWindowSize, 2 ** 31 - 1]),
    windowUpdate(0, 2 ** 31 - 65_536),
    headers(1, REQUEST, { endStream: true }),
  ));
  await settle();
  fixture.connection.relay(fixture.sink.streams.get(1)!, log);
  fixture.pump.flushSoon();
  for (let i = 0; i < 20; i++) await settle();
  const payloads = fixture.takeFrames().filter((frame) => frame.type === "DATA");
  assertEquals(payloads.reduce((sum, { text }) => sum + text.length, 0), 3_000_000);
  assertEquals(payloads.at(-1)?.endStream, true);
  assert(Math.max(...fixture.socket.writeSizes) < 400_000, "all of it waited at once");
  fixture.pump.abort();
});

// ---- reading

Deno.test("Pump reads with little room while it gets little", async () => {
  const fixture = await PumpFixture.ready();
  for (let i = 1; i <= 50; i++) {
    fixture.socket.sends(ping(i));
    await settle();
  }
  assertEquals(new Set(fixture.socket.readSizes), new Set([4_096]));
  assertEquals(fixture.reads, 50);
  fixture.pump.abort();
});

Deno.test("Pump reads with more room once it fills what it had", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.sends(concat(...Array(40).fill(FILLER)), ping(7));
  for (let i = 0; i < 5; i++) await settle();
  const { readSizes } = fixture.socket;
  assertEquals(new Set(readSizes.slice(0, 9)), new Set([65_536])); // that of 4 KiB waited already
  assertEquals(fixture.takeFrames().length, 1);
  fixture.pump.abort();
  await fixture.running;
});

Deno.test("Pump reads with little room again once little comes, twice in a row", async () => {
  const fixture = await PumpFixture.ready();
  const { socket } = fixture;
  for (const [frames, room] of [[FILLER, 65_536], [ping(1), 65_536], [ping(2), 4_096]] as const) {
    socket.sends(frames);
    await settle();
    assertEquals(socket.readSizes.at(-1), room);
  }
  fixture.pump.abort();
  await fixture.running;
});

Deno.test("Pump gives back its room however it ends", async () => {
  for (let i = 0; i < 400; i++) { // more than may have it at once
    const fixture = await PumpFixture.ready();
    fixture.socket.sends(FILLER);
    await settle();
    assertEquals(fixture.socket.readSizes.at(-1), 65_536, `${i}`);
    if (i % 3 === 0) fixture.pump.abort();
    else if (i % 3 === 1) fixture.socket.ends();
    else fixture.socket.ends(new Deno.errors.ConnectionReset());
    await fixture.running;
  }
});

Deno.test("Pump waits with little room on almost all of many connections that are idle after a burst", async () => {
  const fixtures: PumpFixture[] = [];
  for (let i = 0; i < 500; i++) {
    const fixture = await PumpFixture.ready();
    fixtures.push(fixture);
    fixture.socket.sends(concat(FILLER, FILLER, FILLER, FILLER, FILLER));
    await settle();
    assertEquals([fixture.socket.isReading, fixture.socket.unread], [true, 0]);
  }
  const large = fixtures.filter(({ socket }) => socket.readSizes.at(-1)! > 4_096);
  assertEquals(large.length, 64);
  for (const { pump, running } of fixtures) {
    pump.abort();
    await running;
  }
});

Deno.test("Pump.isDrained says whether the last read found less than it had room for", async () => {
  const fixture = await PumpFixture.ready();
  const seen: boolean[] = [];
  fixture.onReceived = () => seen.push(fixture.pump.isDrained);
  fixture.socket.sends(FILLER.subarray(0, 4_096));
  await settle();
  fixture.socket.sends(FILLER.subarray(4_096));
  await settle();
  fixture.socket.sends(ping(1));
  await settle();
  assertEquals(seen, [false, true, true]);
  fixture.pump.abort();
});

Deno.test("Pump gives the connection the time of each read, and tells the owner after it", async () => {
  const fixture = await PumpFixture.ready();
  const seen: [number, number][] = [];
  fixture.onReceived = () => seen.push([fixture.connection.nowMs, fixture.sink.events.length]);
  for (const nowMs of [5, 6.5]) {
    fixture.nowMs = nowMs;
    fixture.socket.sends(headers(nowMs === 5 ? 1 : 3, REQUEST));
    await settle();
  }
  const [first, second] = seen;
  assertEquals([first![0], second![0]], [5, 6.5]);
  assert(second![1] > first![1], "the sink hears before the owner does");
  fixture.pump.abort();
});

Deno.test("Pump does not read on from a peer that does not read, and resumes when it does", async () => {
  const fixture = await PumpFixture.ready();
  const { socket } = fixture;
  socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle(); // this write waits from now on
  const enough = Math.ceil((STOP_READING_BYTES + 1) / PING_BYTES);
  fixture.onReceived = () => fixture.say(Math.ceil(enough / 4));
  for (let i = 1; i <= 4; i++) {
    assert(socket.isReading, `read ${i} is wanted`);
    socket.sends(ping(i, { ack: true }));
    await settle();
  }
  assert(!socket.isReading, "reading has stopped");
  fixture.onReceived = () => {};
  socket.sends(ping(5));
  await settle();
  assert(socket.unread > 0);
  socket.accept();
  await settle();
  assert(!socket.isReading, "the peer has read next to nothing yet");
  socket.accept();
  await settle();
  assertEquals(socket.unread, 0);
  while (socket.isWriting) {
    socket.accept();
    await settle();
  }
  const frames = fixture.takeFrames();
  assertEquals(frames.filter(({ type }) => type === "PING").length, fixture.said);
  assertEquals(frames.at(-1)?.type, "PING ack");
  fixture.pump.abort();
});

Deno.test("Pump reads on while the output that waits is at its limit and not above", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  fixture.say(Math.floor(STOP_READING_BYTES / PING_BYTES)); // a PING short of the limit
  fixture.socket.sends(ping(1, { ack: true }));
  await settle();
  assert(fixture.socket.isReading);
  fixture.pump.abort();
});

// ---- the end

Deno.test("Pump.close closes once the output is written", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  fixture.say(3);
  fixture.pump.close();
  await settle();
  fixture.socket.accept(20);
  await settle();
  assertEquals(fixture.socket.closes, 0);
  fixture.say(2); // said while the write is under way, and still sent
  fixture.socket.accept();
  await settle();
  assertEquals(fixture.socket.closes, 0);
  fixture.socket.accept();
  await fixture.running;
  assertEquals(fixture.takeNumbers(), upTo(5));
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

Deno.test("Pump.close closes at once when nothing is to be written", async () => {
  const fixture = await PumpFixture.ready();
  fixture.pump.close();
  await fixture.running;
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

Deno.test("Pump.abort closes now, whatever waits", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  fixture.say();
  fixture.pump.abort();
  assertEquals(fixture.socket.closes, 1);
  await fixture.running;
  assertEquals(fixture.ends, [undefined]);
  assertEquals(fixture.takeFrames(), []);
});

Deno.test("Pump.abort ends one that had stopped reading", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  fixture.say(Math.ceil(STOP_READING_BYTES / PING_BYTES) + 1);
  fixture.socket.sends(ping(1, { ack: true }));
  await settle();
  assert(!fixture.socket.isReading);
  fixture.pump.abort();
  await fixture.running;
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

Deno.test("Pump ends when the peer has sent its last, without trouble", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.ends();
  await fixture.running;
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

Deno.test("Pump receives what came before the end", async () => {
  const fixture = await PumpFixture.ready();
  fixture.sink.take();
  fixture.socket.sends(headers(1, REQUEST));
  fixture.socket.ends();
  await fixture.running;
  assertEquals(fixture.sink.take().map(({ event }) => event), ["headers"]);
  assertEquals(fixture.ends, [undefined]);
});

Deno.test("Pump tells the owner of a read that failed", async () => {
  const fixture = await PumpFixture.ready();
  const reset = new Deno.errors.ConnectionReset("reset by peer");
  fixture.socket.ends(reset);
  await fixture.running;
  assertEquals([fixture.socket.closes, fixture.ends.length], [1, 1]);
  assertStrictEquals(fixture.ends[0], reset);
});

Deno.test("Pump tells the owner of a write that failed, once, though it ends the read as well", async () => {
  const fixture = await PumpFixture.ready();
  const broken = new Deno.errors.BrokenPipe("broken pipe");
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  assert(fixture.socket.isReading);
  fixture.socket.failWrite(broken);
  await fixture.running;
  await settle();
  assertEquals([fixture.socket.closes, fixture.ends.length], [1, 1]);
  assertStrictEquals(fixture.ends[0], broken);
});

Deno.test("Pump tells the owner of a write that failed when it had stopped reading", async () => {
  const fixture = await PumpFixture.ready();
  const broken = new Deno.errors.BrokenPipe("broken pipe");
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  fixture.say(Math.ceil(STOP_READING_BYTES / PING_BYTES) + 1);
  fixture.socket.sends(ping(1, { ack: true }));
  await settle();
  assert(!fixture.socket.isReading);
  fixture.socket.failWrite(broken);
  await fixture.running;
  assertEquals([fixture.socket.closes, fixture.ends.length], [1, 1]);
  assertStrictEquals(fixture.ends[0], broken);
});

Deno.test("Pump tells of the first trouble alone when read and write both fail", async () => {
  const fixture = await PumpFixture.ready();
  const reset = new Deno.errors.ConnectionReset("reset by peer");
  fixture.socket.hold();
  fixture.say();
  fixture.pump.flushSoon();
  await settle();
  fixture.socket.ends(reset); // closing then interrupts the write
  await fixture.running;
  await settle();
  assertEquals([fixture.socket.closes, fixture.ends.length], [1, 1]);
  assertStrictEquals(fixture.ends[0], reset);
});

Deno.test("Pump makes an Error of whatever else was thrown", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.ends("odd");
  await fixture.running;
  assertInstanceOf(fixture.ends[0], Error);
  assertEquals(fixture.ends[0]?.message, "odd");
});

Deno.test("Pump writes the GOAWAY of a connection that failed, and then closes", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.hold();
  fixture.socket.sends(raw(0, { streamId: 0 }, new Uint8Array(1))); // DATA on stream 0
  await settle();
  assertEquals(fixture.socket.closes, 0);
  fixture.socket.accept();
  await fixture.running;
  const [last] = fixture.takeFrames();
  assertEquals(last, { type: "GOAWAY", lastStreamId: 0, code: "PROTOCOL_ERROR" });
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

// ---- lingering

Deno.test("Pump that lingers closes its own end, throws away what comes, and goes when the peer has gone", async () => {
  const timers = new Timers(new FakeClock());
  const fixture = await PumpFixture.ready({ lingers: timers });
  const { socket, pump } = fixture;
  fixture.say(2);
  pump.close();
  await settle();
  assertEquals(fixture.takeNumbers(), [1, 2]);
  assertEquals([socket.halfCloses, socket.closes], [1, 0]);
  socket.sends(ping(7));
  pump.close();
  await settle();
  assertEquals([socket.unread, socket.writeSizes.length, fixture.reads], [0, 1, 0]);
  socket.ends();
  await fixture.running;
  assertEquals([socket.halfCloses, socket.closes, ...fixture.ends], [1, 1, undefined]);
  assertEquals(timers.pending, 0);
});

Deno.test("Pump that lingers waits for a peer for 1 s, for 1 MiB, and for none that was reset", async () => {
  const ends: Record<string, (socket: MemorySocket, clock: FakeClock) => void> = {
    "1 s": (_, clock) => clock.advance(1_004),
    "more than 1 MiB": (socket) => socket.sends(new Uint8Array(2 ** 20), new Uint8Array(1)),
    "a reset": (socket) => socket.ends(new Deno.errors.ConnectionReset("reset by peer")),
  };
  for (const [what, comes] of Object.entries(ends)) {
    const clock = new FakeClock();
    const fixture = await PumpFixture.ready({ lingers: new Timers(clock) });
    fixture.socket.sends(raw(0, { streamId: 0 }, new Uint8Array(1))); // DATA on stream 0: the connection fails
    await settle();
    assertEquals(fixture.takeFrames().at(-1)?.type, "GOAWAY");
    fixture.socket.sends(new Uint8Array(2 ** 19));
    clock.advance(990);
    await settle();
    assertEquals(fixture.socket.closes, 0, what);
    if (what !== "1 s") fixture.socket.sends(new Uint8Array(2 ** 19));
    await settle();
    assertEquals(fixture.socket.closes, 0, what);
    comes(fixture.socket, clock);
    await fixture.running;
    assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined], what);
  }
});

Deno.test("Pump that lingers is closed at once by abort", async () => {
  const timers = new Timers(new FakeClock());
  const fixture = await PumpFixture.ready({ lingers: timers });
  fixture.pump.close();
  await settle();
  assertEquals(fixture.socket.closes, 0);
  fixture.pump.abort();
  await fixture.running;
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
  assertEquals(timers.pending, 0);
});

Deno.test("Pump closes its socket exactly once, whatever it is told and how often", async () => {
  const orders = ["ccaaf", "aaccf", "cfca", "afcfac"];
  for (const order of orders) {
    const fixture = await PumpFixture.ready();
    fixture.say();
    for (const letter of order) {
      if (letter === "c") fixture.pump.close();
      else if (letter === "a") fixture.pump.abort();
      else fixture.pump.flushSoon();
      if (order.length % 2 === 0) await settle();
    }
    await fixture.running;
    fixture.pump.abort();
    fixture.pump.close();
    await settle();
    assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined], order);
  }
});

Deno.test("Pump takes it in its stride when the socket was closed under it", async () => {
  const fixture = await PumpFixture.ready();
  fixture.socket.close();
  await fixture.running;
  assertEquals(fixture.ends.length, 1);
  assertEquals(fixture.socket.closes, 2); // the second one failed with BadResource
});

Deno.test("Pump of a connection whose peer talks no HTTP/2 says so and goes", async () => {
  const fixture = new PumpFixture();
  fixture.socket.sends(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
  await fixture.running;
  assertEquals(fixture.takeFrames().at(-1)?.type, "GOAWAY");
  assertEquals([fixture.socket.closes, ...fixture.ends], [1, undefined]);
});

Deno.test("Pump receives a preface that comes in single bytes", async () => {
  const fixture = new PumpFixture();
  for (const byte of concat(PREFACE, settings(), ping(9))) {
    fixture.socket.sends(Uint8Array.of(byte));
    await settle();
  }
  assertEquals(fixture.takeFrames().at(-1), {
    type: "PING ack",
    opaque: "00 00 00 00 00 00 00 09",
  });
  fixture.pump.abort();
});
