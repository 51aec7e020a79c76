import { assertEquals, assertExists, assertStringIncludes } from "@std/assert";
import type { Runners } from "../../../lib/cli/runners.ts";
import { collapser } from "../support.ts";

Deno.test("serve hands settings, warnings and signals to the sidecar", async () => {
  let given: Parameters<Runners["sidecar"]> | undefined;
  const { code } = await collapser("serve --grpc-port 0", {
    variables: { BACKEND_ADDRESS: "db:50051", GRPC_PORT: "7", COLLAPSER_MOD: "off" },
    runners: {
      sidecar(...args) {
        given = args;
        return Promise.resolve(0);
      },
    },
  });
  assertEquals(code, 0);
  assertExists(given);
  const [settings, { warnings, signals }] = given;
  assertEquals([settings.grpcPort, settings.backends[0]?.address.host], [0, "db"]);
  assertEquals(warnings, [
    "Cannot use COLLAPSER_MOD: no such variable; the nearest is COLLAPSER_MODE",
  ]);
  assertExists(signals.onSignal);
});

Deno.test("serve refuses a bad configuration with 64, every problem, and the likely slip", async () => {
  const { code, out, err, ran } = await collapser("--grpc-port x", {
    variables: { BACKEND_ADRESS: "db:50051", LOG_LEVEL: "loud" },
  });
  assertEquals([code, out, ran], [64, "", undefined]);
  for (
    const part of [
      'Cannot parse --grpc-port "x"',
      "Cannot start without BACKEND_ADDRESS",
      'Cannot parse LOG_LEVEL "loud"',
      "the nearest is BACKEND_ADDRESS",
    ]
  ) assertStringIncludes(err, part);
});
