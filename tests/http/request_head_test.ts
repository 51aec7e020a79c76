import { assert, assertEquals } from "@std/assert";
import { parseRequestHead } from "../../lib/http/request_head.ts";

/** A head as it is handed over: lines without the empty one. */
function headOf(...lines: string[]): string {
  return lines.join("\r\n");
}

function statusOf(...lines: string[]): number | undefined {
  const read = parseRequestHead(headOf(...lines));
  return "status" in read ? read.status : undefined;
}

Deno.test("parseRequestHead reads method, URL and fields", () => {
  const read = parseRequestHead(
    headOf("POST /api/purge?method=/a.S/M HTTP/1.1", "Host: localhost:2112", "X-A:  b\t", "x-a: c"),
  );
  assert("method" in read);
  assertEquals(read.method, "POST");
  assertEquals(read.url, "http://localhost:2112/api/purge?method=/a.S/M");
  assertEquals(read.headers.get("x-a"), "b, c");
  assertEquals([read.bodyBytes, read.keepsOpen, read.takesChunks], [0, true, true]);
});

Deno.test("parseRequestHead takes a URL in absolute form, which goes before Host", () => {
  const read = parseRequestHead(headOf("GET http://a.test/x HTTP/1.1", "host: b.test"));
  assert("method" in read);
  assertEquals(read.url, "http://a.test/x");
});

Deno.test("parseRequestHead knows who takes another answer on the connection", () => {
  const cases = [
    ["HTTP/1.1", [], true],
    ["HTTP/1.1", ["connection: close"], false],
    ["HTTP/1.1", ["connection: upgrade,  CLOSE"], false],
    ["HTTP/1.0", [], false],
    ["HTTP/1.0", ["Connection: Keep-Alive"], true],
  ] as const;
  for (const [version, fields, want] of cases) {
    const read = parseRequestHead(headOf(`GET / ${version}`, "host: x", ...fields));
    assert("method" in read);
    assertEquals(read.keepsOpen, want, `${version} ${fields}`);
    assertEquals(read.takesChunks, version === "HTTP/1.1");
  }
});

Deno.test("parseRequestHead needs a Host of HTTP/1.1 alone, and never takes two", () => {
  assertEquals(statusOf("GET / HTTP/1.0"), undefined);
  assertEquals(statusOf("GET / HTTP/1.1"), 400);
  assertEquals(statusOf("GET / HTTP/1.1", "host: a", "Host: a"), 400);
  assertEquals(statusOf("GET / HTTP/1.1", "host: ]["), 400);
  assertEquals(statusOf("GET / HTTP/1.1", "host: a@b"), 400);
  assertEquals(statusOf("GET / HTTP/1.1", "host: a/b"), 400);
});

Deno.test("parseRequestHead refuses what two readers might read in two ways", () => {
  const host = "host: x";
  for (
    const fields of [
      ["content-length: 1", "content-length: 1"],
      ["content-length: 1, 1"],
      ["content-length: +1"],
      ["content-length: 0x1"],
      ["content-length: "],
      ["a : b"],
      [" a: b"],
      ["a: b", "\tfolded"],
      ["a: b\nc: d"],
      ["a: b\rc: d"],
      ["a: b\0"],
      [": b"],
      ["no colon"],
      [""],
    ]
  ) {
    assertEquals(statusOf("GET / HTTP/1.1", host, ...fields), 400, JSON.stringify(fields));
  }
});

Deno.test("parseRequestHead refuses request lines that are none", () => {
  for (
    const line of [
      "",
      "GET",
      "GET /",
      "GET  / HTTP/1.1",
      " GET / HTTP/1.1",
      "GET / HTTP/1.1 ",
      "GET / http/1.1",
      "GET / HTTP/11",
      "GET x HTTP/1.1",
      "GET * HTTP/1.1",
      "GET /\x7f HTTP/1.1",
      "GET /é HTTP/1.1",
      "G:T / HTTP/1.1",
      "GET / HTTP/1.1\n",
    ]
  ) {
    assertEquals(statusOf(line, "host: x"), 400, JSON.stringify(line));
  }
});

Deno.test("parseRequestHead answers other versions with 505, HTTP/2's preface too", () => {
  for (const version of ["HTTP/2.0", "HTTP/0.9", "HTTP/3.0"]) {
    assertEquals(statusOf(`GET / ${version}`, "host: x"), 505, version);
  }
  assertEquals(statusOf("PRI * HTTP/2.0"), 505);
});

Deno.test("parseRequestHead bounds the body, and wants its length beforehand", () => {
  const host = "host: x";
  const read = parseRequestHead(headOf("POST / HTTP/1.1", host, "Content-Length: 1024"));
  assertEquals("method" in read && read.bodyBytes, 1_024);
  assertEquals(statusOf("POST / HTTP/1.1", host, "content-length: 1025"), 413);
  assertEquals(statusOf("POST / HTTP/1.1", host, `content-length: ${"9".repeat(16)}`), 400);
  assertEquals(statusOf("POST / HTTP/1.1", host, "transfer-encoding: chunked"), 411);
  const both = ["content-length: 3", "transfer-encoding: chunked"];
  assertEquals(statusOf("POST / HTTP/1.1", host, ...both), 411);
  assertEquals(statusOf("POST / HTTP/1.1", host, "expect: 100-continue"), 417);
});
