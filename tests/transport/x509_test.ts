import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { type DerValue, namesIn } from "../../lib/transport/x509.ts";
import { Authority, der, derOf } from "../support/certificates.ts";
import {
  attribute,
  extension,
  nameOf,
  oid,
  PUBLIC_KEY,
  TAG,
  text,
  unsigned,
  unsignedNames,
} from "./unsigned_certificate.ts";

const SUBJECT = nameOf([[attribute("CN", TAG.utf8, text("a"))]]);
const DNS = der(0x82, text("a.test"));
const CERTIFICATE = unsignedNames(SUBJECT, [DNS]);

/** Nearly 64 KiB of them, the most that Deno's TLS takes in a handshake. */
const MANY_NAMES = 5_000;

Deno.test("namesIn finds the subject and every alternative name, as a CA has written them", async () => {
  const { cert } = await (await Authority.make()).issue({
    subject: ["O=team", "CN=a"],
    altNames: ["DNS:a.test", "URI:spiffe://test/a", "IP:127.0.0.1", "email:a@b.test"],
  });
  const { subject, altNames } = namesIn(derOf(cert))!;
  const o = attribute("O", TAG.utf8, text("team"));
  assertEquals(hex(subject), toHex(nameOf([[o], [attribute("CN", TAG.utf8, text("a"))]])));
  assertEquals(altNames.map(({ tag }) => tag), [0x82, 0x86, 0x87, 0x81]);
  assertEquals(altNames.map(({ content }) => toHex(content)), [
    toHex(text("a.test")),
    toHex(text("spiffe://test/a")),
    "7f000001",
    toHex(text("a@b.test")),
  ]);
  assertEquals(hex(altNames[0]!), toHex(DNS));
});

Deno.test("namesIn finds the names of a certificate without version, without names, and with thousands", () => {
  assertEquals(hex(namesIn(unsigned({ subject: SUBJECT }))!.subject), toHex(SUBJECT));
  assertEquals(namesIn(unsigned({ subject: SUBJECT }))!.altNames, []);
  assertEquals(namesIn(unsigned({ extensions: [] }))!.subject.content.length, 0);
  assertEquals(namesIn(unsignedNames(SUBJECT, []))!.altNames, []);
  const many = Array.from({ length: MANY_NAMES }, (_, i) => der(0x82, text(`a${i}.test`)));
  const found = namesIn(unsignedNames(SUBJECT, many))!;
  assertEquals(found.altNames.map(hex), many.map(toHex));
});

Deno.test("namesIn takes alternative names from their extension alone, and from each of those", () => {
  const [b, c] = [der(0x82, text("b.test")), der(0x82, text("c.test"))];
  const extensions = [
    extension("issuerAltNames", [b]),
    extension("altNames", [DNS], true),
    extension("altNames", [c]),
    // The same identifier, written longer than DER has it, and its bytes as what is no identifier.
    der(TAG.sequence, oid("551d8011"), der(TAG.octetString, der(TAG.sequence, b))),
    der(TAG.sequence, der(TAG.octetString, Uint8Array.of(0x55, 0x1d, 0x11)), der(0x04, b)),
  ];
  assertEquals(namesIn(unsigned({ extensions }))!.altNames.map(hex), [DNS, c].map(toHex));
});

Deno.test("namesIn reads lengths of one byte and of several", () => {
  for (const length of [0, 0x7f, 0x80, 0xff, 0x100, 0xff00]) {
    const name = der(0x82, new Uint8Array(length));
    const [found] = namesIn(unsignedNames(SUBJECT, [name]))!.altNames;
    assertEquals([hex(found!), found!.content.length], [toHex(name), length]);
  }
});

Deno.test("namesIn finds nothing in a certificate that is cut anywhere, or that something follows", () => {
  assertNotEquals(namesIn(CERTIFICATE), undefined);
  for (let cut = 0; cut < CERTIFICATE.length; cut++) {
    assertEquals(namesIn(CERTIFICATE.subarray(0, cut)), undefined, `cut at ${cut}`);
  }
  for (const after of [Uint8Array.of(0), der(0x05), CERTIFICATE]) {
    assertEquals(namesIn(new Uint8Array([...CERTIFICATE, ...after])), undefined);
  }
});

Deno.test("namesIn finds nothing where a value is not as long as it says, or no DER", () => {
  const rest = [0x0c, 2, 0x61, 0x61];
  const subjects: Record<string, number[]> = {
    "runs into what follows": [0x30, 4, 0x0c, 8, 0x61, 0x61],
    "has a part that does": [0x30, 6, 0x31, 4, 0x0c, 8, 0x61, 0x61],
    "has a part that ends outside": [0x30, 5, ...rest, 0x0c, 0],
    "has a time that is none": [0x30, 4, 0x18, 2, 0x52, 0x1a],
    "has no length": [0x30, 0x80, ...rest, 0, 0],
    "has no length and no end": [0x30, 0x80],
    "is empty and has no length": [0x30, 0x80, 0, 0],
    "has a reserved length": [0x30, 0xff, ...rest],
    "has a length beyond all bytes": [0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  };
  for (const [what, bytes] of Object.entries(subjects)) {
    const subject = Uint8Array.from(bytes);
    assertEquals(namesIn(unsigned({ subject, extensions: [] })), undefined, what);
    const asName = Uint8Array.of(0xa4, ...bytes.slice(1));
    assertEquals(namesIn(unsignedNames(SUBJECT, [asName])), undefined, `a name that ${what}`);
  }
  for (const broken of [der(TAG.sequence, oid("551d11")), DNS]) {
    assertEquals(namesIn(unsigned({ subject: SUBJECT, extensions: [broken] })), undefined);
  }
  for (const bytes of [[], [0x05, 0], [0x30, 0], [0x30, 2, 0x30, 0], [0x1f, 1, 0]]) {
    assertEquals(namesIn(Uint8Array.from(bytes)), undefined);
  }
});

Deno.test("namesIn finds nothing where a name swallows whole what follows it", () => {
  const subject = Uint8Array.of(TAG.sequence, 2, TAG.utf8, PUBLIC_KEY.length);
  assertEquals(namesIn(unsigned({ subject, extensions: [] })), undefined);
  const name = Uint8Array.of(0xa4, 2, TAG.utf8, DNS.length);
  assertEquals(namesIn(unsignedNames(SUBJECT, [name, DNS])), undefined);
});

Deno.test("namesIn never throws, whichever bit of a certificate is another, however deep it goes", () => {
  const found: (string | undefined)[] = [];
  for (let at = 0; at < CERTIFICATE.length; at++) {
    for (let bit = 1; bit < 0x100; bit *= 2) {
      const bytes = CERTIFICATE.slice();
      bytes[at]! ^= bit;
      found.push(namesIn(bytes)?.altNames.map(hex).join());
    }
  }
  assertEquals(found.length, CERTIFICATE.length * 8);
  assert(found.includes(undefined) && found.includes(toHex(DNS)));
  let deep = SUBJECT;
  for (let depth = 0; depth < 300; depth++) deep = der(TAG.sequence, deep);
  assertEquals(namesIn(unsigned({ subject: deep })), undefined);
});

function hex({ bytes }: DerValue): string {
  return toHex(bytes);
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
