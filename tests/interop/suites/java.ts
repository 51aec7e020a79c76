/**
 * grpc-java's own interop client, over Netty and over OkHttp, and its interop server, with the sidecar between them.
 * Without the cases that need credentials of a cloud, and without those for which grpc-java's server lacks something: the
 * two that first ask whether it can tell a compressed message from a plain one, and cacheable_unary, a method it has not.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { freePort } from "../../support/process.ts";
import { build, INTEROP, kept } from "./build.ts";
import { Program } from "./command.ts";
import type { Bench } from "./desk.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import type { RunMode, Suite } from "./suite.ts";

/** Longest that a case may take; its own limit is shorter. */
const CASE_LIMIT_MS = 90_000;

const CASES = [
  "empty_unary",
  "large_unary",
  "client_compressed_unary_noprobe",
  "server_compressed_unary",
  "client_streaming",
  "client_compressed_streaming_noprobe",
  "server_streaming",
  "server_compressed_streaming",
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
  "very_large_request",
  "pick_first_unary",
  "rpc_soak",
  "channel_soak",
  "orca_per_rpc",
  "orca_oob",
] as const;

const TRANSPORTS = ["netty", "okhttp"] as const;

/** Little to compile and little to collect: what a JVM does best takes longer than all the cases. */
const JVM = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"];

/** By its full name: its short one is looked up, and its version chosen, on the network. */
const PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

const PACKAGE = "io.grpc.testing.integration";

/** The grpc-java suite. */
export const JAVA: Suite = {
  name: "java",
  cases: () => [
    ...TRANSPORTS.flatMap((transport) => CASES.map((name) => `${transport}/${name}`)),
    UNHARMED,
  ],
  async prepare(): Promise<RunMode> {
    const classPath = await buildJava();
    const jvm = [...JVM, "-cp", classPath];
    return async (bench) => {
      const port = freePort();
      const flags = [`--port=${port}`, "--use_tls=false", "--address_type=IPV4"];
      await using server = new Program([...jvm, `${PACKAGE}.TestServiceServer`, ...flags]);
      await server.says(/started on port/);
      await using sidecar = await openSidecar(bench, `127.0.0.1:${port}`);
      for (const transport of TRANSPORTS) {
        await runCases(bench, { jvm, transport, port: sidecar.grpcPort });
      }
      await bench.check(UNHARMED, () => assertUnharmed(sidecar));
    };
  },
};

type Transport = typeof TRANSPORTS[number];

async function runCases(
  bench: Bench,
  { jvm, transport, port }: { jvm: readonly string[]; transport: Transport; port: number },
): Promise<void> {
  const names = CASES.filter((name) => bench.wants(`${transport}/${name}`));
  if (names.length === 0) return;
  const where = ["--server_host=127.0.0.1", `--server_port=${port}`, "--use_tls=false"];
  const flags = [...where, `--use_okhttp=${transport === "okhttp"}`];
  await using client = new Program([...jvm, `${PACKAGE}.Cases`, ...flags], { input: names });
  for (const name of names) {
    await bench.check(`${transport}/${name}`, async () => {
      const verdict = client.says(new RegExp(`^(ok|FAIL) ${name}\\b(.*)`), CASE_LIMIT_MS);
      const [, result, why = ""] = await verdict;
      if (result !== "ok") throw new Error(why);
    });
  }
}

/** The class path: what Maven has, and {@linkcode Cases} compiled against it. */
async function buildJava(): Promise<string> {
  const source = new URL("java/", INTEROP);
  const [pom, program] = ["pom.xml", "Cases.java"].map((name) => new URL(name, source));
  const version = await build(["java", "-version"], source);
  const jars = await kept("java-jars", {
    from: [pom!],
    async fill(folder) {
      const copy = [`${PLUGIN}:copy-dependencies`, `-DoutputDirectory=${folder}`];
      await build(["mvn", "--quiet", "--batch-mode", "-f", fileURLToPath(pom!), ...copy], source);
    },
  });
  const classes = await kept("java-classes", {
    from: [pom!, program!, version],
    async fill(folder) {
      const javac = ["javac", "-nowarn", "-cp", `${jars}/*`, "-d", folder];
      await build([...javac, fileURLToPath(program!)], source);
    },
  });
  return `${classes}:${jars}/*`;
}
