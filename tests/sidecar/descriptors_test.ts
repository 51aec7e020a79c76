import { assertEquals } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { besideHello } from "../support/beside.ts";
import { ask, clientOf } from "../support/client.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;

Deno.test("startSidecar goes by the descriptors of a real backend's reflection, and counts no call of its own", async () => {
  await using pair = await besideHello({
    COLLAPSER_METHODS: "schema",
    COLLAPSER_CACHE_DURATION: "1m",
  });
  const { local } = pair;
  await using client = await clientOf(local.port);
  const says = (why: string) => local.log.some((line) => line.includes(why));
  await ask(client, getGreeting);
  await until(async () => {
    await ask(client, getGreeting);
    return says("its descriptor says NO_SIDE_EFFECTS");
  }, "the descriptor to be heeded");
  await ask(client, createGreeting);
  assertEquals(says("its descriptor does not say NO_SIDE_EFFECTS"), true);
  const { methods } = local.sidecar.proxy.counters;
  assertEquals([...methods.keys()], [getGreeting, createGreeting]);
});

Deno.test("startSidecar asks a backend without reflection in both versions of it, beside the calls of callers", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    (await rig.request(0)).replies(["one"]);
    await ended(call);
    const { backend } = rig;
    await until(() => backend.questions.filter(({ isOver }) => isOver).length === 2, "questions");
    assertEquals(backend.questions.map(({ path }) => path), [
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    ]);
    rig.expectsRequests(1);
  });
});
