import { assertEquals } from "@std/assert";
import { STATIC_TABLE, staticNameIndex, staticValues } from "../../lib/wire/static_table.ts";

Deno.test("STATIC_TABLE has the 61 entries of RFC 7541 Appendix A where they belong", () => {
  assertEquals(STATIC_TABLE.length, 61);
  const samples: [index: number, name: string, value: string][] = [
    [1, ":authority", ""],
    [2, ":method", "GET"],
    [3, ":method", "POST"],
    [4, ":path", "/"],
    [5, ":path", "/index.html"],
    [6, ":scheme", "http"],
    [7, ":scheme", "https"],
    [8, ":status", "200"],
    [14, ":status", "500"],
    [15, "accept-charset", ""],
    [16, "accept-encoding", "gzip, deflate"],
    [17, "accept-language", ""],
    [19, "accept", ""],
    [28, "content-length", ""],
    [31, "content-type", ""],
    [32, "cookie", ""],
    [38, "host", ""],
    [46, "location", ""],
    [50, "range", ""],
    [54, "server", ""],
    [57, "transfer-encoding", ""],
    [58, "user-agent", ""],
    [61, "www-authenticate", ""],
  ];
  for (const [index, name, value] of samples) {
    assertEquals(STATIC_TABLE[index - 1], [name, value], `index ${index}`);
  }
});

Deno.test("STATIC_TABLE has no entry twice, and regular names in their order", () => {
  assertEquals(new Set(STATIC_TABLE.map((entry) => entry.join("\0"))).size, 61);
  const regular = STATIC_TABLE.slice(14).map(([name]) => name);
  // The one pair that the RFC has out of order.
  const sorted = [...regular].sort().filter((name) => name !== "accept");
  assertEquals(regular.filter((name) => name !== "accept"), sorted);
});

Deno.test("staticValues finds each entry again and nothing else", () => {
  STATIC_TABLE.forEach(([name, value], i) => {
    assertEquals(staticValues(name)?.get(value), i + 1);
    assertEquals(staticValues(name)?.get(`${value}?`), undefined);
  });
  assertEquals(staticValues("x-absent"), undefined);
  assertEquals(staticValues("__proto__"), undefined);
});

Deno.test("staticNameIndex finds the first entry of a name", () => {
  const indexes = [":method", ":path", ":scheme", ":status", "te", "__proto__"].map(
    staticNameIndex,
  );
  assertEquals(indexes, [2, 4, 6, 8, 0, 0]);
});
