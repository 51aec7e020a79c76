import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { type Socket } from "../../lib/transport/mod.ts";
import { Authority } from "../support/certificates.ts";
import { within } from "../support/waiting.ts";
import {
  AUTHORITY,
  closeAll,
  MUTUAL,
  PUBLIC,
  readBytes,
  TlsServer,
  TRUSTING,
} from "./tls_fixture.ts";

const CLIENT_PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** TLS 1.2 record header of a handshake that is to come (RFC 8446 §5.1). */
const BEGINNING = Uint8Array.of(22, 3, 1, 2, 0);

Deno.test("listenTls takes callers that trust it, and says who they are not", async () => {
  using server = new TlsServer(PUBLIC);
  const client = await server.dial(TRUSTING);
  const { socket, peer } = await server.connection();
  assertMatch(peer.remote, /^127\.0\.0\.1:\d+$/);
  assertEquals(peer.identity, "");
  await client.write(Uint8Array.of(7));
  assertEquals(await readBytes(socket, 1), Uint8Array.of(7));
  await closeAll(client, socket);
  assertEquals(server.refused, []);
});

Deno.test("listenTls knows callers by their certificate when it asks for one", async () => {
  using server = new TlsServer(MUTUAL);
  const sockets: Socket[] = [];
  const identities: string[] = [];
  for (const name of ["a", "b", "a"]) {
    const own = await AUTHORITY.caller(name); // a certificate of its own each time
    const client = await server.dial({ ...own, ca: AUTHORITY.cert });
    const { socket, peer } = await server.connection(identities.length);
    identities.push(peer.identity);
    sockets.push(client, socket);
  }
  const [a, b, again] = identities;
  assertEquals(a, again);
  assertNotEquals(a, b);
  assertNotEquals(a, "");
  await closeAll(...sockets);
});

Deno.test("listenTls refuses callers without a certificate, or with one of another CA or time", async () => {
  using server = new TlsServer(MUTUAL);
  const stranger = await (await Authority.make("test CA")).caller("a");
  const early = Date.now() - 10_000;
  const late = await AUTHORITY.issue({ subject: ["CN=a"], notBeforeMs: 0, notAfterMs: early });
  const cases = [
    [{}, /^TLS: peer sent no certificates$/],
    [stranger, /^TLS: the peer's certificate is from no CA that is trusted here, or not valid now/],
    [late, /^TLS: the peer's certificate is from no CA that is trusted here, or not valid now/],
  ] as const;
  for (const [i, [own, why]] of cases.entries()) {
    const client = await server.dial({ ...TRUSTING, ...own }); // TLS 1.3 tells a client only later
    await reachesEnd(client);
    assertMatch((await server.refusals(i + 1))[i]!, why);
    await closeAll(client);
  }
  assertEquals(server.accepted, []);
});

Deno.test("listenTls refuses callers that do not offer h2", async () => {
  using server = new TlsServer(PUBLIC);
  for (const [i, alpnProtocols] of [[], ["http/1.1"]].entries()) {
    const tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    const options = { hostname: "localhost", caCerts: [AUTHORITY.cert], alpnProtocols };
    using client = await Deno.startTls(tcp, options);
    await reachesEnd(client);
    const why = (await server.refusals(i + 1))[i]!;
    assertMatch(why, [/did not agree on h2/, /support any known protocol/][i]!);
  }
  assertEquals(server.accepted, []);
});

Deno.test("listenTls refuses those who do not speak TLS", async () => {
  using server = new TlsServer(PUBLIC);
  using client = await plain(server);
  await client.write(CLIENT_PREFACE);
  await reachesEnd(client);
  assertEquals(await server.refusals(), ["TLS: the peer does not speak TLS"]);
});

Deno.test("listenTls says nothing of those who come and go without a word", async () => {
  using server = new TlsServer(PUBLIC);
  for (let i = 0; i < 3; i++) (await plain(server)).close();
  using talker = await plain(server);
  await talker.write(BEGINNING);
  await talker.closeWrite();
  await reachesEnd(talker);
  assertEquals(await server.refusals(), ["TLS: the peer hung up"]);
});

Deno.test("listenTls gives a handshake a limited time, however it is spent", async () => {
  using server = new TlsServer(PUBLIC, { handshakeMs: 100 });
  using silent = await plain(server);
  using slow = await plain(server);
  await slow.write(BEGINNING);
  const drip = setInterval(() => void slow.write(Uint8Array.of(1)).catch(() => {}), 20);
  await reachesEnd(silent);
  await reachesEnd(slow);
  clearInterval(drip);
  assertEquals(await server.refusals(), ["TLS: no handshake within 100 ms"]);
});

Deno.test("listenTls lets so many shake hands at once, and takes others again after that", async () => {
  using server = new TlsServer(PUBLIC, { maxHandshakes: 2 });
  const waiting = [await plain(server), await plain(server)];
  using turnedAway = await plain(server);
  await reachesEnd(turnedAway);
  assertEquals(server.refused, ["TLS: 2 handshakes are under way"]);
  for (const socket of waiting) {
    await socket.closeWrite();
    await reachesEnd(socket);
    socket.close();
  }
  const client = await server.dial(TRUSTING);
  await closeAll(client, (await server.connection()).socket);
});

Deno.test("Listening.close of listenTls ends handshakes under way, and leaves connections alone", async () => {
  using server = new TlsServer(PUBLIC);
  const client = await server.dial(TRUSTING);
  const { socket } = await server.connection();
  using half = await plain(server);
  await half.write(BEGINNING);
  using silent = await plain(server);
  server.listening.close();
  await reachesEnd(half);
  await reachesEnd(silent);
  await assertRejects(() => plain(server), Deno.errors.ConnectionRefused);
  await client.write(Uint8Array.of(1));
  assertEquals(await readBytes(socket, 1), Uint8Array.of(1));
  await closeAll(client, socket);
  assertEquals(server.refused, []);
  Object.assign(server.listening, { close: () => {} }); // it was closed
});

Deno.test("listenTls shows each connection the certificates of its time", async () => {
  using server = new TlsServer(PUBLIC);
  const before = await server.dial(TRUSTING);
  const renewed = await Authority.make("a later CA");
  server.certificates = { ...await renewed.server(), ca: undefined };
  const after = await server.dial({ ...TRUSTING, ca: renewed.cert });
  await assertRejects(() => server.dial(TRUSTING), Error, "from no CA that is trusted here");
  await before.write(Uint8Array.of(1));
  assertEquals(await readBytes((await server.connection(0)).socket, 1), Uint8Array.of(1));
  await server.refusals();
  await closeAll(before, after, ...server.accepted.map(({ socket }) => socket));
});

function plain({ port }: { port: number }): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port });
}

/** Reads until there is no more, in order or not. */
async function reachesEnd(socket: Pick<Socket, "read">): Promise<void> {
  const into = new Uint8Array(1_000);
  try {
    while (await within(socket.read(into), "the end") !== null);
  } catch (error) {
    if (!(error instanceof Error) || error.message.includes("in vain")) throw error;
  }
}
