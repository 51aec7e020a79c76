/**
 * The port that callers connect to, as it closes and opens with the only backend: with the system's sockets and a process.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { ask, clientOf } from "../support/client.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { SidecarProcess } from "../support/process.ts";
import { GET } from "../support/proxy_rig.ts";
import { until } from "../support/waiting.ts";

/** Longer than a backend has to be there to be missed at once. */
const STEADY_MS = 1_100;

const OPTIONS = {
  onRequest: (request: { echoes(): void }) => request.echoes(),
};

/** How a connection to a port fares: what was thrown, or "accepted". */
async function knock(port: number): Promise<string> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return "accepted";
  } catch (error) {
    return error instanceof Deno.errors.ConnectionRefused ? "refused" : String(error);
  }
}

Deno.test("runSidecar refuses callers' connections while its only backend is gone, and takes them at the same port again", async () => {
  await using backend = new ListeningBackend(OPTIONS);
  const { port } = backend;
  await using sidecar = await SidecarProcess.start({ BACKEND_ADDRESS: backend.address });
  const { grpcPort } = sidecar;
  assertEquals(await knock(grpcPort), "accepted", "also before it is ready");
  await sidecar.becomes(200);
  await new Promise((resolve) => setTimeout(resolve, STEADY_MS));
  await using caller = await DialledCaller.at(grpcPort);
  const before = caller.call(GET, "1");
  await until(() => before.status === 0, "an answer");

  await backend.stop();
  await until(async () => await knock(grpcPort) === "refused", "nobody new to be let in");
  await until(() => caller.frames.some(({ type }) => type === "GOAWAY"), "GOAWAY");
  assertEquals(await caller.closed, "in order");
  await sidecar.becomes(503);
  assertEquals(sidecar.log.filter(({ msg }) => msg?.startsWith("Sending callers")).length, 1);

  await using again = new ListeningBackend({ ...OPTIONS, port });
  await sidecar.becomes(200);
  assertEquals(await knock(grpcPort), "accepted");
  await using client = await clientOf(grpcPort);
  await ask(client, HELLO_PATHS.getGreeting);
  assert(again.requests.length > 0, "it is answered by the backend that came back");
  assert(sidecar.logged("Letting callers in again") !== undefined);
});

Deno.test("runSidecar goes on asking for its port when somebody has taken it in the meantime", async () => {
  await using backend = new ListeningBackend(OPTIONS);
  const { port } = backend;
  await using sidecar = await SidecarProcess.start({ BACKEND_ADDRESS: backend.address });
  await sidecar.becomes(200);
  await new Promise((resolve) => setTimeout(resolve, STEADY_MS));
  await backend.stop();
  await until(async () => await knock(sidecar.grpcPort) === "refused", "the port to be closed");
  const squatter = Deno.listen({ hostname: "127.0.0.1", port: sidecar.grpcPort });
  await using _ = new ListeningBackend({ ...OPTIONS, port });
  await until(() => sidecar.logged("Cannot let callers in again yet") !== undefined, "the trouble");
  squatter.close();
  await until(() => sidecar.logged("Letting callers in again") !== undefined, "the port again");
  assertEquals(await knock(sidecar.grpcPort), "accepted");
});

Deno.test("runSidecar takes the file of its unix socket away with the backend, and makes it again as it was", async () => {
  const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
  try {
    const path = `${folder}/callers.sock`;
    await using backend = new ListeningBackend(OPTIONS);
    const { port } = backend;
    await using sidecar = await SidecarProcess.start({
      BACKEND_ADDRESS: backend.address,
      GRPC_HOST: `unix:${path}`,
      GRPC_SOCKET_MODE: "0600",
    });
    await sidecar.becomes(200);
    await new Promise((resolve) => setTimeout(resolve, STEADY_MS));
    const isThere = async () => {
      try {
        return ((await Deno.stat(path)).mode! & 0o777).toString(8);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return "";
        throw error;
      }
    };
    assertEquals(await isThere(), "600");
    await backend.stop();
    await until(async () => await isThere() === "", "the socket to be gone");
    await using _ = new ListeningBackend({ ...OPTIONS, port });
    await sidecar.becomes(200);
    assertEquals(await isThere(), "600");
    (await Deno.connect({ transport: "unix", path })).close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runSidecar closes and opens its port over TLS too", async () => {
  using folder = new CertificateFolder();
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  await using backend = new ListeningBackend(OPTIONS);
  const { port } = backend;
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: backend.address,
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
  });
  await sidecar.becomes(200);
  await new Promise((resolve) => setTimeout(resolve, STEADY_MS));
  await backend.stop();
  await until(async () => await knock(sidecar.grpcPort) === "refused", "the port to be closed");
  await using _ = new ListeningBackend({ ...OPTIONS, port });
  await sidecar.becomes(200);
  const options = { caCerts: [authority.cert], alpnProtocols: ["h2"] };
  const { grpcPort } = sidecar;
  using socket = await Deno.connectTls({ hostname: "localhost", port: grpcPort, ...options });
  assertEquals((await socket.handshake()).alpnProtocol, "h2");
});
