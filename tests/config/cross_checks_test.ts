import { assert, assertEquals, fail } from "@std/assert";
import type { BackendEntry } from "../../lib/balance/mod.ts";
import { CROSS_CHECKS } from "../../lib/config/cross_checks.ts";
import { BACKENDS } from "../../lib/config/kinds/address.ts";
import { optionFor } from "../../lib/config/options.ts";
import type { Settings } from "../../lib/config/settings.ts";
import { problemsOf, settingsOf } from "./support.ts";

/** Which rules a change of the default settings breaks. */
function brokenBy(change: Partial<Settings>): readonly string[] {
  const settings = { ...settingsOf(), ...change };
  return CROSS_CHECKS.filter(({ broken }) => broken(settings)).map(({ env, why }) =>
    `${env}: ${why}`
  );
}

function backendsOf(text: string): readonly BackendEntry[] {
  const parsed = BACKENDS.parse(text);
  return "value" in parsed ? parsed.value : fail(parsed.why);
}

Deno.test("CROSS_CHECKS finds nothing wrong with the defaults", () => {
  assertEquals(brokenBy({}), []);
});

Deno.test("CROSS_CHECKS names variables of the table", () => {
  for (const { env, beside } of CROSS_CHECKS) {
    assert(optionFor(env));
    if (beside !== undefined) assert(optionFor(beside));
  }
});

Deno.test("CROSS_CHECKS keeps the two listeners apart where their addresses meet", () => {
  const why = "METRICS_PORT: GRPC_PORT is the same; expected another port, or 0 for a free one";
  const cases = [
    { grpcHost: "::", metricsHost: "::", want: [why] },
    { grpcHost: "::", metricsHost: "127.0.0.1", want: [why] },
    { grpcHost: "127.0.0.1", metricsHost: "0.0.0.0", want: [why] },
    { grpcHost: "10.0.0.1", metricsHost: "127.0.0.1", want: [] },
    { grpcHost: "unix:/run/c.sock", metricsHost: "::", want: [] },
  ];
  for (const { want, ...hosts } of cases) {
    assertEquals(brokenBy({ ...hosts, grpcPort: 1, metricsPort: 1 }), want);
    assertEquals(brokenBy({ ...hosts, grpcPort: 0, metricsPort: 0 }), []);
  }
});

Deno.test("CROSS_CHECKS refuses a backend that is the sidecar itself", () => {
  const why = "BACKEND_ADDRESS: collapser itself listens there; " +
    "expected the address of the service behind it";
  for (const address of ["localhost:50052", "127.0.0.1:50052", "[::1]:50052", ":50052"]) {
    assertEquals(brokenBy({ backends: backendsOf(address) }), [why], address);
  }
  const backends = backendsOf("db:50052");
  assertEquals(brokenBy({ backends }), []);
  assertEquals(brokenBy({ backends, grpcHost: "db" }), [why]);
});

Deno.test("CROSS_CHECKS refuses a backend at the unix socket of the sidecar itself, and no other", () => {
  const why = "BACKEND_ADDRESS: collapser itself listens there; " +
    "expected the address of the service behind it";
  const grpcHost = "unix:/run/c.sock";
  assertEquals(brokenBy({ grpcHost, backends: backendsOf("unix:/run/c.sock") }), [why]);
  for (const address of ["unix:/run/db.sock", "localhost:50052"]) {
    assertEquals(brokenBy({ grpcHost, backends: backendsOf(address) }), [], address);
  }
  assertEquals(brokenBy({ grpcPort: 0, backends: backendsOf("unix:/run/db.sock") }), []);
});

Deno.test("CROSS_CHECKS wants certificates and keys together, and TLS with them", () => {
  const cases = [
    [{ backendTlsCertPath: "c", backendUseTls: true }, ["BACKEND_TLS_CERT"]],
    [{ backendTlsKeyPath: "k", backendUseTls: true }, ["BACKEND_TLS_KEY"]],
    [{ backendTlsCertPath: "c", backendTlsKeyPath: "k", backendUseTls: true }, []],
    [{ backendTlsCertPath: "c", backendTlsKeyPath: "k" }, ["BACKEND_TLS_CERT"]],
    [{ backendTlsCaPath: "ca" }, ["BACKEND_TLS_CA"]],
    [{ backendTlsServerName: "db" }, ["BACKEND_TLS_SERVER_NAME"]],
    [{ backendTlsCaPath: "ca", backendTlsServerName: "db", backendUseTls: true }, []],
    [{ grpcTlsCertPath: "c" }, ["GRPC_TLS_CERT"]],
    [{ grpcTlsKeyPath: "k" }, ["GRPC_TLS_KEY"]],
    [{ grpcTlsClientCaPath: "ca" }, ["GRPC_TLS_CLIENT_CA"]],
    [{ grpcTlsCertPath: "c", grpcTlsKeyPath: "k", grpcTlsClientCaPath: "ca" }, []],
  ] as const;
  for (const [change, want] of cases) {
    assertEquals(brokenBy(change).map((line) => line.split(":")[0]), [...want]);
  }
});

Deno.test("CROSS_CHECKS wants a header to tell shards apart", () => {
  assertEquals(brokenBy({ backendKind: "shards" }), [
    "BACKEND_KIND: only one shard has the data; expected BACKEND_ROUTING header:NAME beside it",
  ]);
  assertEquals(
    brokenBy({ backendKind: "shards", backendRouting: { by: "header", name: "x" } }),
    [],
  );
});

Deno.test("CROSS_CHECKS refuses a header that is both in the key and out of it", () => {
  assertEquals(brokenBy({ keyHeaders: ["a", "b"], ignoreHeaders: ["b"] }), [
    "COLLAPSER_IGNORE_HEADERS: COLLAPSER_KEY_HEADERS names the same; " +
    "expected each name in one of the two",
  ]);
  assertEquals(brokenBy({ keyHeaders: ["a"], ignoreHeaders: ["b"] }), []);
});

Deno.test("readSettings reports a broken cross-check with the value as given", () => {
  assertEquals(problemsOf({ GRPC_PORT: "2112" }, ["--metrics-port=02112"]), [
    'Cannot use --metrics-port "02112": GRPC_PORT is the same; ' +
    "expected another port, or 0 for a free one",
  ]);
});

Deno.test("readSettings leaves a cross-check out when what it compares could not be read", () => {
  assertEquals(problemsOf({ GRPC_PORT: "2112", METRICS_PORT: "x" }).length, 1);
  assertEquals(problemsOf({ GRPC_PORT: "x", METRICS_PORT: "50052" }).length, 1);
});
