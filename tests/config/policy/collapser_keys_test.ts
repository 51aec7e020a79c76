import { assertEquals } from "@std/assert";
import { COLLAPSER_KEYS } from "../../../lib/config/policy/collapser_keys.ts";
import { STATUS_NAMES } from "../../../lib/config/policy/status_names.ts";
import { OPTION_TABLE } from "../../../lib/config/option_table.ts";
import { MODES, PRIORITIES } from "../../../lib/downstream/mod.ts";
import { STATUS } from "../../../lib/grpc/mod.ts";

Deno.test("COLLAPSER_KEYS has the words that the data plane has", () => {
  const wordsOf = (key: string) => COLLAPSER_KEYS.find((row) => row.key === key)?.kind.schema.enum;
  assertEquals(wordsOf("mode"), MODES);
  assertEquals(wordsOf("priority"), PRIORITIES);
});

Deno.test("COLLAPSER_KEYS names each key once, each with a field of its own and a default", () => {
  const rows = COLLAPSER_KEYS.map(({ key, fills }) => [key, fills] as const);
  assertEquals(new Set(rows.map(([key]) => key)).size, 20);
  assertEquals(new Set(rows.map(([, fills]) => fills)).size, 20);
  for (const { key, option, fallback } of COLLAPSER_KEYS) {
    const isKnown = option !== undefined && Object.hasOwn(OPTION_TABLE, option);
    assertEquals(isKnown, fallback === undefined, key);
  }
});

Deno.test("STATUS_NAMES has every gRPC status at its number", () => {
  for (const [name, number] of Object.entries(STATUS)) {
    const spelt = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    assertEquals(STATUS_NAMES[number], spelt);
  }
  assertEquals(STATUS_NAMES.length, Object.keys(STATUS).length);
});
