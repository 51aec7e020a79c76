/**
 * Unix sockets on both sides of a sidecar.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { type Client, openClient } from "../../lib/measure/mod.ts";
import { startSidecar } from "../../lib/sidecar/mod.ts";
import { type Certificates, dialPlain, dialTls, listen } from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { ask } from "../support/client.ts";
import { GATED_REPLY, GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar, logInto, settingsOf } from "../support/local_sidecar.ts";
import { runToEnd, SidecarProcess } from "../support/process.ts";
import { until, within } from "../support/waiting.ts";

const { getGreeting } = HELLO_PATHS;

Deno.test("startSidecar takes callers from a unix socket, and calls a backend at one", async () => {
  using folder = new CertificateFolder();
  const [own, behind] = [folder.free("own.sock"), folder.free("backend.sock")];
  await using backend = backendAt(behind);
  await using local = new LocalSidecar({
    GRPC_HOST: `unix:${own}`,
    BACKEND_ADDRESS: `unix:${behind}`,
  });
  await until(() => local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
  assertEquals(local.port, 0);
  await using client = await clientAt(own);
  assertEquals((await ask(client, getGreeting)).body, GATED_REPLY);
  const series = await local.scrape();
  assertEquals(series.get(`collapser_backend_up{backend="unix:${behind}"}`), 1);
  assertEquals(backend.calls, 1);
});

Deno.test("startSidecar speaks TLS over unix sockets too", async () => {
  using folder = new CertificateFolder();
  const authority = await Authority.make();
  const own = folder.free("own.sock");
  const { cert, key } = folder.writePair("server", await authority.server());
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, {
    GRPC_HOST: `unix:${own}`,
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
  });
  await using client = await clientAt(own, { cert: undefined, key: undefined, ca: authority.cert });
  assertEquals((await ask(client, getGreeting)).body, GATED_REPLY);
  assert(local.sidecar.proxy.readiness.ready);
});

Deno.test("startSidecar answers 14 until there is a backend at the path", async () => {
  using folder = new CertificateFolder();
  const [own, behind] = [folder.free("own.sock"), folder.free("backend.sock")];
  const variables = { GRPC_HOST: `unix:${own}`, BACKEND_ADDRESS: `unix:${behind}` };
  await using local = new LocalSidecar(variables);
  await using client = await clientAt(own);
  await until(() => local.log.some((line) => line.includes("not reachable")), "the trouble");
  assertEquals((await ask(client, getGreeting)).status, 14);
  await using _backend = backendAt(behind);
  await until(() => local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
  assertEquals((await ask(client, getGreeting)).status, 0);
});

Deno.test("startSidecar throws when the path is taken, and says what to do", () => {
  using folder = new CertificateFolder();
  const path = folder.free("own.sock");
  const listener = Deno.listen({ transport: "unix", path });
  const settings = settingsOf({ BACKEND_ADDRESS: "127.0.0.1:1", GRPC_HOST: `unix:${path}` });
  const { message } = assertThrows(() => startSidecar(settings, logInto([])), Error);
  listener.close();
  assertMatch(message, /^Cannot listen on unix:.*own\.sock: .*in use.*; set GRPC_HOST to a path/);
});

Deno.test("runSidecar takes over the path of one that was killed, with the permissions of deno task start", async () => {
  using folder = new CertificateFolder();
  const [own, behind] = [folder.free("own.sock"), folder.free("backend.sock")];
  await using _backend = backendAt(behind);
  const env = { GRPC_HOST: `unix:${own}`, BACKEND_ADDRESS: `unix:${behind}` };
  const killed = await SidecarProcess.start(env);
  await killed[Symbol.asyncDispose]();
  assertEquals(Deno.lstatSync(own).isSocket, true);

  await using sidecar = await SidecarProcess.start(env);
  assertEquals(sidecar.logged("Serving")?.grpc_path, own);
  assertEquals(Deno.lstatSync(own).mode! & 0o777, 0o660);
  await sidecar.becomes(200);
  const second = await runToEnd(["serve"], { ...env, METRICS_PORT: "0" });
  assertEquals(second.code, 1);
  assertMatch(second.errors, /Cannot listen on unix:.*in use/);
  await using client = await clientAt(own);
  assertEquals((await ask(client, getGreeting)).body, GATED_REPLY);
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end()).code, 0);
  assertThrows(() => Deno.lstatSync(own), Deno.errors.NotFound);
});

function backendAt(path: string): GatedBackend {
  return new GatedBackend({
    open: true,
    listenWith: (accept) =>
      listen({ path }, accept, (error) => {
        throw error;
      }),
  });
}

/** A client at a unix socket, over TLS when it is given what to trust. */
async function clientAt(
  path: string,
  trusted?: Certificates,
): Promise<Client & AsyncDisposable> {
  const dial = trusted === undefined
    ? dialPlain
    : dialTls({ certificates: () => trusted, serverName: undefined });
  const opening = openClient({ host: "localhost", port: 0, path }, { dial });
  const client = await within(opening, "a client with its connection");
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
