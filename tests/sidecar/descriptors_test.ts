import { assertEquals } from "@std/assert";
import { HELLO_PATHS, startHello } from "../../lib/hello/mod.ts";
import { startSidecar } from "../../lib/sidecar/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { logInto, settingsOf } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";

Deno.test("startSidecar goes by the descriptors of a real backend's reflection, and counts no call of its own", async () => {
  const hello = await startHello();
  const log: string[] = [];
  const sidecar = startSidecar(
    settingsOf({
      BACKEND_ADDRESS: `127.0.0.1:${hello.port}`,
      COLLAPSER_METHODS: "schema",
      COLLAPSER_CACHE_DURATION: "1m",
    }),
    logInto(log),
  );
  try {
    await using client = await clientOf(sidecar.grpcPort);
    const says = (why: string) => log.some((line) => line.includes(why));
    await ask(client, HELLO_PATHS.getGreeting);
    await until(async () => {
      await ask(client, HELLO_PATHS.getGreeting);
      return says("its descriptor says NO_SIDE_EFFECTS");
    }, "the descriptor to be heeded");
    await ask(client, HELLO_PATHS.createGreeting);
    assertEquals(says("its descriptor does not say NO_SIDE_EFFECTS"), true);
    const { methods } = sidecar.proxy.counters;
    assertEquals([...methods.keys()], [HELLO_PATHS.getGreeting, HELLO_PATHS.createGreeting]);
  } finally {
    await sidecar.stop();
    await hello.stop();
  }
});
