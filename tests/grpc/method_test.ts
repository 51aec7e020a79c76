import { assertEquals } from "@std/assert";
import { splitMethod } from "../../lib/grpc/mod.ts";

Deno.test("splitMethod splits at the last slash", () => {
  for (
    const [path, service, method] of [
      ["/demo.Catalog/GetItem", "demo.Catalog", "GetItem"],
      ["/Catalog/GetItem", "Catalog", "GetItem"],
      ["/a/b/c", "a/b", "c"],
      ["/a//c", "a/", "c"],
      ["//a/b", "/a", "b"],
      ["/a/b", "a", "b"],
      ["/A/b?c=d", "A", "b?c=d"],
    ] as const
  ) assertEquals(splitMethod(path), { service, method }, path);
});

Deno.test("splitMethod refuses a path without leading slash, service or method", () => {
  for (
    const path of [
      "",
      "/",
      "//",
      "///",
      "/x",
      "x",
      "x/y",
      "ab/y",
      "/x/",
      "//x",
      "a/b/c",
      "*",
      "/a/b/",
    ]
  ) {
    assertEquals(splitMethod(path), undefined, path);
  }
});
