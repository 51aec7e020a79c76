import { assertEquals } from "@std/assert";
import { BINARY_FLAGS, PERMISSIONS, V8_FLAGS } from "../../build/runtime_flags.ts";
import config from "../../deno.json" with { type: "json" };

Deno.test("PERMISSIONS and V8_FLAGS are those that deno task start runs with", () => {
  const started = config.tasks.start.command.split(" ").filter((arg) => arg.startsWith("--"));
  const allowed = PERMISSIONS.filter((arg) => arg.startsWith("--allow-"));
  assertEquals([V8_FLAGS, ...allowed], started);
  for (const flag of [V8_FLAGS, ...PERMISSIONS]) assertEquals(BINARY_FLAGS.includes(flag), true);
});

Deno.test("V8_FLAGS are flags that this V8 has", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", V8_FLAGS, "-"],
    stdin: "null",
  }).output();
  // V8 prints "illegal value" or "unrecognized flag", and goes on.
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
});
