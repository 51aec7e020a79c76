import { assertEquals, assertRejects } from "@std/assert";
import {
  type Certificates,
  dialTls,
  listen,
  type Listening,
  type Socket,
} from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority, type CertificateContent } from "../support/certificates.ts";
import { within } from "../support/waiting.ts";
import {
  AUTHORITY,
  closeAll,
  MUTUAL,
  PUBLIC,
  readBytes,
  TIMEOUT,
  TlsServer,
  TRUSTING,
} from "./tls_fixture.ts";

Deno.test("dialTls speaks to a backend whose certificate is for its name or its address", async () => {
  using server = new TlsServer(PUBLIC);
  for (const [i, host] of ["localhost", "127.0.0.1"].entries()) {
    const dial = dialTls({ certificates: () => TRUSTING, serverName: undefined });
    const client = await dial({ host, port: server.port }, TIMEOUT);
    const { socket } = await server.connection(i);
    await client.write(Uint8Array.of(1));
    assertEquals(await readBytes(socket, 1), Uint8Array.of(1));
    await closeAll(client, socket);
  }
});

Deno.test("dialTls expects another name when it is told one", async () => {
  using server = await serverFor(["DNS:db_1.svc.test"]);
  const client = await server.dial(TRUSTING, "db_1.svc.test");
  await closeAll(client, (await server.connection()).socket);
  for (const [i, serverName] of [undefined, "svc.test"].entries()) {
    await assertRejects(
      () => server.dial(TRUSTING, serverName),
      Error,
      `TLS: its certificate is for DNS:db_1.svc.test, not for ${serverName ?? "127.0.0.1"}`,
    );
    await closeAll((await server.connection(i + 1)).socket); // who was accepted leaves at once
  }
});

Deno.test("dialTls takes no name that is hidden in another one, and no common name", async () => {
  using server = await serverFor(["URI:spiffe://x, DNS:localhost", "DNS:a.test"], ["CN=localhost"]);
  await assertRejects(() => server.dial(TRUSTING, "localhost"), Error, "not for localhost");
  await closeAll((await server.connection()).socket);
});

Deno.test("dialTls trusts the CA it is given alone, and without one none of a test's", async () => {
  using server = new TlsServer(PUBLIC);
  const other = await Authority.make("another CA");
  for (const ca of [other.cert, undefined]) {
    await assertRejects(
      () => server.dial({ ...TRUSTING, ca }),
      Error,
      "TLS: the peer's certificate is from no CA that is trusted here, or not valid now",
    );
  }
});

Deno.test("dialTls refuses a certificate that is not valid any more, or not yet", async () => {
  const nowMs = Date.now();
  for (const times of [{ notAfterMs: nowMs - 60_000 }, { notBeforeMs: nowMs + 60_000 }]) {
    using server = await serverFor(["IP:127.0.0.1"], [], times);
    await assertRejects(() => server.dial(TRUSTING), Error, "or not valid now");
  }
});

Deno.test("dialTls shows the certificate of its time to a backend that asks for one", async () => {
  using server = new TlsServer(MUTUAL);
  let certificates: Certificates = TRUSTING;
  const dial = dialTls({ certificates: () => certificates, serverName: undefined });
  const address = { host: "127.0.0.1", port: server.port };
  const refused = await dial(address, TIMEOUT); // TLS 1.3 tells a client only later
  const why = await assertRejects(() => within(refused.read(new Uint8Array(1)), "the end"), Error);
  assertEquals(why.message, "received fatal alert: CertificateRequired");
  certificates = { ...await AUTHORITY.caller("sidecar"), ca: AUTHORITY.cert };
  const client = await dial(address, TIMEOUT);
  const { socket } = await server.connection();
  await closeAll(refused, client, socket);
});

Deno.test("dialTls refuses a backend that does not agree on h2", async () => {
  const { cert, key } = PUBLIC;
  for (const alpnProtocols of [[], ["http/1.1"]]) {
    using listener = Deno.listenTls({ ...LOOPBACK, cert: cert!, key: key!, alpnProtocols });
    const accepted = listener.accept().then(async (conn) => {
      await conn.handshake().catch(() => {});
      return conn;
    });
    const failure = await assertRejects(() => dialed(listener.addr.port), Error);
    assertEquals(
      failure.message,
      alpnProtocols.length === 0
        ? "TLS: the peer did not agree on h2 (ALPN)"
        : "TLS: received fatal alert: NoApplicationProtocol",
    );
    (await accepted).close();
  }
});

Deno.test("dialTls says so when the backend does not speak TLS, or hangs up", async () => {
  const cases: [answer: string, why: string][] = [
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "TLS: the peer does not speak TLS"],
    ["", "TLS: the peer hung up"],
  ];
  for (const [answer, why] of cases) {
    using server = plainServer(async (socket) => {
      await socket.read(new Uint8Array(1_000));
      await socket.write(new TextEncoder().encode(answer));
      socket.close();
    });
    assertEquals((await assertRejects(() => dialed(server.port), Error)).message, why);
  }
});

Deno.test("dialTls includes the handshake in its time", async () => {
  const accepted: Socket[] = [];
  using server = plainServer((socket) => void accepted.push(socket));
  const failure = await assertRejects(() => dialed(server.port, 50), DOMException);
  assertEquals(failure.name, "TimeoutError");
  // It has hung up.
  const into = new Uint8Array(1_000);
  while (await within(accepted[0]!.read(into), "the end") !== null);
  accepted[0]!.close();
});

Deno.test("dialTls rejects with what the system says when nobody listens", async () => {
  const listener = Deno.listen(LOOPBACK);
  const { port } = listener.addr;
  listener.close();
  await assertRejects(() => dialed(port), Deno.errors.ConnectionRefused);
});

Deno.test("dialTls speaks over a unix socket, to one who is localhost there", async () => {
  using folder = new CertificateFolder();
  const path = folder.free("s.sock");
  using server = new TlsServer(PUBLIC, { address: { path } });
  const dial = dialTls({ certificates: () => TRUSTING, serverName: undefined });
  const client = await dial({ host: "nowhere", port: 0, path }, TIMEOUT);
  const { socket, peer } = await server.connection();
  assertEquals(peer, { remote: `unix:${path}`, identity: "" });
  await client.write(Uint8Array.of(1));
  assertEquals(await readBytes(socket, 1), Uint8Array.of(1));
  await closeAll(client, socket);
});

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

function dialed(port: number, timeoutMs = 10_000): Promise<Socket> {
  const dial = dialTls({ certificates: () => TRUSTING, serverName: undefined });
  return dial({ host: "127.0.0.1", port }, { timeoutMs });
}

/** A server whose certificate has these names. */
async function serverFor(
  altNames: string[],
  subject: string[] = [],
  times: Pick<CertificateContent, "notBeforeMs" | "notAfterMs"> = {},
): Promise<TlsServer> {
  const pair = await AUTHORITY.issue({ subject, altNames, ...times });
  return new TlsServer({ ...pair, ca: undefined });
}

/** A server that speaks no TLS; its scope's end waits for nothing. */
function plainServer(
  serve: (socket: Socket) => void | Promise<void>,
): Listening & Disposable {
  const listening = listen(LOOPBACK, (socket) => void serve(socket), (error) => {
    throw error;
  });
  return { ...listening, [Symbol.dispose]: () => listening.close() };
}
