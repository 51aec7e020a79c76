import { assertEquals } from "@std/assert";
import { cautions } from "../../lib/config/cautions.ts";
import { settingsOf } from "./support.ts";

const LONG = "t".repeat(16);

function cautionedBy(variables: Record<string, string>): readonly (string | undefined)[] {
  return cautions(settingsOf(variables)).map((line) => line.split(" ")[0]);
}

Deno.test("cautions has nothing to say about the defaults", () => {
  assertEquals(cautionedBy({}), []);
});

Deno.test("cautions names each setting that can hurt", () => {
  const cases = [
    [{ COLLAPSER_METHODS: "*" }, ["COLLAPSER_METHODS"]],
    [{ COLLAPSER_KEY_HEADERS: "x-tenant" }, ["COLLAPSER_KEY_HEADERS"]],
    [{ COLLAPSER_KEY_HEADERS: "x-tenant,authorization" }, []],
    [{ COLLAPSER_IGNORE_HEADERS: "cookie" }, ["COLLAPSER_IGNORE_HEADERS"]],
    [{ COLLAPSER_IGNORE_HEADERS: "baggage" }, []],
    [{ COLLAPSER_CACHE_ERRORS: "true" }, ["COLLAPSER_CACHE_ERRORS"]],
    [{ COLLAPSER_CACHE_ERRORS: "true", COLLAPSER_CACHE_DURATION: "0" }, []],
    [{ COLLAPSER_CACHE_DURATION: "1m" }, []],
    [{ COLLAPSER_CACHE_DURATION: "61s" }, ["COLLAPSER_CACHE_DURATION"]],
    [{ ADMIN_TOKEN: LONG }, ["ADMIN_TOKEN"]],
    [{ ADMIN_TOKEN: LONG, METRICS_HOST: "10.0.0.1" }, ["ADMIN_TOKEN"]],
    [{ ADMIN_TOKEN: LONG, METRICS_HOST: "127.0.0.1" }, []],
    [{ ADMIN_TOKEN: LONG, METRICS_HOST: "[::1]" }, []],
    [{ ADMIN_TOKEN: LONG, METRICS_HOST: "localhost" }, []],
    [{ ADMIN_TOKEN: LONG, ADMIN_HOST: "127.0.0.1", ADMIN_PORT: "2113" }, []],
    [{ ADMIN_TOKEN_FILE: "/run/token" }, ["ADMIN_TOKEN"]],
  ] as const;
  for (const [variables, want] of cases) assertEquals(cautionedBy(variables), [...want]);
});

Deno.test("cautions is silent about collapsing when nothing collapses", () => {
  assertEquals(cautionedBy({ COLLAPSER_METHODS: "*", COLLAPSER_MODE: "off" }), []);
  assertEquals(cautionedBy({ ADMIN_TOKEN: LONG, COLLAPSER_MODE: "off" }), ["ADMIN_TOKEN"]);
});
