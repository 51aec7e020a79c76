import { assert, assertEquals, assertFalse } from "@std/assert";
import { ConnStream } from "../../lib/transport/conn_stream.ts";
import { concat } from "../support/frames.ts";
import { until } from "../support/waiting.ts";
import { FakeConn } from "./fake_conn.ts";

const BYTES = Uint8Array.of(1, 2, 3);

Deno.test("ConnStream gives what is read, and what is written, in order", async () => {
  await using rig = await Rig.reading();
  const { conn, stream, got } = rig;
  assertFalse(stream.heard);
  for (let i = 0; i < 3; i++) await rig.sends(Uint8Array.of(i));
  assertEquals(concat(...got), Uint8Array.of(0, 1, 2));
  assert(stream.heard);
  conn.takes = 2; // a write need not be whole
  stream.write(BYTES);
  stream.write(Uint8Array.of(4));
  await until(() => stream.writableLength === 0, "all that was written");
  assertEquals(conn.written, [Uint8Array.of(1, 2), Uint8Array.of(3), Uint8Array.of(4)]);
});

Deno.test("ConnStream reads into more once it has filled what it had, and into little when little comes", async () => {
  await using rig = await Rig.reading();
  for (const size of [4_095, 4_096, 65_536, 10, 65_535, 10, 10]) {
    await rig.sends(new Uint8Array(size));
  }
  const [S, L] = [4_096, 65_536];
  assertEquals(rig.conn.rooms, [S, S, L, L, L, L, L, S]);
});

Deno.test("ConnStream gives back what it reads into however it ends", async () => {
  const ways: ((rig: Rig) => unknown)[] = [
    () => {}, // closed while a read is under way
    ({ conn }) => conn.ends(),
    ({ conn }) => conn.fails(new Deno.errors.ConnectionReset()),
    ({ conn, stream }) => { // closed while none is
      stream.hold();
      conn.sends(BYTES);
      return turn();
    },
    ({ conn }) => conn.last = BYTES,
  ];
  for (const [way, end] of ways.entries()) {
    for (let i = 0; i < 100; i++) {
      await using rig = await Rig.reading();
      for (const size of [4_096, 20_000]) { // few keep it over a read that does not fill it
        await rig.sends(new Uint8Array(size));
        assertEquals(rig.conn.rooms.at(-1), 65_536, `way ${way}, ${i}`);
      }
      await end(rig);
    }
  }
});

Deno.test("ConnStream lends no memory that it reads into again", async () => {
  await using rig = await Rig.reading();
  await rig.sends(BYTES);
  await rig.sends(Uint8Array.of(9, 9, 9));
  assertEquals(Uint8Array.from(rig.got[0]!), BYTES);
});

Deno.test("ConnStream.hold stops the reading after the read that is under way, release goes on", async () => {
  await using rig = await Rig.reading();
  const { conn, stream, got } = rig;
  stream.hold();
  conn.sends(BYTES);
  await until(() => got.length === 1, "what was under way");
  await turn();
  assertFalse(conn.isRead);
  stream.release();
  assert(conn.isRead);
  stream.release(); // once is enough
  await rig.sends(BYTES);
});

Deno.test("ConnStream tells when each write has gone to the system, however slow the peer reads", async () => {
  await using rig = await Rig.reading();
  const { conn, stream } = rig;
  const gate = Promise.withResolvers<void>();
  conn.gate = gate.promise;
  let done = 0;
  for (let i = 0; i < 3; i++) stream.write(BYTES, () => done++);
  await turn();
  assertEquals([done, conn.written.length], [0, 0]);
  gate.resolve();
  await until(() => done === 3, "all that was written");
  assertEquals(conn.written.length, 3);
});

Deno.test("ConnStream passes on the peer's end, and its own", async () => {
  await using rig = await Rig.reading();
  const { conn, stream } = rig;
  let hasEnded = false;
  stream.once("end", () => hasEnded = true);
  conn.ends();
  await until(() => hasEnded, "the end");
  stream.end(BYTES);
  await until(() => conn.halfCloses === 1, "the half-close");
  assertEquals(conn.written, [BYTES]);
});

Deno.test("ConnStream.destroy still sends what is written right after it, and closes once", async () => {
  await using rig = await Rig.reading();
  const { conn, stream } = rig;
  stream.destroy();
  stream.write(BYTES);
  stream.destroy();
  assertEquals(conn.closes, 0);
  await until(() => stream.closed, "the close");
  assertEquals([conn.closes, conn.written, stream.trouble], [1, [BYTES], undefined]);
});

Deno.test("ConnStream ends when a read fails, and keeps the reason without telling streams", async () => {
  await using rig = await Rig.reading();
  const { conn, stream } = rig;
  conn.fails(new Deno.errors.ConnectionReset("reset"));
  await until(() => stream.closed, "the close");
  assertEquals([stream.trouble?.message, conn.closes, stream.errored], ["reset", 1, null]);
});

Deno.test("ConnStream ends when a write fails, and what waits was not written", async () => {
  await using rig = await Rig.reading();
  const { conn, stream } = rig;
  conn.gate = Promise.reject("broken");
  conn.gate.catch(() => {});
  let isWritten = false;
  stream.write(BYTES, (error) => isWritten ||= !error);
  await until(() => stream.closed, "the close");
  await turn();
  assertEquals([stream.trouble?.message, conn.closes, stream.errored], ["broken", 1, null]);
  assertFalse(isWritten);
});

Deno.test("ConnStream is not troubled by a connection that was closed under it", async () => {
  await using rig = await Rig.reading();
  rig.conn.close();
  await until(() => rig.stream.closed, "the close");
});

/** A stream that is read from, over a connection of the test's. */
class Rig implements AsyncDisposable {
  readonly conn = new FakeConn();
  readonly stream = new ConnStream(this.conn);
  readonly got: Uint8Array[] = [];

  constructor() {
    this.stream.on("data", (bytes: Uint8Array) => this.got.push(bytes));
  }

  static async reading(): Promise<Rig> {
    const rig = new Rig();
    await until(() => rig.conn.isRead, "a read");
    return rig;
  }

  /** The peer sends; resolves when it was read and more is waited for. */
  async sends(bytes: Uint8Array): Promise<void> {
    await until(() => this.conn.isRead, "a read");
    this.conn.sends(bytes);
    await until(() => this.conn.isRead, "the next read");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stream.destroy();
    await until(() => this.stream.closed, "the close");
  }
}

function turn(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 0));
}
