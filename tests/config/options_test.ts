import { assert, assertEquals, assertThrows } from "@std/assert";
import { flagOf, optionFor, OPTIONS } from "../../lib/config/options.ts";
import { settingsOf } from "./support.ts";

/** Those the Go original reads, with its defaults: a manifest for it must go on working. */
const ORIGINAL: Readonly<Record<string, string>> = {
  GRPC_PORT: "50052",
  METRICS_PORT: "2112",
  BACKEND_ADDRESS: "",
  BACKEND_TIMEOUT: "10s",
  BACKEND_USE_TLS: "false",
  COLLAPSER_CACHE_DURATION: "100ms",
  COLLAPSER_CACHE_ERRORS: "false",
  COLLAPSER_MAX_CACHE_ENTRIES: "10000",
  COLLAPSER_CLEANUP_INTERVAL: "1s",
  COLLAPSER_KEY_HEADERS: "",
  LOG_LEVEL: "info",
  LOG_FORMAT: "json",
};

Deno.test("OPTIONS keeps the names and defaults of the original", () => {
  const marked = OPTIONS.filter(({ original }) => original);
  assertEquals(
    Object.fromEntries(marked.map(({ env, fallback }) => [env, fallback])),
    ORIGINAL,
  );
});

Deno.test("OPTIONS names each variable once", () => {
  assertEquals(new Set(OPTIONS.map(({ env }) => env)).size, OPTIONS.length);
});

Deno.test("OPTIONS has a default that its own kind reads", () => {
  for (const { env, kind, fallback, required, sameAs } of OPTIONS) {
    if (required || sameAs) continue;
    assert("value" in kind.parse(fallback), `${env} cannot read its default "${fallback}"`);
  }
});

Deno.test("OPTIONS refers only to variables that come before", () => {
  for (const [index, { env, sameAs }] of OPTIONS.entries()) {
    if (sameAs === undefined) continue;
    const at = OPTIONS.findIndex((option) => option.env === sameAs);
    assert(at >= 0 && at < index, `${env} takes its default from ${sameAs}`);
  }
});

Deno.test("OPTIONS says what each variable means in one line without a full stop", () => {
  for (const { env, help } of OPTIONS) {
    assert(help.length > 10 && !help.includes("\n") && !help.endsWith("."), env);
  }
});

Deno.test("OPTIONS shows each default as a text that means the same", () => {
  const settings = settingsOf();
  for (const { env, key, kind } of OPTIONS) {
    const shown = kind.show(settings[key]);
    assertEquals(kind.parse(shown), { value: settings[key] }, env);
  }
});

Deno.test("flagOf turns a variable's name into a flag", () => {
  assertEquals(flagOf("BACKEND_ADDRESS"), "--backend-address");
});

Deno.test("optionFor throws for a name that is not in the table", () => {
  assertEquals(optionFor("GRPC_PORT").fallback, "50052");
  assertThrows(() => optionFor("NOPE"), TypeError, 'Cannot find variable "NOPE"');
});
