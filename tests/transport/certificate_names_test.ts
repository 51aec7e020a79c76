import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { identityOf, serverIdentityFault } from "../../lib/transport/certificate_names.ts";
import { Authority, type CertificateContent, der, derOf } from "../support/certificates.ts";
import {
  attribute,
  extension,
  nameOf,
  oid,
  TAG,
  text,
  unsigned,
  type UnsignedContent,
  unsignedNames,
} from "./unsigned_certificate.ts";

const authority = await Authority.make();

async function certificate(content: CertificateContent): Promise<Uint8Array> {
  return derOf((await authority.issue(content)).cert);
}

async function identity(content: CertificateContent): Promise<string> {
  return identityOf(await certificate(content));
}

/** Of all certificates that name this: none of them stands for itself. */
function identityAnyway(content: UnsignedContent): string {
  const [one, other] = [1, 2].map((serial) => identityOf(unsigned({ ...content, serial })));
  assertEquals(one, other);
  return one!;
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

Deno.test("identityOf tells apart subjects that read the same, or are made of the same", () => {
  const [a, b] = [attribute("CN", TAG.utf8, text("a")), attribute("CN", TAG.utf8, text("b"))];
  const o = attribute("O", TAG.utf8, text("a"));
  const one = (tag: number, ...bytes: number[]) => [attribute("CN", tag, Uint8Array.from(bytes))];
  const subjects: Uint8Array[][][] = [
    // "a" in every kind of text.
    [one(TAG.utf8, 0x61)],
    [one(TAG.printable, 0x61)],
    [one(TAG.teletex, 0x61)],
    [one(TAG.ia5, 0x61)],
    [one(TAG.bmp, 0, 0x61)],
    [one(TAG.universal, 0, 0, 0, 0x61)],
    [one(TAG.octetString, 0x61)],
    // What is no UTF-8, beside the text that readers put in its place.
    [one(TAG.utf8, 0xff)],
    [one(TAG.utf8, 0xfe)],
    [one(TAG.utf8, 0xc3, 0xbf)],
    [one(TAG.utf8, 0xef, 0xbf, 0xbd)],
    [one(TAG.ia5, 0xff)],
    [one(TAG.bmp, 0xd8, 0x00)],
    [one(TAG.bmp, 0xff, 0xfd)],
    // An end inside, spaces and case that comparing by RFC 5280 §7.1 would not heed.
    [one(TAG.utf8, 0x61, 0)],
    [one(TAG.utf8, 0x61, 0x20)],
    [one(TAG.utf8, 0x41)],
    [one(TAG.utf8)],
    [one(TAG.utf8, ...text("a,CN=b"))],
    // Attributes twice, in one set and in several, and in another order.
    [[a], [a]],
    [[a, a]],
    [[a], [b]],
    [[b], [a]],
    [[a, b]],
    [[b, a]],
    [[a, o]],
    [[a], [o]],
    [[o]],
    [[a], []],
    [[], [a]],
  ];
  const identities = subjects.map((sets) => identityAnyway({ subject: nameOf(sets) }));
  assertEquals(new Set(identities).size, subjects.length);
});

Deno.test("identityOf tells apart alternative names of every kind, whatever is in them", () => {
  const a = text("a");
  const [upn, other] = [oid("2b060104018237140203"), oid("2b0601040182371402")];
  const named = nameOf([[attribute("CN", TAG.utf8, a)]]);
  const lists: Uint8Array[][] = [
    ...[0x81, 0x82, 0x83, 0x86, 0x87, 0x88, 0x1f].map((tag) => [
      tag === 0x1f ? Uint8Array.of(0x9f, 0x1f, 1, 0x61) : der(tag, a),
    ]),
    [der(0x82)],
    [der(0x82), der(0x82)],
    [der(0xa0, upn, der(0xa0, der(TAG.utf8, a)))],
    [der(0xa0, other, der(0xa0, der(TAG.utf8, a)))],
    [der(0xa0, upn, der(0xa0, der(TAG.ia5, a)))],
    [der(0xa0, upn, der(0xa0, der(TAG.utf8, text("b"))))],
    [der(0xa3, der(TAG.utf8, a))],
    [der(0xa4, named)],
    [der(0xa4, nameOf([[attribute("CN", TAG.printable, a)]]))],
    [der(0xa5, der(0xa1, der(TAG.utf8, a)))],
    [der(0x87, Uint8Array.of(127, 0, 0, 1))],
    [der(0x87, new Uint8Array(16))],
    [der(0x87, text("127.0.0.1"))],
    [der(0x82, text("127.0.0.1"))],
    [der(0x88, Uint8Array.of(0x2a, 0x03))],
    [der(0x88, Uint8Array.of(0x2a, 0x80, 0x03))], // the same identifier, written longer
    [der(0x86, text("a:%61"))],
    [der(0x86, text("a:a"))],
    [der(0x82, text("ab"))],
    [der(0x82, a), der(0x82, text("b"))],
    [Uint8Array.of(0x82, 0x81, 1, 0x61)], // a length written longer
  ];
  const contents = lists.map((list) => ({ extensions: [extension("altNames", list)] }));
  const identities = [...contents, { subject: named }].map(identityAnyway);
  assertEquals(new Set(identities).size, lists.length + 1);
});

Deno.test("identityOf takes alternative names in any order, from one extension or two, critical or not", () => {
  const subject = nameOf([[attribute("CN", TAG.utf8, text("a"))]]);
  const [b, c] = [der(0x82, text("b")), der(0x86, text("c"))];
  const identity = identityOf(unsignedNames(subject, [b, c]));
  const same = [
    [extension("altNames", [c, b])],
    [extension("altNames", [b, c], true)],
    [extension("altNames", [c]), extension("altNames", [b], true)],
    [extension("issuerAltNames", [b]), extension("altNames", [b, c])],
  ];
  for (const extensions of same) {
    assertEquals(identityOf(unsigned({ subject, extensions })), identity);
  }
  const others = [
    [extension("altNames", [b])],
    [extension("altNames", [b, c]), extension("altNames", [c])],
    [],
  ];
  const identities = others.map((extensions) => identityOf(unsigned({ subject, extensions })));
  assertEquals(new Set([identity, ...identities]).size, others.length + 1);
  const nobody = unsigned({ subject, extensions: [extension("issuerAltNames", [b, c])] });
  assertEquals(identityOf(nobody), identityOf(unsigned({ subject })));
});

Deno.test("identityOf is another for every bit that is another in a name", () => {
  const subject = nameOf([[attribute("CN", TAG.utf8, text("a"))]]);
  const names = [der(0x82, text("b")), der(0xa4, subject)];
  const whole = unsignedNames(subject, names);
  const seen = new Set([identityOf(whole)]);
  let count = 1;
  for (const part of [subject, ...names]) {
    const from = indexOf(whole, part);
    for (let at = from; at < from + part.length; at++) {
      for (let bit = 1; bit < 0x100; bit *= 2) {
        const bytes = whole.slice();
        bytes[at]! ^= bit;
        seen.add(identityOf(bytes));
        count++;
      }
    }
  }
  assertEquals(seen.size, count);
});

Deno.test("identityOf takes a certificate without any name for itself", async () => {
  const [one, other] = [await certificate({}), await certificate({})];
  assertEquals(identityOf(one), identityOf(one.slice()));
  assertNotEquals(identityOf(one), identityOf(other));
  const empty = Uint8Array.of(TAG.sequence, 0x81, 0); // a length written longer
  const [first, second] = [[], undefined].map((extensions) =>
    identityOf(unsigned({ subject: empty, extensions }))
  );
  assertNotEquals(first, second);
});

Deno.test("identityOf takes bytes that are no certificate for themselves", async () => {
  const whole = await certificate({ subject: ["CN=a"], altNames: ["DNS:a.test"] });
  const seen = new Set([identityOf(whole)]);
  for (let cut = 0; cut < whole.length; cut++) seen.add(identityOf(whole.subarray(0, cut)));
  for (const after of [Uint8Array.of(0), der(0x05), whole]) {
    seen.add(identityOf(new Uint8Array([...whole, ...after])));
  }
  assertEquals(seen.size, 1 + whole.length + 3);
});

Deno.test("identityOf takes no subject for the certificate that has the same bytes", () => {
  const nameless = unsigned({});
  assertNotEquals(identityOf(unsigned({ subject: nameless })), identityOf(nameless));
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

Deno.test("serverIdentityFault takes no address of another length than addresses have", () => {
  const v6 = [...new Uint8Array(15), 1];
  for (const bytes of [[127, 0, 0], [127, 0, 0, 1, 0], v6.slice(1), [...v6, 0]]) {
    const raw = unsignedNames(nameOf([]), [der(0x87, Uint8Array.from(bytes))]);
    for (const host of ["127.0.0.1", "::1"]) {
      const fault = serverIdentityFault(host, { raw });
      assertEquals(fault?.message, `its certificate is for no host, not for ${host}`);
    }
  }
});

Deno.test("serverIdentityFault has one for bytes that are no certificate, and never throws", async () => {
  const whole = await certificate({ altNames: ["DNS:db.test"] });
  assertEquals(serverIdentityFault("db.test", { raw: whole }), undefined);
  for (let cut = 0; cut < whole.length; cut++) {
    const fault = serverIdentityFault("db.test", { raw: whole.subarray(0, cut) });
    assertEquals(fault?.message, "its certificate is for no host, not for db.test");
  }
});

function indexOf(whole: Uint8Array, part: Uint8Array): number {
  const at = Buffer.from(whole).indexOf(part);
  assert(at >= 0);
  return at;
}
