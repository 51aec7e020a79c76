/**
 * grpc-health-probe, as Kubernetes runs it: the backend's own health through the sidecar, and the sidecar's.
 *
 * @module
 */

import { startHello } from "../../../lib/hello/mod.ts";
import { CertificateFolder } from "../../support/certificate_folder.ts";
import { Authority } from "../../support/certificates.ts";
import { buildGo } from "./build.ts";
import type { Bench } from "./desk.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import type { RunMode, Suite } from "./suite.ts";
import { runTool, type ToolCase } from "./tool.ts";

/** Exit codes of the probe. */
const RPC_FAILED = 3;
const NOT_SERVING = 4;

/** The name that the sidecar answers to itself. */
const OWN_NAME = "-service=collapser";

const CASES: readonly ToolCase[] = [
  { name: "backend", args: [], says: ["status: SERVING"] },
  { name: "backend_service", args: ["-service=hello.v1.Hello"], says: ["status: SERVING"] },
  { name: "unknown_service", args: ["-service=no.Such"], code: RPC_FAILED, says: [] },
  { name: "sidecar", args: [OWN_NAME], says: ["status: SERVING"] },
];

const TLS_CASES: readonly ToolCase[] = [
  { name: "tls_backend", args: [], says: ["status: SERVING"] },
  { name: "tls_sidecar", args: [OWN_NAME], says: ["status: SERVING"] },
];

const BACKEND_GONE: ToolCase = {
  name: "sidecar_without_backend",
  args: [OWN_NAME],
  code: NOT_SERVING,
  says: ["NOT_SERVING"],
};

/** The grpc-health-probe suite. */
export const HEALTH_PROBE: Suite = {
  name: "health-probe",
  cases: () => [...CASES, ...TLS_CASES, BACKEND_GONE].map(({ name }) => name).concat(UNHARMED),
  async prepare(): Promise<RunMode> {
    const bin = await buildGo(["github.com/grpc-ecosystem/grpc-health-probe"]);
    const probe = bin("grpc-health-probe");
    return async (bench) => {
      await overTls(bench, probe);
      const hello = await startHello();
      using _ = { [Symbol.dispose]: () => hello.kill() };
      await using sidecar = await openSidecar(bench, hello.address);
      const where = [`-addr=127.0.0.1:${sidecar.grpcPort}`];
      await checkAll(bench, CASES, { probe, where });
      await bench.check(UNHARMED, () => assertUnharmed(sidecar));
      hello.kill();
      await sidecar.becomes(503);
      await checkAll(bench, [BACKEND_GONE], { probe, where });
    };
  },
};

async function overTls(bench: Bench, probe: string): Promise<void> {
  if (!TLS_CASES.some(({ name }) => bench.wants(name))) return;
  using files = new CertificateFolder();
  const authority = await Authority.make();
  const pair = files.writePair(
    "sidecar",
    await authority.server(),
  );
  const ca = files.write("ca.pem", authority.cert);
  const hello = await startHello();
  using _ = { [Symbol.dispose]: () => hello.kill() };
  const tls = { GRPC_TLS_CERT: pair.cert, GRPC_TLS_KEY: pair.key };
  await using sidecar = await openSidecar(bench, hello.address, tls);
  const where = [`-addr=127.0.0.1:${sidecar.grpcPort}`, "-tls", `-tls-ca-cert=${ca}`];
  await checkAll(bench, TLS_CASES, { probe, where });
}

async function checkAll(
  bench: Bench,
  cases: readonly ToolCase[],
  { probe, where }: { probe: string; where: readonly string[] },
): Promise<void> {
  const patience = ["-connect-timeout=10s", "-rpc-timeout=10s"];
  for (const of of cases) {
    await bench.check(
      of.name,
      () => runTool(probe, { ...of, args: [...where, ...patience, ...of.args] }),
    );
  }
}
