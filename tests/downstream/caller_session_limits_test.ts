/** What the proxy does about peers that mean harm: see tests/connection/limits_test.ts for the frames themselves. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ERROR_CODE, latin1, SETTING } from "../../lib/wire/mod.ts";
import { type CallerEnd, requestHead } from "../support/caller_end.ts";
import { ascii, concat, data, headers, ping, PREFACE, settings } from "../support/frames.ts";
import { MemorySocket } from "../support/memory_socket.ts";
import type { SettingPairs } from "../support/peer_end.ts";
import { GET, type ProxyRig, withRig } from "../support/proxy_rig.ts";

/** What the proxy said to a connection that says nothing by itself. */
interface Stray {
  readonly socket: MemorySocket;
  readonly said: Uint8Array[];
}

async function stray(rig: ProxyRig, says: Uint8Array): Promise<Stray> {
  const said: Uint8Array[] = [];
  const socket = new MemorySocket({ written: (bytes) => said.push(bytes), closed: () => {} });
  rig.proxy.serve(socket, "stray");
  socket.sends(says);
  await rig.settle();
  return { socket, said };
}

function textOf({ said }: Stray): string {
  const all = concat(...said);
  return latin1(all, 0, all.length);
}

/** Failures of callers' connections so far, by code. */
function failures(rig: ProxyRig): Record<number, number> {
  return Object.fromEntries(rig.proxy.counters.connectionErrors.caller);
}

Deno.test("CallerSession closes a connection that sends no preface within ten seconds", async () => {
  await withRig(async (rig) => {
    const silent = await stray(rig, new Uint8Array(0));
    const half = await stray(rig, PREFACE.subarray(0, 10));
    const unsettled = await stray(rig, PREFACE);
    await rig.advance(9_900);
    for (const { socket } of [silent, half, unsettled]) assertEquals(socket.isClosed, false);
    await rig.advance(200);
    for (const { socket } of [silent, half, unsettled]) assertEquals(socket.isClosed, true);
    assertEquals(failures(rig), { [ERROR_CODE.settingsTimeout]: 3 });
  });
});

Deno.test("CallerSession leaves a connection alone that is idle after its SETTINGS", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    await rig.advance(24 * 3_600_000);
    const call = caller.call(GET, "late");
    await rig.settle();
    rig.request(0).echoes();
    await rig.settle();
    call.expects(0, "re:late");
  });
});

Deno.test("CallerSession greets a caller that waits for SETTINGS before it says anything", async () => {
  await withRig(async (rig) => {
    const waiting = await stray(rig, new Uint8Array(0));
    assertEquals(waiting.said, []);
    await rig.advance(105);
    assertEquals(waiting.said.length, 1);
    waiting.socket.sends(concat(PREFACE, settings()));
    await rig.advance(60_000);
    assertEquals([waiting.socket.isClosed, waiting.said.length], [false, 2]);
    waiting.socket.ends();
    await rig.settle();
  });
});

Deno.test("CallerSession answers an HTTP/1 request in HTTP/1, and closes", async () => {
  const requests = [
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /hello.v1.Hello/SayHello HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "PRI /x HTTP/1.1\r\n\r\n",
    "HEAD /healthz HTTP/1.0\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\n\r\n",
    `GET /${"long".repeat(2_000)} HTTP/1.1\r\n\r\n`,
  ];
  for (const request of requests) {
    await withRig(async (rig) => {
      const client = await stray(rig, ascii(request));
      const text = textOf(client);
      assert(text.startsWith("HTTP/1.1 400 Bad Request\r\n"), text);
      assertStringIncludes(text, "connection: close\r\n");
      const [head, body] = text.split("\r\n\r\n");
      assertEquals(body, "This port speaks gRPC over HTTP/2, not HTTP/1.\n");
      assertStringIncludes(head!, `content-length: ${body!.length}`);
      assertEquals(client.socket.isClosed, true);
      assertEquals(failures(rig), { [ERROR_CODE.http11Required]: 1 });
    });
  }
});

Deno.test("CallerSession answers what is neither HTTP/2 nor HTTP/1 with GOAWAY, and closes", async () => {
  for (
    const says of ["\x16\x03\x01\x02\0\x01\0", "INVALID CONNECTION PREFACE\r\n\r\n", "GETTING"]
  ) {
    await withRig(async (rig) => {
      const client = await stray(rig, ascii(says));
      const text = textOf(client);
      assertEquals(text.includes("HTTP/1.1"), false);
      assertStringIncludes(text, "no HTTP/2 preface");
      assertEquals(client.socket.isClosed, true);
      assertEquals(failures(rig), { [ERROR_CODE.protocolError]: 1 });
    });
  }
});

Deno.test("CallerSession closes a connection that fails and does not read why", async () => {
  await withRig(async (rig) => {
    const client = await rig.caller();
    client.socket.hold();
    client.sends(...Array.from({ length: 20_000 }, () => ping(1)));
    await rig.settle();
    assertEquals(failures(rig), { [ERROR_CODE.enhanceYourCalm]: 1 });
    assertEquals(client.socket.isClosed, false);
    await rig.advance(1_100);
    assertEquals([client.socket.isClosed, rig.gauges.connections], [true, 0]);
  });
});

Deno.test("CallerSession ends one connection for a flood, and no call of another", async () => {
  await withRig(async (rig) => {
    const [good, bad] = [await rig.caller(), await rig.caller()];
    const call = good.call(GET, "asked");
    const lost = bad.call(GET, "asked");
    await rig.settle();
    for (let i = 0; i < 100; i++) {
      bad.sends(...Array.from({ length: 200 }, () => ping(2)));
      await rig.settle();
    }
    assertEquals([bad.socket.isClosed, good.socket.isClosed], [true, false]);
    assertEquals(bad.seen("GOAWAY").at(-1)?.code, "ENHANCE_YOUR_CALM");
    rig.request(0).replies(["answer"]);
    await rig.settle();
    call.expects(0, "answer");
    assertEquals(lost.status, undefined);
    rig.expectsRequests(1);
  });
});

Deno.test("CallerSession is read no more while its caller leaves answers wait unread", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.socket.hold();
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 500; i++) {
        caller.call(GET, "late", { metadata: [["grpc-timeout", "never"]] });
      }
      await rig.settle();
    }
    const queued = caller.wire.length;
    caller.socket.release();
    await rig.settle();
    const largest = Math.max(...caller.wire.slice(queued).map(({ length }) => length));
    assert(largest > 2 ** 20 && largest < 2 * 2 ** 20, `${largest}`);
    assertEquals(caller.calls.every(({ reply }) => reply.endedBy === "HEADERS"), true);
  });
});

/** The memory a caller's requests take: DATA it has been able to send so far. */
class Uploads {
  sent = 0;
  #caller: CallerEnd;
  #windows = new Map<number, number>();

  constructor(caller: CallerEnd) {
    this.#caller = caller;
  }

  /** Sends pieces on each call, the one that is furthest behind first, as far as both windows allow. */
  async run(
    rig: ProxyRig,
    options: { calls: number; bytes: number; piece: number },
  ): Promise<void> {
    const { calls, bytes, piece } = options;
    const prefix = Uint8Array.of(0, bytes >> 24, bytes >> 16, bytes >> 8, bytes);
    const opened = Array.from({ length: calls }, (_, i) =>
      this.#caller.begins((id) => [
        headers(id, [...requestHead(GET), ["x-n", String(i)]]),
        data(id, prefix),
      ]));
    this.sent += 5 * calls;
    for (const { id } of opened) this.#windows.set(id, 5);
    for (let progress = true; progress;) {
      progress = false;
      opened.sort((one, other) => this.#windows.get(one.id)! - this.#windows.get(other.id)!);
      for (const call of opened) {
        const done = this.#windows.get(call.id)!;
        const left = Math.min(bytes + 5 - done, piece);
        const mayOnStream = 131_072 + call.reply.granted - done;
        if (left <= 0 || call.reply.endedBy !== undefined || left > mayOnStream) continue;
        if (left > this.#allowance - this.sent) continue;
        this.#caller.sends(
          data(call.id, new Uint8Array(left), { endStream: done + left === bytes + 5 }),
        );
        this.#windows.set(call.id, done + left);
        this.sent += left;
        progress = true;
      }
      await rig.settle();
    }
  }

  get #allowance(): number {
    const updates = this.#caller.seen("WINDOW_UPDATE").filter(({ streamId }) => streamId === 0);
    return updates.reduce((sum, { increment }) => sum + increment, 65_535);
  }
}

Deno.test("CallerSession holds at most 16 MiB of requests that the backend does not take", async () => {
  const narrow: SettingPairs = [[SETTING.initialWindowSize, 0]];
  await withRig({ backendSettings: narrow }, async (rig) => {
    const caller = await rig.caller();
    const uploads = new Uploads(caller);
    await uploads.run(rig, { calls: 200, bytes: 1_000_000, piece: 16_000 });
    assert(uploads.sent > 15 * 2 ** 20 && uploads.sent < 18 * 2 ** 20, `${uploads.sent}`);
    // Then it takes them, and all is well.
    rig.onRequest = (request) => request.replies(["taken"]);
    rig.backend.sends(settings([SETTING.initialWindowSize, 2 ** 30]));
    rig.backend.grants(2 ** 30);
    await rig.settle();
    const before = uploads.sent;
    await uploads.run(rig, { calls: 20, bytes: 1_000_000, piece: 16_000 });
    assertEquals(uploads.sent - before, 20 * 1_000_005);
    for (const call of caller.calls.slice(200)) call.expects(0, "taken");
  });
});

Deno.test("CallerSession lets calls pass that could fill its memory while they wait for the rest", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.replies(["taken"]);
    const caller = await rig.caller();
    const uploads = new Uploads(caller);
    // All at the same pace, so that none is whole before 16 MiB are there; and no time passes.
    await uploads.run(rig, { calls: 200, bytes: 200_000, piece: 16_000 });
    for (const call of caller.calls) call.expects(0, "taken");
    assertEquals(uploads.sent, 200 * 200_005);
    assert((rig.passed["size"] ?? 0) > 0, Deno.inspect(rig.passed));
  });
});

Deno.test("CallerSession gives room back when the calls that took it are gone", async () => {
  const narrow: SettingPairs = [[SETTING.initialWindowSize, 0]];
  await withRig({ backendSettings: narrow }, async (rig) => {
    const caller = await rig.caller();
    const uploads = new Uploads(caller);
    for (let round = 0; round < 3; round++) {
      const before = uploads.sent;
      const from = caller.calls.length;
      await uploads.run(rig, { calls: 100, bytes: 1_000_000, piece: 16_000 });
      assert(uploads.sent - before > 15 * 2 ** 20, `round ${round}: ${uploads.sent - before}`);
      for (const call of caller.calls.slice(from)) call.cancels();
      await rig.settle();
    }
  });
});

Deno.test("CallerSession stays quiet about a client that was cut off while it waited", async () => {
  await withRig(async (rig) => {
    const client = await stray(rig, ascii("GET / HTTP/1.1\r\n\r\n"));
    client.socket.ends(new Error("Connection reset by peer"));
    await rig.settle();
    assertEquals(client.socket.isClosed, true);
    assertEquals(rig.heard.filter((heard) => heard.startsWith("fault")), []);
  });
});
