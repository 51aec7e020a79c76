import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ascii } from "./frames.ts";
import { MemorySocket } from "./memory_socket.ts";

Deno.test("MemorySocket gives all that was sent in one read, and keeps what there was no room for", async () => {
  const socket = new MemorySocket();
  const into = new Uint8Array(4);
  const reading = socket.read(into);
  socket.sends(ascii("ab"));
  socket.sends(ascii("cde"));
  socket.ends();
  assertEquals([await reading, into], [4, ascii("abcd")]);
  assertEquals([await socket.read(into), into[0], await socket.read(into)], [1, 0x65, null]);
});

Deno.test("MemorySocket fails a second write under way, and bytes that change while they are written", async () => {
  const socket = new MemorySocket();
  const bytes = ascii("abc");
  assertEquals(await socket.write(bytes), 3);
  socket.hold();
  const held = socket.write(bytes);
  assertThrows(() => socket.write(bytes), Error, "Cannot write: a write is under way");
  socket.accept(2);
  assertEquals([await held, socket.takeWritten()], [2, ascii("abcab")]);
  void socket.write(bytes);
  bytes[1] = 0;
  assertThrows(() => socket.release(), Error, "the bytes changed while they were written");
});

Deno.test("MemorySocket.close interrupts what is under way, and what comes later is a bad resource", async () => {
  const socket = new MemorySocket();
  socket.hold();
  const pending = [socket.read(new Uint8Array(1)), socket.write(ascii("a"))];
  const interrupted = pending.map((each) => assertRejects(() => each, Deno.errors.Interrupted));
  socket.close();
  await Promise.all(interrupted);
  await assertRejects(() => socket.read(new Uint8Array(1)), Deno.errors.BadResource);
  await assertRejects(() => socket.write(ascii("a")), Deno.errors.BadResource);
  assertThrows(() => socket.close(), Deno.errors.BadResource);
});
