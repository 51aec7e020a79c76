/**
 * Header tables of any size. Where size updates stand in a block, and the least of several sizes, is in
 * `tests/conformance/rfc9113_6_5_settings_test.ts`, the encoder itself in `tests/wire/hpack_encoder_test.ts`; here are
 * the proxy's two sides, and HTTP/2 of node's (nghttp2), which insists on each update.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import {
  connect as connectHttp2,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { assert, assertEquals } from "@std/assert";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { FRAME, readUint24, SETTING } from "../../lib/wire/mod.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { beside, STORED_LONG } from "../support/beside.ts";
import { concat, type Pairs, PREFACE, settings } from "../support/frames.ts";
import { isQuestion } from "../support/questions.ts";
import { type PeerEnd, WIDE } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { within } from "../support/waiting.ts";

const LIST = "/test.Service/ListItems";

/** A write of another service, which leaves this one's results stored. */
const OTHER_PUT = "/test.Other/PutItem";

const DEFAULT_BYTES = 4_096;
const SIZES = [0, 1_024, DEFAULT_BYTES, 65_536];

/** Long, the same in each call, and small enough to deserve a place in a table of 4,096 bytes. */
const METADATA: Pairs = Array.from(
  { length: 6 },
  (_, i) => [`x-long-${i}`, `${i} `.padEnd(500, "long ")],
);

const CALLS = 5;

Deno.test("Scenario 20: a caller may announce any header table, at first and between calls", async () => {
  for (const size of SIZES) {
    await withRig(async (rig) => {
      const caller = await rig.caller([...WIDE, [SETTING.headerTableSize, size]]);
      await answersFive(rig, (i) => caller.call(PUT, `${i}`, { metadata: METADATA }));
      const update = size < DEFAULT_BYTES ? [size] : [];
      assertEquals(updatesOf(caller, 0), [update, ...none(CALLS * 2 - 1)], `${size}`);
      for (const next of [DEFAULT_BYTES, 0, DEFAULT_BYTES]) {
        const seen = blocksOf(caller).length;
        caller.sends(settings([SETTING.headerTableSize, next]));
        await answersFive(rig, (i) => caller.call(PUT, `${i}`, { metadata: METADATA }));
        const [said, ...rest] = updatesOf(caller, seen);
        assert(said!.every((bytes) => bytes <= next), `${said} of ${next}`);
        assert(next > 0 || said!.length === 1, "a reduction is said");
        assertEquals(rest, none(CALLS * 2 - 1));
      }
      assertEquals(caller.seen("GOAWAY"), []);
    });
  }
});

Deno.test("Scenario 20: a backend may announce any header table, at first and between calls", async () => {
  for (const size of SIZES) {
    const backendSettings = [...WIDE, [SETTING.headerTableSize, size]] as const;
    await withRig({ backendSettings }, async (rig) => {
      rig.backend.grants(2 ** 30);
      const caller = await rig.caller();
      const ask = (i: number) => caller.call(PUT, `${i}`, { metadata: METADATA });
      await answersFive(rig, ask);
      const update = size < DEFAULT_BYTES ? [size] : [];
      assertEquals(updatesOf(rig.backend, 0), [update, ...none(CALLS - 1)], `${size}`);
      for (const next of [DEFAULT_BYTES, 0, DEFAULT_BYTES]) {
        const seen = blocksOf(rig.backend).length;
        rig.backend.sends(settings([SETTING.headerTableSize, next]));
        await answersFive(rig, ask);
        const [said, ...rest] = updatesOf(rig.backend, seen);
        assert(said!.every((bytes) => bytes <= next), `${said} of ${next}`);
        assert(next > 0 || said!.length === 1, "a reduction is said");
        assertEquals(rest, none(CALLS - 1));
      }
      assertEquals([rig.backends.length, rig.backend.seen("GOAWAY")], [1, []]);
    });
  }
});

Deno.test("Scenario 20: a size that sinks and rises within one SETTINGS, or twice before a block, is said as the least and the last", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const ask = (i: number) => caller.call(PUT, `${i}`, { metadata: METADATA });
    await answersFive(rig, ask);
    const key = SETTING.headerTableSize;
    for (const together of [true, false]) {
      for (const end of [caller, rig.backend]) {
        const seen = blocksOf(end).length;
        if (together) end.sends(settings([key, 0], [key, DEFAULT_BYTES]));
        else end.sends(settings([key, 0]), settings([key, DEFAULT_BYTES]));
        await answersFive(rig, ask);
        assertEquals(updatesOf(end, seen)[0], [0, DEFAULT_BYTES]);
      }
    }
  });
});

Deno.test("Scenario 20: a table that changes in the middle of a stream is said before its trailers", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).begins(["a"], { headers: METADATA });
    await rig.settle();
    caller.sends(settings([SETTING.headerTableSize, 0]));
    rig.request(0).ends({ trailers: METADATA });
    await rig.settle();
    call.expects(0, "a");
    assertEquals(call.trailers, [["grpc-status", "0"], ...METADATA]);
    assertEquals(updatesOf(caller, 0), [[], [0]]);
  });
});

Deno.test("Scenario 20: callers with tables of all sizes share one flight and its stored result, each in its own coding", async () => {
  await withRig(async (rig) => {
    const callers = [];
    for (const size of SIZES) {
      callers.push(await rig.caller([...WIDE, [SETTING.headerTableSize, size]]));
    }
    const joined = callers.map((caller) => caller.call(LIST, "1"));
    await rig.settle();
    rig.request(0).replies(["a", "b"], { headers: METADATA, trailers: METADATA });
    await rig.settle();
    const hits = callers.map((caller) => caller.call(LIST, "1"));
    await rig.settle();
    for (const call of [...joined, ...hits]) expectsMetadata(call, "a", "b");
    rig.expectsRequests(1);
    const own = callers.map((caller) => caller.call(GET, "fails", { metadata: [["x", "1"]] }));
    await rig.settle();
    rig.backend.socket.ends(); // which makes a reply of the proxy's own
    await rig.settle();
    for (const call of own) assertEquals(call.status, 14);
    for (const [i, caller] of callers.entries()) {
      const update = SIZES[i]! < DEFAULT_BYTES ? [SIZES[i]!] : [];
      assertEquals(updatesOf(caller, 0)[0], update);
    }
  });
});

for (const size of SIZES) {
  Deno.test(`Scenario 20: node's HTTP/2 on both sides, with a header table of ${size} and then of others, reads all metadata`, async () => {
    const server = await MetadataServer.start(size);
    await using local = await beside(server, STORED_LONG);
    const session = connectHttp2(`http://127.0.0.1:${local.port}`, {
      settings: { headerTableSize: size },
    });
    using _leaving = { [Symbol.dispose]: () => session.destroy() };
    const trouble: unknown[] = [];
    session.on("error", (error) => trouble.push(error));
    session.on("goaway", (code) => trouble.push(`GOAWAY ${code}`));
    let asked = 0;
    const acknowledged: Promise<void>[] = [];
    for (const change of [undefined, DEFAULT_BYTES, 0, DEFAULT_BYTES]) {
      if (change !== undefined) {
        for (const end of [session, ...server.sessions]) {
          acknowledged.push(changeTable(end, change)); // goes out with the next frame
        }
      }
      for (let call = 0; call < CALLS; call++) {
        for (const path of [OTHER_PUT, GET]) { // a GET's like is answered from what is stored, too
          const { head, tail } = await within(ask(session, path, `${asked}`), "an answer");
          for (const [name, value] of METADATA) {
            assertEquals([head[name], tail[name]], [value, value], `${name} of ${change}`);
          }
        }
        asked += call % 2;
      }
    }
    await within(Promise.all(acknowledged), "an acknowledgement of all SETTINGS");
    assertEquals(trouble, []);
    assertEquals(server.wrong, []);
    assert(local.outcomes.hit > 0);
  });
}

/** Five calls, one after the other, with metadata there and back. */
async function answersFive(rig: ProxyRig, ask: (i: number) => CallerCall): Promise<void> {
  for (let i = 0; i < CALLS; i++) {
    const call = ask(i);
    await rig.settle();
    const { fields } = rig.request(-1);
    assertEquals(fields.filter(([name]) => name.startsWith("x-long")), [...METADATA]);
    rig.request(-1).replies(["a"], { headers: METADATA, trailers: METADATA });
    await rig.settle();
    expectsMetadata(call, "a");
  }
}

function expectsMetadata(call: CallerCall, ...messages: string[]): void {
  call.expects(0, ...messages);
  assertEquals(call.reply.blocks[0]!.slice(-METADATA.length), [...METADATA]);
  assertEquals(call.trailers, [["grpc-status", "0"], ...METADATA]);
}

function none(count: number): number[][] {
  return Array.from({ length: count }, () => []);
}

/** The header blocks that the proxy wrote to this end, as they came. */
function blocksOf(end: PeerEnd): Uint8Array[] {
  let bytes = concat(...end.wire);
  if (bytes[0] === PREFACE[0]) bytes = bytes.subarray(PREFACE.length);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = readUint24(bytes, at);
    if (bytes[at + 3] === FRAME.headers) blocks.push(bytes.subarray(at + 9, at + 9 + length));
    at += 9 + length;
  }
  return blocks;
}

/** Size updates at the beginning of each block from number `from` on. */
function updatesOf(end: PeerEnd, from: number): number[][] {
  return blocksOf(end).slice(from).map((block) => {
    const updates: number[] = [];
    for (let at = 0; (block[at]! & 0xe0) === 0x20;) {
      let size = block[at++]! & 0x1f;
      if (size === 31) {
        for (let shift = 0;; shift += 7) {
          const byte = block[at++]!;
          size += (byte & 0x7f) * 2 ** shift;
          if (byte < 128) break;
        }
      }
      updates.push(size);
    }
    return updates;
  });
}

/** A server of node's that has metadata in each reply, and wants it in each request. */
class MetadataServer implements Disposable {
  readonly sessions = new Set<Http2Session>();
  readonly wrong: unknown[] = [];
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("session", (session: Http2Session) => this.sessions.add(session));
    server.on("sessionError", (error) => this.wrong.push(error));
    server.on("stream", (stream: ServerHttp2Stream, fields: IncomingHttpHeaders) => {
      const isOwn = isQuestion((name) => fields[name]?.toString());
      for (const [name, value] of isOwn ? [] : METADATA) {
        if (fields[name] !== value) this.wrong.push(`${name}: ${fields[name]}`);
      }
      const metadata = Object.fromEntries(METADATA);
      stream.on("error", (error) => this.wrong.push(error));
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...metadata }));
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", ...metadata },
        { waitForTrailers: true },
      );
      stream.end(Buffer.from(frameMessage(new Uint8Array(1))));
    });
  }

  static async start(headerTableSize: number): Promise<MetadataServer> {
    const server = createServer({ settings: { headerTableSize } });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new MetadataServer(server);
  }

  [Symbol.dispose](): void {
    for (const session of this.sessions) session.destroy();
    this.#server.close();
  }
}

function changeTable(session: Http2Session, headerTableSize: number): Promise<void> {
  return new Promise<void>((resolve, reject) =>
    session.settings({ headerTableSize }, (error) => error ? reject(error) : resolve())
  );
}

function ask(
  session: ReturnType<typeof connectHttp2>,
  path: string,
  asked: string,
): Promise<{ head: IncomingHttpHeaders; tail: IncomingHttpHeaders }> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    ":authority": "service.test",
    "content-type": "application/grpc",
    te: "trailers",
    ...Object.fromEntries(METADATA),
  });
  return new Promise((resolve, reject) => {
    let head: IncomingHttpHeaders = {};
    let tail: IncomingHttpHeaders = {};
    stream.on("response", (fields) => head = fields);
    stream.on("trailers", (fields) => tail = fields);
    stream.on("error", reject);
    stream.on("close", () => resolve({ head, tail }));
    stream.resume();
    stream.end(Buffer.from(frameMessage(new TextEncoder().encode(asked))));
  });
}
