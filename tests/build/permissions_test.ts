import { assertEquals } from "@std/assert";
import { PERMISSIONS } from "../../build/permissions.ts";
import config from "../../deno.json" with { type: "json" };

Deno.test("PERMISSIONS are those that deno task start runs with", () => {
  const started = config.tasks.start.command.split(" ").filter((arg) => arg.startsWith("--"));
  assertEquals(PERMISSIONS.filter((arg) => arg.startsWith("--allow-")), started);
});
