import { assertEquals } from "@std/assert";
import { SpareDescriptors } from "../../lib/transport/mod.ts";

Deno.test("SpareDescriptors lends what it has, and takes it back when there are others", () => {
  const spare = new SpareDescriptors(2);
  assertEquals([spare.count, spare.lend()], [0, false]);
  spare.refill();
  assertEquals(spare.count, 2);
  assertEquals([spare.lend(), spare.lend(), spare.lend()], [true, true, false]);
  spare.refill();
  assertEquals(spare.count, 2);
  spare.close();
  spare.refill();
  assertEquals([spare.count, spare.lend()], [0, false]);
});

Deno.test("SpareDescriptors has fewer where the system refuses more", () => {
  const { openSync } = Deno;
  let left = 1;
  Reflect.set(Deno, "openSync", (path: string) => {
    if (left-- === 0) throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
    return openSync(path);
  });
  const spare = new SpareDescriptors(3);
  try {
    spare.refill();
    assertEquals(spare.count, 1);
  } finally {
    Reflect.set(Deno, "openSync", openSync);
    spare.close();
  }
});
