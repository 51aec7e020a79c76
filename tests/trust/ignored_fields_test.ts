import { assertEquals } from "@std/assert";
import { compileIgnoredFields, type MessageNames } from "../../lib/trust/mod.ts";

const FIELDS = new Map([
  ["bar.Thing stamp", { number: 3, message: "bar.Stamp" }],
  ["bar.Thing title", { number: 1 }],
  ["bar.Stamp made", { number: 1 }],
]);

const NAMES: MessageNames = {
  answer: "bar.Thing",
  fieldOf: (message, name) => FIELDS.get(`${message} ${name}`),
};

Deno.test("compileIgnoredFields reads numbers without any descriptor", () => {
  assertEquals(
    compileIgnoredFields(["3.1", "3.2", "4"]).ignored,
    new Map<number, unknown>([[3, new Map([[1, "all"], [2, "all"]])], [4, "all"]]) as never,
  );
});

Deno.test("compileIgnoredFields reads names by the descriptors, and names beside numbers", () => {
  const { ignored, unknown } = compileIgnoredFields(["stamp.made", "stamp.7", "title"], NAMES);
  assertEquals(
    ignored,
    new Map<number, unknown>([[3, new Map([[1, "all"], [7, "all"]])], [1, "all"]]) as never,
  );
  assertEquals(unknown, []);
});

Deno.test("compileIgnoredFields ignores nothing for a name that nobody knows, and tells it", () => {
  const none = { ignored: undefined, unknown: ["stamp.made"] };
  assertEquals(compileIgnoredFields(["stamp.made"]), none);
  const elsewhere = compileIgnoredFields(["made", "title.made", "0", "3.", "536870912"], NAMES);
  assertEquals(elsewhere.ignored, undefined);
  assertEquals(elsewhere.unknown, ["made", "title.made", "0", "3.", "536870912"]);
});

Deno.test("compileIgnoredFields lets the broader of two paths hold, in either order", () => {
  const broad = new Map([[3, "all" as const]]);
  assertEquals(compileIgnoredFields(["3", "3.1"]).ignored, broad);
  assertEquals(compileIgnoredFields(["3.1", "3"]).ignored, broad);
});
