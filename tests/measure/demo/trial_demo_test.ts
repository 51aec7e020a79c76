import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS, startHello } from "../../../lib/hello/mod.ts";
import { runTrialDemo } from "../../../lib/measure/demo/trial_demo.ts";
import { settingsOf } from "../../support/local_sidecar.ts";
import { RecordedScreen } from "../recorded_screen.ts";

/** Plays the demo with a second method that echoes these names of metadata. */
async function demo(echoMetadata: readonly string[]) {
  const screen = new RecordedScreen({ colour: false });
  const greeting = (echo: readonly string[]) =>
    encodeGreetingRequest({ name: "everybody", echoMetadata: echo, count: 1 });
  const code = await runTrialDemo({ delayMs: 1 }, {
    screen,
    startBackend: startHello,
    settingsFor: ({ host, port }) => settingsOf({ BACKEND_ADDRESS: `${host}:${port}` }),
    alike: { path: HELLO_PATHS.getGreeting, message: greeting([]) },
    byTenant: { path: HELLO_PATHS.listGreetings, message: greeting(echoMetadata) },
    ignoreFields: ["2"],
  });
  return { code, text: screen.text };
}

Deno.test("runTrialDemo finds the method out whose answers depend on who asks, and no other", async () => {
  const { code, text } = await demo(["x-tenant"]);
  assertEquals(code, 0, text);
  assertStringIncludes(text, "taken out: its answers depend on x-tenant");
  assertEquals(text.match(/taken out/g)?.length, 1);
  assertMatch(
    text,
    /GetGreeting +\d+ calls were given another's answer\n +asked once more: \d+ match, 0 mismatch/,
  );
  assertMatch(text, /compared: .*\d+ mismatch\n.*sharing would hand one tenant the other's answer/);
  for (const line of text.split("\n")) assert(line.length <= 80, line);
});

Deno.test("runTrialDemo exits with 1 where nothing depends on who asks", async () => {
  const { code, text } = await demo([]);
  assertEquals(code, 1);
  assertEquals(text.includes("taken out"), false);
});
