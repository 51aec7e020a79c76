import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { identityOf, serverIdentityFault } from "../../lib/transport/certificate_names.ts";
import { Authority, type CertificateContent, derOf } from "../support/certificates.ts";

const authority = await Authority.make();

async function certificate(content: CertificateContent): Promise<Uint8Array> {
  return derOf((await authority.issue(content)).cert);
}

async function identity(content: CertificateContent): Promise<string> {
  return identityOf(await certificate(content));
}

Deno.test("identityOf is the same for certificates that name the same, whoever issued them", async () => {
  const content = { subject: ["O=team", "CN=a"], altNames: ["DNS:a.test", "URI:spiffe://test/a"] };
  const other = await Authority.make("another CA");
  const first = await identity(content);
  assertEquals(first, await identity(content));
  assertEquals(first, identityOf(derOf((await other.issue(content)).cert)));
  assertEquals(first, await identity({ ...content, altNames: content.altNames.toReversed() }));
});

Deno.test("identityOf tells apart whatever differs in the subject or in any alternative name", async () => {
  const contents: CertificateContent[] = [
    { subject: ["O=team", "CN=a"], altNames: ["DNS:a.test"] },
    { subject: ["O=team", "CN=b"], altNames: ["DNS:a.test"] },
    { subject: ["CN=a", "O=team"], altNames: ["DNS:a.test"] },
    { subject: ["O=team", "CN=a", "UID=7"], altNames: ["DNS:a.test"] },
    { subject: ["O=team", "CN=a", "UID=8"], altNames: ["DNS:a.test"] },
    { subject: ["O=team", "CN=a", "1.2.3.4=x"], altNames: ["DNS:a.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["DNS:b.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["URI:a.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["email:a.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["DNS:a.test", "DNS:b.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["DNS:a.test, DNS:b.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["DNS:a.test", "DNS:a.test"] },
    { subject: ["O=team", "CN=a"], altNames: ["IP:127.0.0.1"] },
    { subject: ["O=team", "CN=a"] },
    { subject: ["O=team"] },
    { altNames: ["DNS:a.test"] },
  ];
  const identities = await Promise.all(contents.map(identity));
  assertEquals(new Set(identities).size, contents.length);
  assertNotEquals(identities.includes(""), true);
});

Deno.test("identityOf takes a certificate without any name for itself", async () => {
  const [one, other] = [await certificate({}), await certificate({})];
  assertEquals(identityOf(one), identityOf(one.slice()));
  assertNotEquals(identityOf(one), identityOf(other));
});

Deno.test("identityOf takes bytes that are no certificate for themselves", async () => {
  const whole = await certificate({ subject: ["CN=a"], altNames: ["DNS:a.test"] });
  const seen = new Set<string>();
  for (let cut = 0; cut < whole.length; cut += 7) seen.add(identityOf(whole.subarray(0, cut)));
  assertEquals(seen.size, Math.ceil(whole.length / 7));
  assert(!seen.has(identityOf(whole)));
});

Deno.test("serverIdentityFault takes a host by its name, a wildcard, or its address", async () => {
  const cases: [string[], string[], string[]][] = [
    [["DNS:db.test"], ["db.test", "DB.test"], ["db", "x.db.test", "test", "127.0.0.1"]],
    [["DNS:*.svc.test"], ["a.svc.test"], ["svc.test", "a.b.svc.test"]],
    [["IP:127.0.0.1"], ["127.0.0.1"], ["127.0.0.2", "localhost"]],
    [["IP:0:0:0:0:0:0:0:1"], ["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]],
    [["DNS:127.0.0.1"], [], ["127.0.0.1"]],
  ];
  for (const [altNames, good, bad] of cases) {
    const raw = await certificate({ altNames });
    for (const host of good) assertEquals(serverIdentityFault(host, { raw }), undefined, host);
    for (const host of bad) assert(serverIdentityFault(host, { raw }) !== undefined, host);
  }
});

Deno.test("serverIdentityFault heeds no common name, and no name hidden in another", async () => {
  const raw = await certificate({
    subject: ["CN=db.test"],
    altNames: ["URI:spiffe://x/y, DNS:db.test", "DNS:a.test, DNS:db.test", "DNS:a.test"],
  });
  const fault = serverIdentityFault("db.test", { raw });
  assertEquals(fault?.message, "its certificate is for DNS:a.test, not for db.test");
  assertEquals(serverIdentityFault("a.test", { raw }), undefined);
});

Deno.test("serverIdentityFault says so when a certificate names no host", async () => {
  const raw = await certificate({ subject: ["CN=db.test"] });
  assertStringIncludes(serverIdentityFault("db.test", { raw })!.message, "is for no host");
});
