import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { healthProbe, type Recovery } from "../../lib/upstream/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { headers } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { EndpointRig } from "./endpoint_rig.ts";

/** Asks, lets the backend answer, and says what that came to. */
async function answerTo(
  happens: (request: BackendRequest, rig: EndpointRig) => void | Promise<void>,
): Promise<Recovery[]> {
  const rig = await EndpointRig.open();
  const answers: Recovery[] = [];
  const { endpoint, timers } = rig;
  const world = { backend: endpoint, timers, scheme: "http", instance: 7 } as const;
  healthProbe(world, "backend a", (recovery) => answers.push(recovery)).start();
  await rig.settle();
  await happens(rig.request(0), rig);
  await rig.settle();
  await rig.finish();
  return answers;
}

Deno.test("healthProbe asks for the whole server's health, under the backend's own name", async () => {
  await answerTo((request) => {
    assertEquals(request.path, "/grpc.health.v1.Health/Check");
    assertEquals(valueOf(request.fields, ":authority"), "backend a");
    assertEquals([request.messages, request.ended], [[""], true]);
    request.replies([Uint8Array.of(8, 1)]);
  });
});

const ANSWERS: readonly (readonly [
  what: string,
  recovery: Recovery,
  happens: (request: BackendRequest, rig: EndpointRig) => void | Promise<void>,
])[] = [
  ["SERVING", "well", (request) => request.replies([Uint8Array.of(8, 1)])],
  [
    "SERVING among fields that are new",
    "well",
    (request) => request.replies([Uint8Array.of(0x12, 1, 65, 8, 1)]),
  ],
  ["NOT_SERVING", "ill", (request) => request.replies([Uint8Array.of(8, 2)])],
  ["UNKNOWN", "ill", (request) => request.replies([new Uint8Array(0)])],
  ["SERVICE_UNKNOWN", "ill", (request) => request.replies([Uint8Array.of(8, 3)])],
  ["what is no protobuf", "ill", (request) => request.replies([Uint8Array.of(255)])],
  ["OK and no message", "ill", (request) => request.replies([])],
  ["silence", "ill", (_, rig) => rig.advance(1_004)],
  ["silence after its headers", "ill", (request, rig) => {
    request.begins();
    return rig.advance(1_004);
  }],
  ["UNIMPLEMENTED", "unknown", (request) => request.fails(12)],
  ["NOT_FOUND", "unknown", (request) => request.fails(5)],
  ["PERMISSION_DENIED", "unknown", (request) => request.fails(7)],
  ["UNAUTHENTICATED", "unknown", (request) => request.fails(16)],
  ["UNAVAILABLE", "unknown", (request) => request.fails(14)],
  [
    "SERVING and another status than OK",
    "unknown",
    (request) => request.replies([Uint8Array.of(8, 1)], { status: 2 }),
  ],
  [
    "HTTP 404",
    "unknown",
    ({ backend, id }) => backend.sends(headers(id, [[":status", "404"]], { endStream: true })),
  ],
  ["a reset", "unknown", (request) => request.resets(ERROR_CODE.internalError)],
  ["two refusals", "unknown", async (request, rig) => {
    request.resets(ERROR_CODE.refusedStream);
    await rig.settle();
    rig.request(1).resets(ERROR_CODE.refusedStream);
  }],
  ["a connection that is lost", "unknown", ({ backend }) => backend.socket.ends()],
];

for (const [what, recovery, happens] of ANSWERS) {
  Deno.test(`healthProbe takes ${what} for ${recovery}`, async () => {
    assertEquals(await answerTo(happens), [recovery]);
  });
}

Deno.test("healthProbe waits a second for its answer, and not less", async () => {
  assertEquals(
    await answerTo(async (request, rig) => {
      await rig.advance(999);
      request.replies([Uint8Array.of(8, 1)]);
    }),
    ["well"],
  );
});

Deno.test("healthProbe that is stopped says nothing", async () => {
  const rig = await EndpointRig.open();
  const answers: Recovery[] = [];
  const world = { backend: rig.endpoint, timers: rig.timers, scheme: "http", instance: 7 } as const;
  const probe = healthProbe(world, "a", (recovery) => answers.push(recovery));
  probe.start();
  await rig.settle();
  probe.stop();
  await rig.settle();
  assertEquals([answers, rig.request(0).seen.reset], [[], "CANCEL"]);
  await rig.finish();
});
