import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { dirname } from "node:path";
import { clearStaleSocket, dialPlain, listen, type Socket } from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { until, within } from "../support/waiting.ts";

const TIMEOUT = { timeoutMs: 10_000 };

function noTrouble(error: Error): void {
  throw error;
}

Deno.test("listen on a path hands over who connects there, and dialPlain is one who does", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  const { promise, resolve } = Promise.withResolvers<[Socket, string]>();
  const listening = listen({ path }, (...given) => resolve(given), noTrouble);
  assertEquals([listening.port, listening.hostname], [0, path]);
  const client = await dialPlain({ host: "", port: 0, path }, TIMEOUT);
  const [socket, remote] = await promise;
  assertEquals(remote, `unix:${path}`);
  const into = new Uint8Array(8);
  await client.write(Uint8Array.of(1, 2));
  assertEquals(await within(socket.read(into), "bytes"), 2);
  await socket.write(Uint8Array.of(3));
  assertEquals(await within(client.read(into), "bytes"), 1);
  listening.close();
  await client.write(Uint8Array.of(1)); // who is connected stays so
  assertEquals(await within(socket.read(into), "bytes"), 1);
  client.close();
  socket.close();
});

Deno.test("Listening.close removes the file of a unix socket, whoever removed it before", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  for (const isRemoved of [false, true]) {
    const listening = listen({ path }, () => {}, noTrouble);
    if (isRemoved) Deno.removeSync(path);
    listening.close();
    await until(() => !isThere(path), "the file to go"); // once the accept that waits lets go of it
  }
});

Deno.test("listen on a path throws what the system says", () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  const listening = listen({ path }, () => {}, noTrouble);
  assertThrows(() => listen({ path }, () => {}, noTrouble), Deno.errors.AddrInUse);
  listening.close();
  const nowhere = folder.free("nowhere/s.sock");
  assertThrows(() => listen({ path: nowhere }, () => {}, noTrouble), Deno.errors.NotFound);
});

Deno.test("listen on a path gives the socket its mode, whatever the umask, and leaves nothing beside it", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  const before = Deno.umask();
  for (const [umask, mode] of [[0o077, 0o666], [0o000, 0o600], [0o022, 0o660]] as const) {
    Deno.umask(umask);
    const listening = listen({ path, mode }, (socket) => socket.close(), noTrouble);
    Deno.umask(before);
    assertEquals(Deno.lstatSync(path).mode! & 0o777, mode);
    assertEquals([...Deno.readDirSync(dirname(path))].map(({ name }) => name), ["s.sock"]);
    (await dialPlain({ host: "", port: 0, path }, TIMEOUT)).close();
    listening.close();
    assertFalse(isThere(path));
  }
});

Deno.test("listen on a path with a mode is alone there, and leaves nothing behind where it cannot be", () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  const mode = 0o660;
  const listening = listen({ path, mode }, () => {}, noTrouble);
  assertThrows(() => listen({ path, mode }, () => {}, noTrouble), Deno.errors.AddrInUse);
  assertEquals([...Deno.readDirSync(dirname(path))].map(({ name }) => name), ["s.sock"]);
  listening.close();
  const nowhere = folder.free("nowhere/s.sock");
  assertThrows(() => listen({ path: nowhere, mode }, () => {}, noTrouble), Deno.errors.NotFound);
});

Deno.test("listen on a path that only just fits has its mode all the same", async () => {
  using folder = new CertificateFolder();
  const free = folder.free("s");
  const path = free + "s".repeat(107 - free.length); // sun_path has room for that and a zero (unix(7))
  const listening = listen({ path, mode: 0o600 }, () => {}, noTrouble);
  assertEquals(Deno.lstatSync(path).mode! & 0o777, 0o600);
  listening.close();
  await until(() => !isThere(path), "the file to go");
});

Deno.test("dialPlain rejects when nobody listens at the path", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  await assertRejects(() => dialPlain({ host: "", port: 0, path }, TIMEOUT), Deno.errors.NotFound);
  folder.write("s.sock", "");
  await assertRejects(
    () => dialPlain({ host: "", port: 0, path }, TIMEOUT),
    Deno.errors.ConnectionRefused,
  );
});

Deno.test("clearStaleSocket removes a socket that nobody listens at any more", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  leaveBehind(path);
  assert(isThere(path));
  await clearStaleSocket(path);
  assertFalse(isThere(path));
  await clearStaleSocket(path); // nothing is there
});

Deno.test("clearStaleSocket leaves alone what is in use, or no socket", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  const accepted: Socket[] = [];
  const listening = listen({ path }, (socket) => accepted.push(socket), noTrouble);
  await clearStaleSocket(path);
  assert(isThere(path));
  const client = await dialPlain({ host: "", port: 0, path }, TIMEOUT);
  const into = new Uint8Array(1);
  await client.write(into);
  listening.close();
  client.close();
  for (const socket of accepted) socket.close();
  const file = folder.write("file", "precious");
  await clearStaleSocket(file);
  assertEquals(Deno.readTextFileSync(file), "precious");
});

function isThere(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSocket === true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** What a process that was killed leaves behind. */
function leaveBehind(path: string): void {
  const listener = Deno.listen({ transport: "unix", path: `${path}~` });
  Deno.renameSync(`${path}~`, path); // so that it is not found when it is to be removed
  listener.close();
}
