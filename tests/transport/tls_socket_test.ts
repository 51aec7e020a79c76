import {
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertThrows,
} from "@std/assert";
import type { Socket } from "../../lib/transport/mod.ts";
import { within } from "../support/waiting.ts";
import { AUTHORITY, closeAll, PUBLIC, readBytes, TlsPair, TlsServer } from "./tls_fixture.ts";

/** More than the system's buffers of one connection on this machine hold. */
const FAR_TOO_MUCH = 64 * 2 ** 20;

const CHUNK_BYTES = 65_536;

/** No power of two, so that no piece looks like one that belongs elsewhere. */
const PERIOD = 251;
const PATTERN = Uint8Array.from({ length: 300_000 }, (_, i) => i % PERIOD);

Deno.test("TlsSocket moves bytes both ways", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  await client.write(Uint8Array.of(1, 2));
  assertEquals(await readBytes(server, 2), Uint8Array.of(1, 2));
  await server.write(Uint8Array.of(3, 4, 5));
  assertEquals(await readBytes(client, 3), Uint8Array.of(3, 4, 5));
});

Deno.test("TlsSocket.read fills what it is given, and keeps the rest for the next", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  await client.write(pattern(0, 1_000));
  const into = new Uint8Array(400);
  let got = 0;
  for (const want of [400, 400, 200]) {
    const count = await within(server.read(into), "bytes");
    assertEquals([count, into.subarray(0, want)], [want, pattern(got, want)]);
    got += want;
  }
});

Deno.test("TlsSocket.read takes many records together into one large buffer", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  for (let i = 0; i < 50; i++) await client.write(pattern(i * 100, 100));
  let reads = 0;
  let got = 0;
  const into = new Uint8Array(CHUNK_BYTES);
  while (got < 5_000) {
    const count = (await within(server.read(into), "bytes"))!;
    assertEquals(into.subarray(0, count), pattern(got, count));
    got += count;
    reads++;
  }
  assertLess(reads, 50);
});

Deno.test("TlsSocket loses nothing of what is larger than all buffers", async () => {
  await using pair = await TlsPair.open();
  for (const [from, to] of [[pair.client, pair.server], [pair.server, pair.client]] as const) {
    const sending = (async () => {
      for (let at = 0; at < 8 * 2 ** 20; at += CHUNK_BYTES) {
        assertEquals(await from.write(pattern(at, CHUNK_BYTES)), CHUNK_BYTES);
      }
    })();
    for (let at = 0; at < 8 * 2 ** 20; at += CHUNK_BYTES) {
      assertEquals(await readBytes(to, CHUNK_BYTES), pattern(at, CHUNK_BYTES));
    }
    await sending;
  }
});

for (const writer of ["client", "server"] as const) {
  Deno.test(`TlsSocket.write of a ${writer} waits for a peer that does not read, and fails at close`, async () => {
    await using pair = await TlsPair.open();
    const { sent, failure } = fill(pair[writer]);
    await isStill(sent);
    assertLess(sent(), FAR_TOO_MUCH);
    pair[writer].close();
    assertInstanceOf(await within(failure, "the write to fail"), Deno.errors.Interrupted);
  });
}

for (const [writer, reader] of [["client", "server"], ["server", "client"]] as const) {
  Deno.test(`TlsSocket of a ${reader} takes at last what it has kept waiting, and in order`, async () => {
    await using pair = await TlsPair.open();
    let sent = 0;
    const sending = (async () => {
      for (; sent < 16 * 2 ** 20; sent += CHUNK_BYTES) {
        await pair[writer].write(pattern(sent, CHUNK_BYTES));
      }
    })();
    await isStill(() => sent);
    assertLess(sent, 16 * 2 ** 20);
    for (let at = 0; at < 16 * 2 ** 20; at += CHUNK_BYTES) {
      assertEquals(await readBytes(pair[reader], CHUNK_BYTES), pattern(at, CHUNK_BYTES));
    }
    await sending;
  });
}

Deno.test("TlsSocket.write fails once the peer is gone", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  const { sent, failure } = fill(server);
  await isStill(sent);
  client.close();
  assertInstanceOf(await within(failure, "the write to fail"), Error);
});

Deno.test("TlsSocket.close ends a read that waits, and whatever comes after it", async () => {
  await using pair = await TlsPair.open();
  const { client } = pair;
  const reading = assertRejects(() => client.read(new Uint8Array(1)), Deno.errors.Interrupted);
  client.close();
  await reading;
  await assertRejects(() => client.read(new Uint8Array(1)), Deno.errors.BadResource);
  await assertRejects(() => client.write(Uint8Array.of(1)), Deno.errors.BadResource);
  assertThrows(() => client.close(), Deno.errors.BadResource);
});

Deno.test("TlsSocket.close is the end for the peer, after all that was written", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  await server.write(pattern(0, 200_000));
  server.close();
  assertEquals(await readBytes(client, 200_000), pattern(0, 200_000));
  assertEquals(await client.read(new Uint8Array(1)), null);
  assertEquals(await client.read(new Uint8Array(1)), null);
});

Deno.test("TlsSocket.close says goodbye as TLS demands (RFC 8446 §6.1)", async () => {
  using server = new TlsServer(PUBLIC);
  const tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const options = { hostname: "localhost", caCerts: [AUTHORITY.cert], alpnProtocols: ["h2"] };
  using client = await Deno.startTls(tcp, options);
  await client.handshake();
  const { socket } = await server.connection();
  await socket.write(Uint8Array.of(1));
  socket.close();
  const into = new Uint8Array(2);
  assertEquals([await client.read(into), await client.read(into)], [1, null]); // else UnexpectedEof
});

Deno.test("TlsSocket.close does not mind what was not read", async () => {
  await using pair = await TlsPair.open();
  const { client, server } = pair;
  await client.write(pattern(0, 100_000));
  await readBytes(server, 10);
  server.close();
  await drain(client);
});

/** Writes until a write fails. */
function fill(socket: Socket): { sent: () => number; failure: Promise<unknown> } {
  let sent = 0;
  const bytes = new Uint8Array(CHUNK_BYTES);
  async function writeAll(): Promise<void> {
    while (sent < FAR_TOO_MUCH) sent += await socket.write(bytes);
  }
  return { sent: () => sent, failure: writeAll().catch((error) => error) };
}

/** Resolves when `count` does not grow any more. */
async function isStill(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

/** Reads to the end, in order or not. */
async function drain(socket: Socket): Promise<void> {
  const into = new Uint8Array(CHUNK_BYTES);
  try {
    while (await within(socket.read(into), "the end") !== null);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  await closeAll(socket);
}

/** Bytes that tell where in a stream they stand. */
function pattern(from: number, count: number): Uint8Array {
  const offset = from % PERIOD;
  return PATTERN.subarray(offset, offset + count);
}
