import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { describeMethods, describeSettings } from "../../lib/config/describe.ts";
import { OPTIONS } from "../../lib/config/options.ts";
import { settingsOf } from "./support.ts";

Deno.test("describeSettings has a line for every variable, in their order", () => {
  assertEquals(describeSettings(settingsOf()).map(({ name }) => name), OPTIONS.map((o) => o.env));
});

Deno.test("describeSettings shows values as they could be written", () => {
  const lines = describeSettings(settingsOf({ BACKEND_TIMEOUT: "90s", GRPC_HOST: "::1" }));
  const value = (name: string) => lines.find((line) => line.name === name)?.value;
  assertEquals(
    ["BACKEND_TIMEOUT", "GRPC_HOST", "COLLAPSER_KEY_HEADERS", "COLLAPSER_JOIN_MAX_AGE"].map(value),
    ["1m30s", "[::1]", "", "1m30s"],
  );
});

Deno.test("describeSettings shows no secret", () => {
  const settings = {
    ...settingsOf(),
    adminToken: "hunter2",
    sharedCacheUrl: "redis://me:hunter2@cache:6379",
  };
  const text = JSON.stringify(describeSettings(settings));
  assertFalse(text.includes("hunter2"));
  assertStringIncludes(text, "redis://me:***@cache:6379");
});

Deno.test("describeMethods says what each form of the list means", () => {
  const cases = [
    [{ COLLAPSER_MODE: "off" }, "No method collapses: COLLAPSER_MODE is off."],
    [{}, "Where there is none, or it says nothing, the name decides"],
    [{ COLLAPSER_METHODS: "auto,!/a.B/C,!/a.D/*" }, "Never /a.B/C, /a.D/*."],
    [{ COLLAPSER_METHODS: "*" }, "Every method collapses, whatever it does."],
    [{ COLLAPSER_METHODS: "*,!/a.B/C" }, "whatever it does. Never /a.B/C."],
    [
      { COLLAPSER_METHODS: "/a.B/*,!/a.B/C" },
      "These methods collapse, and no other: /a.B/*, !/a.B/C.",
    ],
  ] as const;
  for (const [variables, want] of cases) {
    assertStringIncludes(describeMethods(settingsOf(variables)), want);
  }
  assertStringIncludes(
    describeMethods({ ...settingsOf(), methods: ["schema"] }),
    "and no other does.",
  );
});
