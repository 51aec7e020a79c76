import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../lib/cli/command_table.ts";
import { OPTIONS } from "../../lib/config/options.ts";
import { collapser } from "./support.ts";

const WIDTH = 80;

async function helpTexts(options: { colour: boolean }): Promise<readonly string[]> {
  const args = ["--help", ...COMMANDS.map(({ name }) => `${name} --help`)];
  return await Promise.all(args.map(async (arg) => (await collapser(arg, options)).out));
}

Deno.test("help has no line that is wider than 80 columns or ends in space", async () => {
  for (const text of await helpTexts({ colour: false })) {
    for (const line of text.split("\n")) {
      assert(line.length <= WIDTH, `${line.length} columns: ${line}`);
      assertEquals(line, line.trimEnd());
    }
  }
});

Deno.test("help is plain without colour, and the same text with it", async () => {
  const plain = await helpTexts({ colour: false });
  const coloured = await helpTexts({ colour: true });
  // deno-lint-ignore no-control-regex
  const escapes = /\x1b\[\d+m/g;
  for (const [index, text] of coloured.entries()) {
    assert(escapes.test(text));
    assertEquals(text.replace(escapes, ""), plain[index]);
    assertFalse(plain[index]?.includes("\x1b"));
  }
});

Deno.test("help of the command line lists each command and each variable", async () => {
  const { out } = await collapser("--help");
  for (const { name, summary } of COMMANDS) {
    assertStringIncludes(out, `\n  ${name.padEnd(13)}${summary}\n`);
  }
  for (const { env } of OPTIONS) assertStringIncludes(out, env);
});

Deno.test("help of serve explains each variable with its default", async () => {
  const { out } = await collapser("serve --help");
  for (const { env, kind } of OPTIONS) {
    assertStringIncludes(out, `\n  ${env}=${kind.placeholder}`);
  }
  assertStringIncludes(out, "\n  GRPC_PORT=PORT  (50052)\n      where callers connect");
  assertStringIncludes(out, "\n  BACKEND_ADDRESS=ADDRESSES  (required)\n");
  assertStringIncludes(out, "\n  COLLAPSER_JOIN_MAX_AGE=DURATION  (BACKEND_TIMEOUT)\n");
  assertStringIncludes(out, "\n  COLLAPSER_KEY_HEADERS=NAMES\n");
  assertFalse(out.includes("`"));
});

Deno.test("help of load shows flags with their defaults in two columns", async () => {
  const { out } = await collapser("load --help");
  assertStringIncludes(out, "\n  --callers COUNT        calls kept under way at once (100)\n");
  assertStringIncludes(out, "\n  --json                 print one JSON object");
});
