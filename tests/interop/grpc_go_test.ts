/**
 * grpc-go as the caller. Skipped, with the reason in the tests' names, where Go or its modules cannot be had.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { GATED_REPLY, GatedBackend } from "../support/gated_backend.ts";
import { SidecarProcess } from "../support/process.ts";
import { seesItselfInTheMirror, seesNoDifference, seesNoDifferenceWhenShared } from "./fidelity.ts";
import { buildGracefulServer, GoProgram, GrpcGo, whyNoGo } from "./grpc_go.ts";
import {
  CUT_SHORT,
  SHARED,
  SHARED_FAILURES,
  SHARED_STREAM_FAILURES,
  SINGLE,
  STATUSES,
  TOOLS,
} from "./plans.ts";
import { rollsWithoutLoss } from "./rolling_update.ts";
import { type Plan, show } from "./seen.ts";

const CALLS = 200;

/** More than a sidecar needs to end when nothing holds it up, on a busy machine. */
const PROMPT_MS = 10_000;

const reason = await whyNoGo();

Deno.test({
  name: reason === "" ? "grpc-go as the caller" : `grpc-go as the caller (skipped: ${reason})`,
  ignore: reason !== "",
  fn: async (t) => {
    await using program = await GoProgram.build();
    const open = (port: number) => new GrpcGo(program, port);
    await t.step("cannot tell the sidecar from the backend, call by call", async () => {
      await seesNoDifference(open, [...SINGLE, ...STATUSES, ...TOOLS, ...CUT_SHORT]);
    });
    await t.step("cannot tell a shared answer from one of its own", async () => {
      await seesNoDifferenceWhenShared(open, { plans: SHARED, kept: true });
      const plans = [...SHARED_FAILURES, ...SHARED_STREAM_FAILURES];
      await seesNoDifferenceWhenShared(open, { plans, kept: false });
    });
    await t.step("has all bytes and metadata back as they were sent", async () => {
      await seesItselfInTheMirror(open);
    });
    await t.step("has its calls in flight answered while the sidecar drains", async () => {
      await drainsInFrontOf(open);
    });
    await t.step(
      "loses no call while the sidecar is rolled in, updated and rolled out",
      async () => {
        await rollsWithoutLoss({ server: await buildGracefulServer(program), open });
      },
    );
  },
});

async function drainsInFrontOf(open: (port: number) => GrpcGo): Promise<void> {
  await using backend = new GatedBackend();
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
  });
  await using caller = open(sidecar.grpcPort);
  const seen = Promise.all(Array.from({ length: CALLS }, (_, n) => caller.see(callNumber(n))));
  await backend.holds(CALLS / 2 + 1); // the reads are one call
  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  backend.release();
  for (const { code, message, messages } of await seen) {
    assertEquals([code, message, messages], [0, "", [show(GATED_REPLY)]]);
  }
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
}

/** Reads and writes by turns, half of them as streams. */
function callNumber(n: number): Plan {
  const { getGreeting, createGreeting } = HELLO_PATHS;
  return {
    name: `call ${n}`,
    kind: n % 4 < 2 ? "unary" : "bidi",
    path: n % 2 === 0 ? getGreeting : createGreeting,
    messages: [encodeGreetingRequest({ name: "Ada" })],
  };
}
