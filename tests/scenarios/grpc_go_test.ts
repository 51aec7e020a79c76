/**
 * Scenarios 1, 3, 4, 5 and 6 with grpc-go as the caller, since libraries differ in what they forgive. In one file of
 * its own, for it is built first. Skipped, with the reason in the name, where Go or its modules cannot be had.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { GoProgram, GrpcGo, whyNoGo } from "../interop/grpc_go.ts";
import type { Plan, Seen } from "../interop/seen.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { data, headers, type Pairs } from "../support/frames.ts";
import { framed, type SettingPairs } from "../support/peer_end.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";

/** What the backend of scenario 3 announces. */
const ANNOUNCED: SettingPairs = [
  [SETTING.maxHeaderListSize, 65_536],
  [SETTING.maxFrameSize, 16_384],
];

const KILOBYTE = 1_024;

/** What a backend does with a call. */
type Answer = (request: BackendRequest) => void;

const reason = await whyNoGo();

Deno.test({
  name: "grpc-go as the caller of a raw backend" + (reason === "" ? "" : ` (skipped: ${reason})`),
  ignore: reason !== "",
  fn: async (t) => {
    await using program = await GoProgram.build();
    const variables = { BACKEND_TIMEOUT: "1m" };
    await withSockets({ variables, backend: { settings: ANNOUNCED } }, async (rig) => {
      await using go = new GrpcGo(program, rig.local.port);
      const asks: Asks = async (plan, answer) => {
        const before = rig.backend.requests.length;
        const seeing = go.see({ name: plan.path, kind: "server", messages: [ONE], ...plan });
        await rig.backend.has(before + 1);
        answer(rig.backend.requests.at(-1)!);
        return await seeing;
      };
      const healthy = go.see({
        name: "long",
        kind: "server",
        path: LIST,
        messages: [new Uint8Array(9)],
      });
      await rig.backend.has(1);
      await t.step(
        "Scenario 1(g): finds all of an error that is one block",
        () => findsError(asks),
      );
      await t.step(
        "Scenario 3(f): sends and gets 20 KB in every place, and a status for 200 KB",
        () => carriesMetadata(asks, go),
      );
      await t.step("Scenario 4(g): gets a status for what is none", () => getsStatuses(asks));
      await t.step(
        "Scenario 5(e): reads messages, malformed ones too",
        () => readsMessages(asks),
      );
      await t.step(
        "Scenario 6(g): gets two messages and the status of the reset",
        () => seesResets(asks),
      );
      rig.backend.requests[0]!.replies(["fine"]);
      assertEquals((await healthy).code, 0);
      assertEquals(rig.proxy.counters.connections, 1); // all that time
      assertEquals(rig.backend.ends.length, 1);
    });
  },
});

type Asks = (plan: Partial<Plan> & { path: string }, answer: Answer) => Promise<Seen>;

const ONE = Uint8Array.of(1);

async function findsError(asks: Asks): Promise<void> {
  for (const path of [GET, PUT]) {
    const seen = await asks(
      { path },
      (request) => request.fails(5, [["grpc-message", "no%0A"], ["x-err", "7"]]),
    );
    assertEquals([seen.code, seen.message, seen.messages], [5, "no\n", []]);
    assertEquals(valueIn(seen, "x-err"), "7");
  }
}

async function carriesMetadata(asks: Asks, go: GrpcGo): Promise<void> {
  for (const kilobytes of [20, 200]) {
    const large = "v".repeat(kilobytes * KILOBYTE);
    const fields: Pairs = [["x-large", large]];
    for (const place of ["headers", "trailers"]) {
      const seen = await asks(
        { path: GET, metadata: [["x-place", `${place} ${kilobytes}`]] },
        (request) => request.replies(["x"], { status: 9, [place]: fields }),
      );
      assertEquals(seen.code, kilobytes === 20 ? 9 : 8, `${kilobytes} KB of ${place}`);
      if (kilobytes === 20) assertEquals(valueIn(seen, "x-large") === large, true, place);
    }
  }
  const sent = ["v".repeat(20 * KILOBYTE), "v".repeat(200 * KILOBYTE)];
  const plan = { path: GET, metadata: [["x-large", sent[0]!]] as const };
  const taken = await asks(plan, (request) => {
    assertEquals(request.fields.find(([name]) => name === "x-large")?.[1] === sent[0], true);
    request.fails(9);
  });
  assertEquals(taken.code, 9);
  // It knows what is accepted, and asks nobody.
  const refused = await go.see({
    name: "200 KB",
    kind: "server",
    messages: [ONE],
    path: GET,
    metadata: [["x-large", sent[1]!]],
  });
  assertEquals(refused.code, 13);
}

async function getsStatuses(asks: Asks): Promise<void> {
  const cut = await asks({ path: GET }, (request) => {
    request.begins();
    request.backend.sends(data(request.id, framed("a"), { endStream: true }));
  });
  assertEquals([cut.code, cut.messages.length], [13, 1]);
  const table = [[400, 13], [401, 16], [403, 7], [404, 12], [429, 14], [500, 2], [
    503,
    14,
  ]] as const;
  for (const [http, grpc] of table) {
    const page = await asks({ path: GET }, ({ backend, id }) =>
      backend.sends(
        headers(id, [[":status", `${http}`], ["content-type", "text/html"]]),
        data(id, "<html>", { endStream: true }),
      ));
    const message = `collapser: the backend answered HTTP ${http}, not gRPC`;
    assertEquals([page.code, page.message], [grpc, message]);
  }
}

async function readsMessages(asks: Asks): Promise<void> {
  const cases = [
    ["%E7%BC%BA%0A100%25", "\u7f3a\n100%"],
    ["100% bad %zz", "100% bad %zz"],
  ] as const;
  for (const [value, read] of cases) {
    const seen = await asks(
      { path: GET },
      (request) => request.fails(9, [["grpc-message", value]]),
    );
    assertEquals([seen.code, seen.message], [9, read]);
  }
}

async function seesResets(asks: Asks): Promise<void> {
  const resets = [
    [ERROR_CODE.noError, 13],
    [ERROR_CODE.internalError, 13],
    [ERROR_CODE.cancel, 1],
    [ERROR_CODE.enhanceYourCalm, 8],
    [ERROR_CODE.inadequateSecurity, 7],
  ] as const;
  for (const [code, status] of resets) {
    const seen = await asks({ path: LIST }, (request) => {
      request.begins(["a", "b"]);
      request.resets(code);
    });
    assertEquals([seen.messages.length, seen.code], [2, status]);
  }
}

/** The first value of a name, wherever it stands. */
function valueIn({ head, trailers }: Seen, name: string): string | undefined {
  const entry = [...head ?? [], ...trailers].find(([known]) => known === name);
  const value = entry?.[1][0];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("latin1");
}
