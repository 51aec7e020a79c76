import { assert, assertEquals, fail } from "@std/assert";
import { type CertificateFiles, readCertificates } from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";

const authority = await Authority.make();
const server = await authority.server();
const other = await authority.server();

function problemsOf(files: CertificateFiles): readonly string[] {
  const reading = readCertificates(files);
  return "problems" in reading ? reading.problems : [];
}

Deno.test("readCertificates gives what is in the files, chains and all", () => {
  using folder = new CertificateFolder();
  const cert = `Bag Attributes\n${server.cert}${authority.cert}`;
  const paths = folder.writePair("server", { cert, key: server.key });
  const ca = `${authority.cert}\n${authority.cert}`;
  const reading = readCertificates({
    cert: { name: "CERT", path: paths.cert },
    key: { name: "KEY", path: paths.key },
    ca: { name: "CA", path: folder.write("ca.pem", ca) },
  });
  if ("problems" in reading) fail(reading.problems.join("\n"));
  assertEquals(reading.certificates, { cert, key: server.key, ca });
});

Deno.test("readCertificates asks for no file that is not named", () => {
  const nothing = { cert: undefined, key: undefined, ca: undefined };
  assertEquals(readCertificates({}), { certificates: nothing });
});

Deno.test("readCertificates names the variable, the file and what is wrong with it", () => {
  using folder = new CertificateFolder();
  const key = { name: "KEY", path: folder.write("a.key", server.key) };
  const cases: [text: string, as: "cert" | "key" | "ca", why: string][] = [
    ["", "cert", "expected certificates in PEM form"],
    [server.key, "ca", "expected certificates in PEM form"],
    [
      server.cert + server.cert.replace(/MII\w/, "AAAA"),
      "cert",
      "expected certificates in PEM form; number 2 cannot be parsed",
    ],
    ["-----BEGIN PRIVATE KEY-----\nAAAA\n", "key", "expected a private key in PEM form"],
    [server.cert, "key", "expected a private key in PEM form"],
    [
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
      "key",
      "expected a key that needs no passphrase",
    ],
  ];
  for (const [text, as, why] of cases) {
    const path = folder.write("bad.pem", text);
    const files = { key, [as]: { name: "VARIABLE", path } };
    assertEquals(problemsOf(files), [`Cannot use VARIABLE "${path}": ${why}`]);
  }
});

Deno.test("readCertificates wants the key that is the certificate's", () => {
  using folder = new CertificateFolder();
  const { cert } = folder.writePair("a", server);
  const { key } = folder.writePair("b", other);
  assertEquals(
    problemsOf({ cert: { name: "CERT", path: cert }, key: { name: "KEY", path: key } }),
    [
      `Cannot use KEY "${key}": expected the key of the certificate in CERT "${cert}"`,
    ],
  );
});

Deno.test("readCertificates says why a file cannot be read, of each that is so", () => {
  using folder = new CertificateFolder();
  const missing = folder.free("missing.pem");
  const [first, second, ...rest] = problemsOf({
    cert: { name: "CERT", path: missing },
    key: { name: "KEY", path: folder.path },
  });
  assertEquals(first, `Cannot read CERT "${missing}": there is no such file`);
  assert(second?.startsWith(`Cannot read KEY "${folder.path}": `), second);
  assertEquals(rest, []);
});
