import { assertEquals } from "@std/assert";
import { acceptEncodingKey, isGrpcContentType } from "../../lib/grpc/mod.ts";

Deno.test("isGrpcContentType takes the type alone, with a format, and with parameters", () => {
  for (
    const value of [
      "application/grpc",
      "application/grpc+proto",
      "application/grpc+json",
      "application/grpc+custom",
      "application/grpc+",
      "application/grpc;charset=utf-8",
      "application/grpc; charset=utf-8",
      "application/grpc \t;charset=utf-8",
      "application/grpc ",
      "application/grpc+proto; a=b",
      "Application/GRPC",
      "APPLICATION/GRPC+Proto",
      "Application/Grpc;a=b",
    ]
  ) assertEquals(isGrpcContentType(value), true, JSON.stringify(value));
});

Deno.test("isGrpcContentType refuses gRPC-Web, other types and look-alikes", () => {
  for (
    const value of [
      "",
      "application/grpc-web",
      "application/grpc-web+proto",
      "application/grpc-web-text",
      "application/grpc-web-text+proto",
      "Application/GRPC-Web",
      "application/grpcx",
      "application/grpc/proto",
      "application/grpc,application/json",
      "application/grpc proto",
      "application/grp",
      "application/json",
      "text/plain",
      " application/grpc",
      "xapplication/grpc",
    ]
  ) assertEquals(isGrpcContentType(value), false, JSON.stringify(value));
});

Deno.test("acceptEncodingKey is the same for the same encodings in any form", () => {
  for (
    const value of [
      "deflate,gzip,identity",
      "identity,deflate,gzip",
      "identity, deflate, gzip",
      " gzip ,\tidentity,deflate ",
      "gzip,gzip,identity,deflate,gzip",
      ",gzip,,identity,deflate,",
    ]
  ) assertEquals(acceptEncodingKey(value), "deflate,gzip,identity", JSON.stringify(value));
});

Deno.test("acceptEncodingKey of one name is that name, of none is empty", () => {
  assertEquals(
    ["gzip", " gzip ", "gzip,", "gzip,gzip"].map(acceptEncodingKey),
    Array(4).fill("gzip"),
  );
  assertEquals(["", "  ", ",", " , "].map(acceptEncodingKey), Array(4).fill(""));
});

Deno.test("acceptEncodingKey differs when the encodings differ", () => {
  const values = [
    "",
    "gzip",
    "identity",
    "gzip,identity",
    "gzip,deflate",
    "GZIP",
    "gz ip",
    "x-gzip",
  ];
  assertEquals(new Set(values.map(acceptEncodingKey)).size, values.length);
});
