import { assertEquals, assertStrictEquals } from "@std/assert";
import { Field } from "../../lib/wire/mod.ts";
import { DynamicTable } from "../../lib/wire/dynamic_table.ts";
import { rng } from "../support/cuts.ts";

Deno.test("DynamicTable counts from the newest entry, and has none at 0 or beyond the oldest", () => {
  const table = new DynamicTable();
  assertEquals([table.get(0), table.get(1)], [undefined, undefined]);
  const [a, b] = [new Field("a", "1"), new Field("b", "2")];
  table.push(a);
  table.push(b);
  assertStrictEquals(table.get(1), b);
  assertStrictEquals(table.get(2), a);
  assertEquals([table.get(-1), table.get(0), table.get(3)], [undefined, undefined, undefined]);
  assertEquals([table.length, table.bytes], [2, 68]);
});

Deno.test("DynamicTable agrees with an array, however it grows, empties and goes round", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = rng(seed);
    const table = new DynamicTable();
    const model: Field[] = []; // newest first
    for (let step = 0; step < 600; step++) {
      // It fills up for a while, then empties.
      if (random() < (step % 200 < 100 ? 0.7 : 0.3) || model.length === 0) {
        const field = new Field("x", "v".repeat(Math.floor(random() * 20)));
        table.push(field);
        model.unshift(field);
      } else {
        assertStrictEquals(table.drop(), model.pop());
      }
      const index = 1 + Math.floor(random() * (model.length + 1));
      assertStrictEquals(table.get(index), model[index - 1], `seed ${seed}, step ${step}`);
      assertEquals(table.length, model.length);
      assertEquals(table.bytes, model.reduce((sum, { size }) => sum + size, 0));
    }
    for (let i = 1; i <= model.length + 1; i++) assertStrictEquals(table.get(i), model[i - 1]);
  }
});
