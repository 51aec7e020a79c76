import { assert, assertEquals } from "@std/assert";
import { chartSchema } from "../../build/chart_schema.ts";
import { OPTIONS } from "../../lib/config/mod.ts";
import { CHART } from "./helm.ts";

Deno.test("chartSchema is what the chart has: else run deno run -A build/chart_schema.ts", async () => {
  assertEquals(await Deno.readTextFile(new URL("values.schema.json", CHART)), chartSchema());
});

Deno.test("chartSchema has every option but the secrets, with what it means", () => {
  const { options } = JSON.parse(chartSchema()).properties;
  const described = Object.values<{ description: string }>(options.properties)
    .map(({ description }) => description);
  for (const { env, kind, help, flagless } of OPTIONS) {
    const found = described.some((text) => text.startsWith(`${env}: ${help}`));
    assertEquals(found, !(kind.secret || flagless), env);
  }
  assert(described.length > 40);
});

Deno.test("chartSchema takes every default that the option table has", () => {
  const { options } = JSON.parse(chartSchema()).properties;
  for (const { env, fallback } of OPTIONS) {
    const [name] = Object.entries<{ description: string }>(options.properties)
      .find(([, { description }]) => description.startsWith(`${env}: `)) ?? [];
    if (name === undefined || fallback === "") continue;
    const { type, pattern, enum: words } = options.properties[name];
    if (pattern) assert(new RegExp(pattern).test(fallback), `${env} ${fallback}`);
    if (words) assert(words.includes(fallback), `${env} ${fallback}`);
    if (type === "integer" || type === "number") assert(Number.isFinite(Number(fallback)), env);
  }
});
