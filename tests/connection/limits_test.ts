import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FRAME, SETTING } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import {
  block,
  concat,
  continuation,
  data,
  goAway,
  headers,
  pattern,
  ping,
  priority,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const { cancel, enhanceYourCalm } = ERROR_CODE;
const HEAD = block(REQUEST);
const REPLY = logOf([{ headers: RESPONSE }, { data: "answer" }, { headers: TRAILERS }]);
const ROLES = ["client", "server"] as const;

/** More of anything than any peer may send at once. */
const FLOOD = 25_000;

/** A peer of a server whose clock the test moves. */
class TimedPeer extends ScriptedPeer {
  nowMs = 1_000;
  nextId = 1;

  override sends(...frames: Uint8Array[]): void {
    this.connection.receive(concat(...frames), this.nowMs ?? 0); // the handshake comes before the field
  }

  /** Opens so many streams, and gives their ids. */
  begins(count: number): number[] {
    const ids = Array.from({ length: count }, (_, i) => this.nextId + 2 * i);
    this.nextId += 2 * count;
    this.sends(...ids.map((id) => headers(id, HEAD, { endStream: true })));
    return ids;
  }

  cancels(ids: readonly number[]): void {
    this.sends(...ids.map((id) => rstStream(id, cancel)));
  }

  /** Throws away what was written and told. */
  forgets(): void {
    this.outputBytes();
    this.sink.take();
    this.sink.streams.clear();
    this.connection.drained();
  }
}

/** Sends until the connection is over; how often that was. */
function floods(peer: ScriptedPeer, frames: (i: number) => Uint8Array[], most = FLOOD): number {
  for (let i = 0; i < most; i++) {
    peer.sends(...frames(i));
    if (peer.connection.failed !== undefined) return i + 1;
    peer.sink.events.length = 0;
    if (i % 256 === 0) peer.outputBytes();
  }
  return most;
}

Deno.test("Connection as a server ends one that opens and resets streams in the same reads", () => {
  const peer = new TimedPeer("server");
  const count = floods(peer, () => {
    const id = (peer.nextId += 2);
    return [headers(id, HEAD, { endStream: true }), rstStream(id, cancel)];
  });
  assert(count > 4_000 && count < 4_200, `${count}`);
  peer.expectsFailure(enhanceYourCalm);
});

Deno.test("Connection as a server ends one that resets streams a little later for ever", () => {
  const peer = new TimedPeer("server");
  let resets = 0;
  for (; peer.connection.failed === undefined && resets < 200_000; resets += 100) {
    const ids = peer.begins(100);
    peer.nowMs += 5;
    peer.cancels(ids);
    if (peer.connection.failed === undefined) peer.forgets();
  }
  assert(resets > 20_000 && resets < 30_000, `${resets}`);
  peer.expectsFailure(enhanceYourCalm);
});

Deno.test("Connection as a server ends one that makes it reset streams, by whatever fault", () => {
  const faults: Record<string, (id: number) => Uint8Array[]> = {
    "a window beyond its limit": (id) => [windowUpdate(id, 2 ** 31 - 1)],
    "WINDOW_UPDATE of 0": (id) => [windowUpdate(id, 0)],
    "DATA after the end": (id) => [data(id, "late")],
    "HEADERS after the end": (id) => [headers(id, HEAD, { endStream: true })],
    "PRIORITY of a wrong size": (id) => [raw(FRAME.priority, { streamId: id }, pattern(4))],
  };
  for (const [name, fault] of Object.entries(faults)) {
    const peer = new TimedPeer("server");
    const count = floods(peer, () => {
      const id = (peer.nextId += 2);
      return [headers(id, HEAD, { endStream: true }), ...fault(id)];
    });
    assert(count < 4_200, `${name}: ${count}`);
    peer.expectsFailure(enhanceYourCalm);
  }
});

Deno.test("Connection as a server ends one that opens ever more streams beyond the limit", () => {
  const peer = new TimedPeer("server");
  peer.begins(4_096);
  assertEquals(peer.connection.openStreams, 4_096);
  peer.forgets();
  const count = floods(peer, () => [headers(peer.nextId += 2, HEAD, { endStream: true })]);
  assert(count < 4_200, `${count}`);
  peer.expectsFailure(enhanceYourCalm);
});

Deno.test("Connection as a server takes streams that come after its GOAWAY calmly", () => {
  const peer = new TimedPeer("server");
  peer.connection.drain();
  peer.connection.finishDrain();
  assertEquals(floods(peer, () => [headers(peer.nextId += 2, HEAD)], 10_000), 10_000);
});

Deno.test("Connection as a server lets a client give up a thousand calls it has just begun", () => {
  const peer = new TimedPeer("server");
  for (let round = 0; round < 10; round++) {
    const ids = peer.begins(1_000);
    peer.cancels(ids);
    assertEquals(peer.connection.failed, undefined, `round ${round}`);
    peer.forgets();
    peer.nowMs += 1_000;
  }
});

Deno.test("Connection as a server lets everything that is open be given up at once", () => {
  const peer = new TimedPeer("server");
  for (let round = 0; round < 3; round++) {
    const ids = peer.begins(4_096);
    peer.nowMs += 5_000;
    peer.cancels(ids);
    assertEquals([peer.connection.failed, peer.connection.openStreams], [undefined, 0]);
    peer.forgets();
  }
});

Deno.test("Connection as a server lets resets and its own answers to the same deadlines cross", () => {
  const peer = new TimedPeer("server");
  for (let round = 0; round < 30; round++) {
    const ids = peer.begins(2_000);
    peer.nowMs += 100;
    for (const id of ids) peer.connection.sendFinalHeaders(peer.stream(id), []);
    peer.cancels(ids);
    assertEquals(peer.connection.failed, undefined, `round ${round}`);
    peer.forgets();
  }
});

Deno.test("Connection as a server lets one call in two be cancelled, for ever", () => {
  const peer = new TimedPeer("server");
  for (let round = 0; round < 500; round++) {
    const ids = peer.begins(200);
    peer.nowMs += 1;
    for (const id of ids.slice(0, 100)) peer.connection.relay(peer.stream(id), REPLY);
    peer.cancels(ids.slice(100));
    assertEquals(peer.connection.failed, undefined, `round ${round}`);
    peer.forgets();
    peer.sends(windowUpdate(0, 600));
  }
});

Deno.test("Connection as a client lets a backend refuse whatever it is asked", () => {
  const peer = new ScriptedPeer("client");
  for (let i = 0; i < FLOOD; i++) {
    const stream = peer.opens({ endStream: true });
    peer.sends(rstStream(stream.id, ERROR_CODE.refusedStream));
    peer.sink.streams.clear();
    peer.sink.take();
  }
  assertEquals(peer.connection.failed, undefined);
});

for (const role of ROLES) {
  Deno.test(`Connection as a ${role} ends one that floods it with frames that ask for nothing`, () => {
    const bound: Record<string, [most: number, frames: (id: number) => Uint8Array[]]> = {
      "SETTINGS": [5_100, () => [settings()]],
      "SETTINGS ack": [5_100, () => [settingsAck()]],
      "SETTINGS that change the window": [5_100, () => [settings([SETTING.initialWindowSize, 9])]],
      "PING": [5_100, () => [ping(1)]],
      "PING ack": [5_100, () => [ping(1, { ack: true })]],
      "PRIORITY": [5_100, (id) => [priority(id)]],
      "empty DATA": [5_100, (id) => [data(id, "")]],
      "padding without DATA": [5_100, (id) => [data(id, "", { padding: 0 })]],
      "a frame of an unknown type": [5_100, () => [raw(0xbb, {})]],
      "an extension on a stream": [5_100, (id) => [raw(0xf7, { streamId: id }, pattern(9))]],
      "WINDOW_UPDATE of a closed stream": [20_100, () => [windowUpdate(1, 1)]],
      "RST_STREAM of a closed stream": [20_100, () => [rstStream(1, cancel)]],
      ...role === "client" && {
        "GOAWAY": [5_100, () => [goAway(2 ** 31 - 1, 0)]],
        "interim responses": [5_100, (id) => [headers(id, [[":status", "103"]])]],
      },
    };
    for (const [name, [most, frames]] of Object.entries(bound)) {
      const peer = new ScriptedPeer(role);
      const id = withAClosedStream(peer);
      if (role === "client" && name !== "interim responses") peer.sends(headers(id, RESPONSE));
      const count = floods(peer, () => frames(id));
      assert(count > most / 6 && count < most, `${name}: ${count}`);
      peer.expectsFailure(enhanceYourCalm);
    }
  });

  Deno.test(`Connection as a ${role} takes a few such frames each second for ever`, () => {
    const random = rng(7);
    const peer = new ScriptedPeer(role);
    const id = withAClosedStream(peer);
    for (let second = 1; second < 1_000; second++) {
      const kinds = [ping(1), settings(), priority(id), raw(99, {}), windowUpdate(1, 1)];
      for (let i = 0; i < 100; i++) {
        peer.connection.receive(kinds[Math.floor(random() * 5)]!, second * 1_000);
      }
      assertEquals(peer.connection.failed, undefined);
      peer.outputBytes();
      peer.sink.take();
    }
  });
}

/** Stream 1 is closed by the peer, stream 3 is open: its id. */
function withAClosedStream(peer: ScriptedPeer): number {
  if (peer.role === "client") {
    peer.opens();
    peer.opens();
    peer.sends(rstStream(1, cancel));
  } else {
    peer.sends(headers(1, HEAD), rstStream(1, cancel), headers(3, HEAD));
  }
  peer.outputBytes();
  return 3;
}

Deno.test("Connection as a server ends a flood of SETTINGS sooner, the more streams they change", () => {
  const peer = new TimedPeer("server");
  peer.begins(4_096);
  peer.forgets();
  const count = floods(peer, (i) => [settings([SETTING.initialWindowSize, 1_000 + i])]);
  assert(count > 256 && count < 320, `${count}`); // it is more than BDP estimation ever sends
});

Deno.test("Connection as a server ends a header block of empty pieces", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, HEAD, { endHeaders: false }));
  const empty = continuation(1, new Uint8Array(0), { endHeaders: false });
  assert(floods(peer, () => [empty]) < 100);
  peer.expectsFailure(enhanceYourCalm);
});

Deno.test("Connection as a server counts empty pieces of header blocks that do end", () => {
  const peer = new TimedPeer("server");
  const nothing = new Uint8Array(0);
  const count = floods(peer, () => {
    const id = peer.nextId += 2;
    return [
      headers(id, HEAD, { endHeaders: false, endStream: true }),
      ...Array.from({ length: 20 }, () => continuation(id, nothing, { endHeaders: false })),
      continuation(id, nothing),
    ];
  });
  assert(count < 300, `${count}`);
  peer.expectsFailure(enhanceYourCalm);
});

Deno.test("Connection as a server answers a PING for whatever it sends, as BDP estimation asks", () => {
  const peer = new TimedPeer("server", { settings: [[SETTING.initialWindowSize, 2 ** 30]] });
  peer.sends(windowUpdate(0, 2 ** 30));
  const [id] = peer.begins(1);
  const stream = peer.stream(id!);
  const log = logOf([{ headers: RESPONSE }], { ended: false });
  for (let i = 0; i < 2 * FLOOD; i++) {
    log.appendData(pattern(10), 0, 10);
    peer.connection.relay(stream, log);
    log.dropBefore(stream.position);
    peer.sends(ping(1));
    peer.outputBytes();
  }
  assertEquals(peer.connection.failed, undefined);
});

Deno.test("Connection as a client answers a PING for each message it is sent", () => {
  const peer = new ScriptedPeer("client");
  const stream = peer.opens();
  peer.sink.reactions = {
    data: (at, _bytes, from, to) => peer.connection.consumed(at, to - from),
  };
  peer.sends(headers(stream.id, RESPONSE));
  assertEquals(floods(peer, () => [data(stream.id, "message"), ping(1)], 2 * FLOOD), 2 * FLOOD);
});

Deno.test("Connection takes any number of WINDOW_UPDATEs of what is open", () => {
  for (const role of ROLES) {
    const peer = new ScriptedPeer(role);
    const id = withAClosedStream(peer);
    const updates = () => [windowUpdate(id, 1), windowUpdate(0, 1)];
    assertEquals(floods(peer, updates, 4 * FLOOD), 4 * FLOOD);
  }
});

Deno.test("Connection takes DATA that was under way when it reset the stream", () => {
  const peer = new TimedPeer("server");
  const id = peer.nextId;
  peer.sends(headers(id, HEAD));
  peer.connection.sendFinalHeaders(peer.stream(id), []);
  assertEquals(floods(peer, () => [data(id, "late")]), FLOOD);
});

Deno.test("Connection as a server answers HTTP/1 in HTTP/1 only while it has said nothing yet", () => {
  const request = new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n");
  const silent = new ScriptedPeer("server", { settings: "none" });
  silent.connection.receive(request, 0);
  assertEquals(silent.connection.failed?.code, ERROR_CODE.http11Required);
  assertEquals(
    new TextDecoder().decode(silent.outputBytes()).slice(0, 24),
    "HTTP/1.1 400 Bad Request",
  );
  const greeted = new ScriptedPeer("server", { settings: "none" });
  greeted.output();
  greeted.connection.receive(request, 0);
  greeted.expectsFailure(ERROR_CODE.protocolError);
});

Deno.test("Connection as a server gives the connection's window back only when it is not paused", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, HEAD));
  peer.connection.pauseData(true);
  for (let i = 0; i < 64; i++) {
    peer.sends(data(1, pattern(10_000)));
    peer.connection.consumed(peer.stream(1), 10_000);
  }
  assert(peer.output().every((frame) => "streamId" in frame && frame.streamId === 1));
  peer.connection.pauseData(false);
  peer.expects(windowUpdate(0, 640_000));
  peer.connection.pauseData(false);
  peer.expects();
});
