/**
 * grpc-go's own interop client and server, as published, with the sidecar between them. Without the cases that need
 * credentials of a cloud.
 *
 * @module
 */

import { buildGo } from "./build.ts";
import { Program, run } from "./command.ts";
import type { Bench } from "./desk.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import type { RunMode, Suite } from "./suite.ts";

/** Longer than any of its cases takes: they have limits of their own. */
const CASE_LIMIT_MS = 60_000;

const CASES = [
  "empty_unary",
  "large_unary",
  "client_streaming",
  "server_streaming",
  "ping_pong",
  "empty_stream",
  "timeout_on_sleeping_server",
  "cancel_after_begin",
  "cancel_after_first_response",
  "status_code_and_message",
  "special_status_message",
  "custom_metadata",
  "unimplemented_method",
  "unimplemented_service",
  "rpc_soak",
  "channel_soak",
  "orca_per_rpc",
  "orca_oob",
] as const;

/** Wants a server that says who it is, which the published one does not. */
const NAMED_CASE = "pick_first_unary";

/** How a client is told to collect load reports. */
const ORCA =
  `-service_config_json={"loadBalancingConfig":[{"test_backend_metrics_load_balancer":{}}]}`;

/** A machine under load must not fail a soak for its latency: what is judged is that every call comes back. */
const SOAK = [
  "-soak_per_iteration_max_acceptable_latency_ms=20000",
  "-soak_overall_timeout_seconds=50",
];

/** The grpc-go suite. */
export const GO: Suite = {
  name: "go",
  cases: () => [...CASES, NAMED_CASE, UNHARMED],
  async prepare(): Promise<RunMode> {
    const programs = [
      "google.golang.org/grpc/interop/client",
      "google.golang.org/grpc/interop/server",
    ];
    const bin = await buildGo([...programs, "./named_server"]);
    return async (bench) => {
      await using server = new Program([bin("server"), "-port", "0"], {
        env: { GRPC_GO_LOG_SEVERITY_LEVEL: "info" }, // else it does not say where it listens
      });
      const [, port] = await server.says(/listening on .*:(\d+)/);
      await using sidecar = await openSidecar(bench, `127.0.0.1:${port}`);
      await runCases(bench, { client: bin("client"), port: sidecar.grpcPort, cases: CASES });
      if (bench.wants(NAMED_CASE)) await runNamed(bench, bin);
      await bench.check(UNHARMED, () => assertUnharmed(sidecar));
    };
  },
};

/** Runs cases of grpc-go's client against a port of the loopback address. */
export async function runCases(
  bench: Bench,
  { client, port, cases }: { client: string; port: number; cases: readonly string[] },
): Promise<void> {
  for (const name of cases) {
    await bench.check(name, async () => {
      const where = ["-server_host=127.0.0.1", `-server_port=${port}`, `-test_case=${name}`];
      const more = name.startsWith("orca_") ? [ORCA] : name.endsWith("_soak") ? SOAK : [];
      const { code, output } = await run([client, ...where, ...more], { limitMs: CASE_LIMIT_MS });
      if (code !== 0) throw new Error(`code ${code}: ${lastWords(output)}`);
    });
  }
}

async function runNamed(bench: Bench, bin: (name: string) => string): Promise<void> {
  await using server = new Program([bin("named_server")]);
  const [, port] = await server.says(/listening on .*:(\d+)/);
  await using sidecar = await openSidecar(bench, `127.0.0.1:${port}`);
  await runCases(bench, { client: bin("client"), port: sidecar.grpcPort, cases: [NAMED_CASE] });
}

/** What the client gave up with; before that it may have logged a lot. */
function lastWords(output: string): string {
  return output.split("\n").findLast((line) => line.includes("FATAL")) ?? output;
}
