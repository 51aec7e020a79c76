import { assertEquals } from "@std/assert";
import { ATTEMPTS, positive, UINT32 } from "../../../lib/config/policy/grpc_kind.ts";
import { Place, Report } from "../../../lib/config/policy/place.ts";

function place(value: string | number): Place {
  const json = typeof value === "number"
    ? { kind: "number", line: 1, value } as const
    : { kind: "text", line: 1, value } as const;
  return new Place(json);
}

Deno.test("ATTEMPTS takes more than gRPC makes for as many as it makes, and says so", () => {
  const report = new Report();
  assertEquals([5, 6, "12"].map((value) => ATTEMPTS.read(place(value), report)), [5, 5, 5]);
  assertEquals([report.isBad, report.warnings.length], [false, 2]);
});

Deno.test("UINT32 and positive take digits in a text, as protobuf's JSON does", () => {
  const report = new Report();
  assertEquals(UINT32.read(place("4294967295"), report), 2 ** 32 - 1);
  assertEquals(positive(1_000).read(place("0.25"), report), 0.25);
  assertEquals(report.isBad, false);
  assertEquals(UINT32.read(place("4294967296"), report), undefined);
  assertEquals(positive(1_000).read(place("1001"), report), undefined);
  assertEquals(positive().read(place("1e3"), report), undefined);
  assertEquals(report.faults.length, 3);
});
