import { assertEquals } from "@std/assert";
import { parseStatus, STATUS, statusName } from "../../lib/grpc/mod.ts";

Deno.test("STATUS numbers the codes 0 to 16 without a gap", () => {
  assertEquals(Object.values(STATUS), Array.from({ length: 17 }, (_, code) => code));
});

Deno.test("statusName names each code as go-grpc-middleware does", () => {
  for (
    const [code, name] of [
      [STATUS.ok, "OK"],
      [STATUS.cancelled, "Canceled"],
      [STATUS.unknown, "Unknown"],
      [STATUS.invalidArgument, "InvalidArgument"],
      [STATUS.deadlineExceeded, "DeadlineExceeded"],
      [STATUS.notFound, "NotFound"],
      [STATUS.alreadyExists, "AlreadyExists"],
      [STATUS.permissionDenied, "PermissionDenied"],
      [STATUS.resourceExhausted, "ResourceExhausted"],
      [STATUS.failedPrecondition, "FailedPrecondition"],
      [STATUS.aborted, "Aborted"],
      [STATUS.outOfRange, "OutOfRange"],
      [STATUS.unimplemented, "Unimplemented"],
      [STATUS.internal, "Internal"],
      [STATUS.unavailable, "Unavailable"],
      [STATUS.dataLoss, "DataLoss"],
      [STATUS.unauthenticated, "Unauthenticated"],
    ] as const
  ) assertEquals(statusName(code), name);
});

Deno.test("statusName gives the number of a code that gRPC does not define", () => {
  assertEquals([17, 99, -1].map(statusName), ["Code(17)", "Code(99)", "Code(-1)"]);
});

Deno.test("parseStatus reads one to five decimal digits", () => {
  for (
    const [text, code] of [["0", 0], ["7", 7], ["16", 16], ["00", 0], ["99999", 99999]] as const
  ) {
    assertEquals(parseStatus(text), code, text);
  }
});

Deno.test("parseStatus refuses everything else", () => {
  for (
    const text of [
      "",
      " ",
      "-1",
      "+1",
      " 1",
      "1 ",
      "1.0",
      "1e1",
      "0x1",
      "OK",
      "/",
      ":",
      "000000",
      "٣",
    ]
  ) {
    assertEquals(parseStatus(text), undefined, JSON.stringify(text));
  }
});
