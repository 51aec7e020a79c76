import { assertEquals } from "@std/assert";
import { healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { startHello } from "../../lib/hello/mod.ts";
import { beside, STORED_LONG } from "../support/beside.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";
import { seesItselfInTheMirror, seesNoDifference, seesNoDifferenceWhenShared } from "./fidelity.ts";
import { GrpcJs } from "./grpc_js.ts";
import { PRESSED, startGzipServer } from "./gzip_server.ts";
import { CUT_SHORT, SHARED, SHARED_FAILURES, SINGLE, STATUSES, TOOLS } from "./plans.ts";
import { type Plan, show } from "./seen.ts";

const open = (port: number) => new GrpcJs(port);

Deno.test("grpc-js cannot tell the sidecar from the backend, call by call", async () => {
  await seesNoDifference(open, SINGLE);
});

Deno.test("grpc-js sees every status with its message and details through the sidecar", async () => {
  await seesNoDifference(open, STATUSES);
});

Deno.test("grpc-js sees its deadlines and cancels take effect through the sidecar", async () => {
  await seesNoDifference(open, CUT_SHORT);
});

Deno.test("grpc-js sees the backend's own health and reflection through the sidecar", async () => {
  await seesNoDifference(open, TOOLS);
});

Deno.test("grpc-js cannot tell a shared answer from one of its own", async () => {
  await seesNoDifferenceWhenShared(open, { plans: SHARED, kept: true });
});

Deno.test("grpc-js cannot tell a shared failure from one of its own", async () => {
  await seesNoDifferenceWhenShared(open, { plans: SHARED_FAILURES, kept: false });
});

Deno.test("grpc-js has all bytes and metadata back as they were sent", async () => {
  await seesItselfInTheMirror(open);
});

Deno.test("grpc-js reads compressed replies, shared or not", async () => {
  using server = await startGzipServer();
  await using sidecar = await beside(server, STORED_LONG);
  await using direct = open(server.port);
  await using through = open(sidecar.port);
  for (const path of ["/press.v1.Press/GetPressed", "/press.v1.Press/PostPressed"]) {
    const messages = [Uint8Array.of(1)];
    const plan: Plan = { name: path, kind: "unary", path, messages };
    const expected = await direct.see(plan);
    assertEquals(expected.messages, [show(PRESSED)]);
    const calls = Array.from({ length: 5 }, () => through.see(plan));
    for (const seen of await Promise.all(calls)) assertEquals(seen, expected);
    assertEquals(await through.see(plan), expected);
  }
  assertEquals(sidecar.outcomes.led, 1);
});

Deno.test("grpc-js hears of the sidecar's own health from the sidecar itself", async () => {
  const backend = await startHello();
  await using sidecar = await LocalSidecar.before(backend);
  await using client = open(sidecar.port);
  const check: Plan = {
    name: "health of the sidecar",
    kind: "unary",
    path: "/grpc.health.v1.Health/Check",
    messages: [healthRequest("collapser")],
  };
  const serving = async () => (await client.see(check)).messages;
  assertEquals(await serving(), [show(healthReply(true))]);
  backend.kill();
  await until(() => !sidecar.sidecar.proxy.readiness.ready, "a sidecar that is not ready");
  assertEquals(await serving(), [show(healthReply(false))]);
});
