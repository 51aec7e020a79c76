import { assert, assertFalse } from "@std/assert";
import { looksLikeHttp1 } from "../../lib/connection/http1.ts";

Deno.test("looksLikeHttp1 knows request lines, also those that are cut off in their target", () => {
  for (
    const text of [
      "GET / HTTP/1.1\r\n",
      "POST /a.B/C HTTP/1.0\r\nhost: a\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\n",
      "GET http://service.test/ HTTP/1.1\r\n",
      "GET /long",
    ]
  ) assert(looksLikeHttp1(text), text);
});

Deno.test("looksLikeHttp1 takes nothing else for one", () => {
  for (
    const text of [
      "",
      "G",
      "GET",
      "GET / HTTP/2.0\r\n",
      "get / HTTP/1.1\r\n",
      "PRI * HTTP/2.0\r\n\r\nXX",
      "EHLO a.test\r\n",
      "\x16\x03\x01\x02\0\x01\0",
      "GET /\0 HTTP/1.1",
    ]
  ) assertFalse(looksLikeHttp1(text), JSON.stringify(text));
});
