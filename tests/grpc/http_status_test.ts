import { assertEquals } from "@std/assert";
import { statusOfHttp } from "../../lib/grpc/mod.ts";

const MAPPED = new Map([
  [400, 13],
  [401, 16],
  [403, 7],
  [404, 12],
  [429, 14],
  [431, 13],
  [502, 14],
  [503, 14],
  [504, 14],
]);

Deno.test("statusOfHttp follows http-grpc-status-mapping, and is UNKNOWN for every other code", () => {
  for (let httpStatus = 0; httpStatus < 1000; httpStatus++) {
    assertEquals(statusOfHttp(httpStatus), MAPPED.get(httpStatus) ?? 2, `HTTP ${httpStatus}`);
  }
});

Deno.test("statusOfHttp is UNKNOWN for what is no HTTP status", () => {
  assertEquals(statusOfHttp(NaN), 2);
});
