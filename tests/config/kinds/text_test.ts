import { assertEquals } from "@std/assert";
import {
  CACHE_URL,
  HOST_NAME,
  HTTP_URL,
  PATH,
  SERVICE,
  TOKEN,
} from "../../../lib/config/kinds/text.ts";

Deno.test("PATH keeps any text", () => {
  assertEquals(PATH.parse("/etc/tls/ca.pem"), { value: "/etc/tls/ca.pem" });
  assertEquals(PATH.show("a b"), "a b");
});

Deno.test("HOST_NAME refuses what no certificate names", () => {
  assertEquals(HOST_NAME.parse("db.prod.svc"), { value: "db.prod.svc" });
  for (const text of ["", "a b", "db:443", "https://db"]) {
    assertEquals(HOST_NAME.parse(text), { why: "expected a host name" }, text);
  }
  assertEquals(HOST_NAME.show("db"), "db");
});

Deno.test("TOKEN takes what a header can carry and never shows it", () => {
  const token = "s3cr3t!s3cr3t!s3";
  assertEquals(TOKEN.parse(token), { value: token });
  assertEquals(TOKEN.parse(token.slice(1)), {
    why: "expected 16 characters or more, such as openssl rand -hex 16 gives",
  });
  for (const text of ["", "two words", "t\u00f6ken", "a\tb"]) {
    assertEquals(TOKEN.parse(text), { why: "expected visible ASCII characters and no spaces" });
  }
  assertEquals(TOKEN.show(token), "(set)");
});

Deno.test("CACHE_URL reads redis and valkey URLs and masks the password", () => {
  for (const scheme of ["redis", "rediss", "valkey", "valkeys"]) {
    const text = `${scheme}://cache:6379/2`;
    assertEquals(CACHE_URL.parse(text), { value: text });
    assertEquals(CACHE_URL.show(text), text);
  }
  assertEquals(CACHE_URL.show("redis://me:hunter2@cache:6379"), "redis://me:***@cache:6379");
  for (const text of ["", "cache:6379", "http://cache", "redis://", "redis:cache"]) {
    assertEquals(CACHE_URL.parse(text), { why: "expected a URL such as redis://host:6379" }, text);
  }
});

Deno.test("HTTP_URL reads http and https alone", () => {
  assertEquals(HTTP_URL.parse("https://a/ready"), { value: "https://a/ready" });
  assertEquals("why" in HTTP_URL.parse("ftp://a/"), true);
  assertEquals(HTTP_URL.show("http://a"), "http://a");
});

Deno.test("SERVICE may be empty and may not hold spaces", () => {
  assertEquals(SERVICE.parse(""), { value: "" });
  assertEquals(SERVICE.parse("my.pkg.Service"), { value: "my.pkg.Service" });
  assertEquals("why" in SERVICE.parse("a b"), true);
  assertEquals(SERVICE.show("a"), "a");
});
