/**
 * TLS on both sides of a sidecar, and certificates that come and go.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { Client as GrpcJsClient, credentials } from "@grpc/grpc-js";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { type Client, openClient } from "../../lib/measure/mod.ts";
import { type Certificates, dialTls, listenTls } from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority, type KeyPair } from "../support/certificates.ts";
import { ask, clientOf } from "../support/client.ts";
import { GATED_REPLY, GatedBackend, type GatedOptions } from "../support/gated_backend.ts";
import { LocalSidecar, type Variables } from "../support/local_sidecar.ts";
import { SidecarProcess } from "../support/process.ts";
import { until, within } from "../support/waiting.ts";

const { getGreeting } = HELLO_PATHS;

/** Long enough that nothing stored goes while a busy machine gets to the next call. */
const STORED_LONG = { COLLAPSER_CACHE_DURATION: "1m" };

const authority = await Authority.make();
const server = await authority.server();

Deno.test("startSidecar serves callers over TLS, and shares among them", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend, tlsForCallers(folder));
  await using client = await clientWith(local.port, {}, { connections: 3 });
  const calls = Array.from({ length: 30 }, () => ask(client, getGreeting, { name: "Ada" }));
  await until(() => local.sidecar.proxy.map.waiting === 30, "thirty waiters");
  backend.release();
  for (const { status, body } of await Promise.all(calls)) {
    assertEquals([status, body], [0, GATED_REPLY]);
  }
  assertEquals(backend.calls, 1);
});

Deno.test("startSidecar serves grpc-js over TLS, with and without a certificate of the caller's", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend({ open: true });
  const ca = Buffer.from(authority.cert);
  const { cert, key } = await authority.caller("a");
  for (const isMutual of [false, true]) {
    await using local = await LocalSidecar.before(backend, tlsForCallers(folder, { isMutual }));
    const own = isMutual ? [Buffer.from(key), Buffer.from(cert)] as const : [];
    const client = new GrpcJsClient(`localhost:${local.port}`, credentials.createSsl(ca, ...own));
    const reply = await new Promise((resolve, reject) => {
      const asIs = (bytes: Buffer) => bytes;
      client.makeUnaryRequest(getGreeting, asIs, asIs, Buffer.alloc(0), (error, reply) => {
        if (error === null) resolve(reply);
        else reject(error);
      });
    });
    assertEquals(reply, Buffer.from(GATED_REPLY));
    client.close();
  }
});

Deno.test("startSidecar never shares between callers of two certificates, and does between those of one", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend();
  const variables = { ...tlsForCallers(folder, { isMutual: true }), ...STORED_LONG };
  await using local = await LocalSidecar.before(backend, variables);
  const [a, b] = [await authority.caller("a"), await authority.caller("b")];
  await using first = await clientWith(local.port, a);
  await using second = await clientWith(local.port, await authority.caller("a"));
  await using other = await clientWith(local.port, b);
  const calls = [first, second, other].map((client) => ask(client, getGreeting, { name: "Ada" }));
  await until(() => local.sidecar.proxy.map.waiting === 3, "three waiters");
  await backend.holds(2);
  backend.release();
  for (const { status } of await Promise.all(calls)) assertEquals(status, 0);
  for (const client of [other, second, first]) await ask(client, getGreeting, { name: "Ada" });
  assertEquals(backend.calls, 2);
  assertEquals(local.outcomes, { hit: 3, joined: 1, led: 2, passed: 0, stale: 0, rejected: 0 });
});

Deno.test("startSidecar turns away who cannot be let in, counts and tells it, and goes on", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend({ open: true });
  const variables = tlsForCallers(folder, { isMutual: true });
  await using local = await LocalSidecar.before(backend, variables);
  await using client = await clientWith(local.port, await authority.caller("a"));
  const stranger = await (await Authority.make("test CA")).caller("a");
  for (const own of [{}, stranger]) {
    assert(await clientWith(local.port, own).then(() => false, () => true));
  }
  assert(await clientOf(local.port).then(() => false, () => true));
  assertEquals((await ask(client, getGreeting)).status, 0);
  const series = await local.scrape();
  const name = 'collapser_connection_errors_total{side="caller",code="INADEQUATE_SECURITY"}';
  assertEquals([series.get(name), series.get("collapser_connections")], [3, 1]);
  const line = local.log.find((line) => line.includes("INADEQUATE_SECURITY")) ?? "";
  assertMatch(line, /"why":"TLS: peer sent no certificates"/);
});

Deno.test("startSidecar calls a backend over TLS, and shows it the certificate it was given", async () => {
  using folder = new CertificateFolder();
  const own = folder.writePair("sidecar", await authority.caller("sidecar"));
  for (const isMutual of [false, true]) {
    const seen: string[] = [];
    await using backend = tlsBackend({ isMutual, seen });
    await using local = await LocalSidecar.before(backend, {
      ...tlsToBackend(folder),
      ...isMutual ? { BACKEND_TLS_CERT: own.cert, BACKEND_TLS_KEY: own.key } : {},
    });
    await using client = await clientOf(local.port);
    assertEquals((await ask(client, getGreeting)).body, GATED_REPLY);
    assertEquals(seen.length, 1);
    assertEquals(seen[0] !== "", isMutual);
  }
});

Deno.test("startSidecar answers 14 with the reason while the backend's certificate is not the right one", async () => {
  using folder = new CertificateFolder();
  await using backend = tlsBackend();
  const stranger = await Authority.make("another CA");
  const cases: [Variables, RegExp][] = [
    [
      { BACKEND_TLS_CA: folder.write("other.pem", stranger.cert) },
      /TLS: the peer's certificate is from no CA that is trusted here/,
    ],
    [
      { BACKEND_TLS_SERVER_NAME: "db.test" },
      /TLS: its certificate is for DNS:localhost, IP Address:127\.0\.0\.1, not for db\.test/,
    ],
    [{ BACKEND_USE_TLS: "false", BACKEND_TLS_CA: "" }, /./],
  ];
  for (const [variables, why] of cases) {
    await using local = new LocalSidecar({
      BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
      ...tlsToBackend(folder),
      ...variables,
    });
    await until(() => local.log.some((line) => line.includes("not reachable")), "the trouble");
    await using client = await clientOf(local.port);
    const { status, message } = await ask(client, getGreeting);
    assertEquals(status, 14);
    assertMatch(message, /^collapser: the backend cannot be reached: /);
    assertMatch(message, why);
    assertMatch((await local.ask("/ready")).text, why);
  }
  assertEquals(backend.calls, 0);
});

Deno.test("startSidecar reaches a backend once the CA's file is the right one", async () => {
  using folder = new CertificateFolder();
  await using backend = tlsBackend({ open: true });
  const stranger = await Authority.make("another CA");
  const path = folder.write("renewed.pem", stranger.cert);
  await using local = new LocalSidecar({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    ...tlsToBackend(folder),
    BACKEND_TLS_CA: path,
  });
  await until(() => local.log.some((line) => line.includes("not reachable")), "the trouble");
  Deno.writeTextFileSync(path, authority.cert);
  await until(() => local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
  await using client = await clientOf(local.port);
  assertEquals((await ask(client, getGreeting)).status, 0);
});

Deno.test("startSidecar takes over renewed certificates for new callers, and no bad ones", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend({ open: true });
  const variables = tlsForCallers(folder);
  await using local = await LocalSidecar.before(backend, variables);
  await using before = await clientWith(local.port, {});

  Deno.writeTextFileSync(variables.GRPC_TLS_CERT!, "no certificate");
  await until(() => local.log.some((line) => line.includes("not renewed")), "a warning");
  await using meanwhile = await clientWith(local.port, {});

  const later = await Authority.make("a later CA");
  folder.writePair("server", await later.server());
  await until(() => local.log.some((line) => line.includes("Certificates renewed")), "the news");
  await using after = await clientWith(local.port, { ca: later.cert });
  assert(await clientWith(local.port, {}).then(() => false, () => true));
  for (const client of [before, meanwhile, after]) {
    assertEquals((await ask(client, getGreeting)).status, 0);
  }
  assertEquals(local.log.filter((line) => line.includes("not renewed")).length, 1);
});

Deno.test("Sidecar.stop is not held up by handshakes that are half done", async () => {
  using folder = new CertificateFolder();
  await using backend = new GatedBackend({ open: true });
  const limit = { DRAIN_TIMEOUT: "1m" };
  await using local = await LocalSidecar.before(backend, { ...tlsForCallers(folder), ...limit });
  await using client = await clientWith(local.port, {});
  assertEquals((await ask(client, getGreeting)).status, 0);
  using silent = await Deno.connect({ hostname: "127.0.0.1", port: local.port });
  using half = await Deno.connect({ hostname: "127.0.0.1", port: local.port });
  await half.write(Uint8Array.of(22, 3, 1, 2, 0)); // a record that is to come
  assertEquals(await within(local.stop(), "the end", 5_000), 0);
  for (const socket of [silent, half]) {
    assertEquals(await within(socket.read(new Uint8Array(1)), "the end"), null);
  }
});

Deno.test("runSidecar speaks TLS on both sides with the permissions of deno task start", async () => {
  using folder = new CertificateFolder();
  await using backend = tlsBackend({ open: true });
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    ...tlsToBackend(folder),
    ...tlsForCallers(folder, { isMutual: true }),
  });
  await sidecar.becomes(200);
  await using client = await clientWith(sidecar.grpcPort, await authority.caller("a"));
  assertEquals((await ask(client, getGreeting)).body, GATED_REPLY);
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end()).code, 0);
  assertEquals(sidecar.errorLines.filter((line) => !line.startsWith("{")), []);
});

/** Variables for TLS towards callers; the files are the folder's. */
function tlsForCallers(
  folder: CertificateFolder,
  { isMutual = false } = {},
): Variables & { GRPC_TLS_CERT: string } {
  const { cert, key } = folder.writePair("server", server);
  return {
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
    ...isMutual ? { GRPC_TLS_CLIENT_CA: folder.write("ca.pem", authority.cert) } : {},
  };
}

function tlsToBackend(folder: CertificateFolder): Variables {
  return { BACKEND_USE_TLS: "true", BACKEND_TLS_CA: folder.write("ca.pem", authority.cert) };
}

/** A client over TLS that shows `own` certificate, if any. */
async function clientWith(
  port: number,
  own: Partial<KeyPair & { ca: string }>,
  options: { connections?: number } = {},
): Promise<Client & AsyncDisposable> {
  const certificates: Certificates = {
    cert: undefined,
    key: undefined,
    ca: authority.cert,
    ...own,
  };
  const dial = dialTls({ certificates: () => certificates, serverName: undefined });
  const opening = openClient({ host: "127.0.0.1", port }, { ...options, dial });
  const client = await within(opening, "a client with all its connections");
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** A backend over TLS; it puts into `seen` who connected. */
function tlsBackend(
  { open = true, isMutual = false, seen = [] as string[] }: GatedOptions & {
    isMutual?: boolean;
    seen?: string[];
  } = {},
): GatedBackend {
  const certificates: Certificates = { ...server, ca: isMutual ? authority.cert : undefined };
  return new GatedBackend({
    open,
    listenWith: (accept) =>
      listenTls({ hostname: "127.0.0.1", port: 0 }, {
        certificates: () => certificates,
        accept: (socket, { identity }) => {
          seen.push(identity);
          accept(socket);
        },
        onRefused: () => {},
        onTrouble: (error) => {
          throw error;
        },
      }),
  });
}
