import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { BadConfiguration, fileProblems, startSidecar } from "../../lib/sidecar/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { logInto, settingsOf } from "../support/local_sidecar.ts";
import { runToEnd } from "../support/process.ts";

const BACKEND = { BACKEND_ADDRESS: "127.0.0.1:1" };

const authority = await Authority.make();
const [one, other] = [await authority.server(), await authority.server()];

Deno.test("fileProblems finds none where all files are good, or none is asked for", () => {
  using folder = new CertificateFolder();
  const ca = folder.write("ca.pem", authority.cert);
  const { cert, key } = folder.writePair("one", one);
  const all = {
    ...BACKEND,
    ...{ GRPC_TLS_CERT: cert, GRPC_TLS_KEY: key, GRPC_TLS_CLIENT_CA: ca },
    ...{ BACKEND_USE_TLS: "true", BACKEND_TLS_CA: ca },
    ...{ BACKEND_TLS_CERT: cert, BACKEND_TLS_KEY: key },
  };
  for (const variables of [BACKEND, { ...BACKEND, BACKEND_USE_TLS: "true" }, all]) {
    assertEquals(fileProblems(settingsOf(variables)), []);
  }
});

Deno.test("startSidecar throws BadConfiguration that names each file that is bad, and leaves nothing open", () => {
  using folder = new CertificateFolder();
  const { cert } = folder.writePair("one", one);
  const { key } = folder.writePair("other", other);
  const missing = folder.free("missing.pem");
  const settings = settingsOf({
    ...BACKEND,
    ...{ GRPC_TLS_CERT: cert, GRPC_TLS_KEY: key, GRPC_TLS_CLIENT_CA: key },
    ...{ BACKEND_USE_TLS: "true", BACKEND_TLS_CA: missing },
    ...{ BACKEND_TLS_CERT: key, BACKEND_TLS_KEY: cert },
  });
  const problems = [
    `Cannot use GRPC_TLS_CLIENT_CA "${key}": expected certificates in PEM form`,
    `Cannot use GRPC_TLS_KEY "${key}": expected the key of the certificate in GRPC_TLS_CERT "${cert}"`,
    `Cannot use BACKEND_TLS_CERT "${key}": expected certificates in PEM form`,
    `Cannot use BACKEND_TLS_KEY "${cert}": expected a private key in PEM form`,
    `Cannot read BACKEND_TLS_CA "${missing}": there is no such file`,
  ];
  const error = assertThrows(() => startSidecar(settings, logInto([])), BadConfiguration);
  assertEquals([error.problems, error.message], [problems, problems.join("\n")]);
  assertEquals(fileProblems(settings), problems);
});

Deno.test("runSidecar ends with 64 when a certificate cannot be used, and logs each problem", async () => {
  using folder = new CertificateFolder();
  const { cert, key } = folder.writePair("one", one);
  const { code, output, errors } = await runToEnd(["serve"], {
    ...BACKEND,
    ...{ GRPC_PORT: "0", METRICS_PORT: "0" },
    ...{ GRPC_TLS_CERT: key, GRPC_TLS_KEY: key },
    ...{ BACKEND_USE_TLS: "1", BACKEND_TLS_CA: `${cert}~` },
  });
  assertEquals([code, output], [64, ""]);
  const lines = errors.split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ level }) => level), ["error", "error"]);
  assertMatch(lines[0].msg, /^Cannot use GRPC_TLS_CERT ".*": expected certificates in PEM form$/);
  assert(lines[1].msg.startsWith("Cannot read BACKEND_TLS_CA "), lines[1].msg);
});
