import { assertEquals, assertStringIncludes } from "@std/assert";
import { Process } from "../support/process.ts";

Deno.test("compile takes the target that the builder of an image names, and refuses one it has not", async () => {
  const env = { TARGETARCH: "riscv64" };
  await using process = new Process(["run", "-A", "--no-lock", "build/compile.ts"], env);
  assertEquals((await process.end()).code, 64, process.said);
  assertStringIncludes(process.said, 'Cannot compile for "riscv64"');
});
