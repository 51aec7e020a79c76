/**
 * Scenario 3: metadata of many sizes in every place where it can stand.
 *
 * In memory, sizes of 4 to 200 KB are asked of a flight and of a passed call, place by place, in
 * tests/proxy/caller_session_test.ts and tests/proxy/backend_session_test.ts, and what becomes of a peer that accepts
 * less in tests/proxy/limits_test.ts. Here: real sockets, the frames themselves, lists that are large in other ways,
 * and grpc-js as the caller; grpc-go is in
 * grpc_go_test.ts.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { FRAME, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { requestHead } from "../support/caller_end.ts";
import { splitFrames } from "../support/frame_parser.ts";
import { block, concat, type Pairs, RESPONSE, splitBlock } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { message, type PeerEnd, type SettingPairs, valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";

/** What both ends of the row announce; windows as they are by default. */
const ANNOUNCED: SettingPairs = [
  [SETTING.maxHeaderListSize, 65_536],
  [SETTING.maxFrameSize, 16_384],
];

const KILOBYTE = 1_024;
const SIZES = [4, 8, 12, 16, 20];

type Place = "request" | "headers" | "trailers" | "the only block";
const PLACES: readonly Place[] = ["request", "headers", "trailers", "the only block"];

/** RFC 7541 §6.2.1: a field that goes into the table, and §6.1: the newest one there, by its index alone. */
const NEWEST_IN_TABLE = Uint8Array.of(0x80 | 62);

Deno.test("Scenario 3(a): metadata of 4 to 20 KB arrives whole in every place, in HEADERS and CONTINUATION with nothing in between", async () => {
  await withSockets({ backend: { settings: ANNOUNCED } }, async (rig) => {
    const caller = await rig.caller(ANNOUNCED);
    const busy = caller.call(LIST, "busy");
    await rig.backend.has(1);
    const [stream] = rig.backend.requests;
    stream!.begins();
    let count = 1;
    for (const kilobytes of SIZES) {
      for (const place of PLACES) {
        const large: Pairs = [["x-large", "v".repeat(kilobytes * KILOBYTE)], ["x-last", place]];
        const asked = `${kilobytes} KB in ${place}`;
        const calls = [GET, PUT].map((path) =>
          caller.call(path, asked, { metadata: place === "request" ? large : [] })
        );
        await rig.backend.has(count += 2);
        for (const request of rig.backend.requests.slice(-2)) {
          stream!.sends("between"); // so that there is something that could come in between
          answer(request, { place, fields: large, status: 9 });
          stream!.sends("between");
        }
        await ended(...calls);
        for (const [i, call] of calls.entries()) {
          assertEquals(call.status, 9, asked);
          const { fields } = rig.backend.requests.at(i - 2)!;
          const [head, tail] = [call.reply.blocks[0], call.trailers];
          const found = { request: fields, headers: head, trailers: tail, "the only block": tail };
          for (const [name, value] of large) {
            assertEquals(valueOf(found[place], name) === value, true, `${name} of ${asked}`);
          }
        }
      }
    }
    stream!.ends();
    await ended(busy);
    busy.expects(0, ...Array(SIZES.length * PLACES.length * 4).fill("between"));
    // That nothing stands in between, and that no frame is larger than 16,384, the reader of both ends has looked at.
    // A block takes as many frames as it must: two for 16 and for 20 KB, on both calls.
    assertEquals(continuationsOf(rig.backend.end), 2 * 2);
    assertEquals(continuationsOf(caller), 2 * 2 * 3);
  });
});

Deno.test("Scenario 3(b): 200 KB of metadata make 8 of their call and of nothing else, in every place", async () => {
  await withSockets({ backend: { settings: ANNOUNCED } }, async (rig) => {
    const caller = await rig.caller(ANNOUNCED);
    const busy = caller.call(LIST, "busy");
    await rig.backend.has(1);
    const [stream] = rig.backend.requests;
    stream!.begins(["a"]);
    let count = 1;
    const one: Pairs = [["x-large", "v".repeat(200 * KILOBYTE)]];
    const many: Pairs = Array.from({ length: 4_000 }, (_, i) => [`x-${i}`, "v".repeat(40)]);
    for (const fields of [one, many]) {
      for (const place of PLACES) {
        for (const path of [GET, PUT]) {
          const asked = `${place}, ${fields.length} fields`;
          const isRequest = place === "request";
          const calls = [caller.call(path, asked, { metadata: isRequest ? fields : [] })];
          if (!isRequest && path === GET) calls.push(caller.call(path, asked));
          if (!isRequest) {
            await rig.backend.has(++count);
            await rig.waits(1 + (path === GET ? 2 : 0));
            answer(rig.backend.requests.at(-1)!, { place, fields, status: 9 });
          }
          await ended(...calls);
          const whose = isRequest ? "request" : "reply";
          for (const call of calls) {
            call.expectsFailure(8, `the ${whose}'s metadata is too large`);
            assertEquals(call.messages, place === "trailers" ? ["answer"] : [], asked);
          }
        }
      }
    }
    const repeat = caller.call(GET, "the only block, 1 fields");
    await rig.backend.has(++count);
    rig.backend.requests.at(-1)!.replies(["fine"]);
    stream!.sends("b");
    stream!.ends();
    await ended(busy, repeat);
    busy.expects(0, "a", "b");
    repeat.expects(0, "fine");
    rig.expectsRequests(count);
    for (const end of [caller, rig.backend.end]) assertEquals(end.seen("GOAWAY"), []);
    assertEquals(rig.backend.ends.length, 1);
  });
});

Deno.test("Scenario 3(c): a small block that says 200 KB by its indexes makes 8 too, and leaves the table right", async () => {
  await withSockets({ backend: { settings: ANNOUNCED } }, async (rig) => {
    const caller = await rig.caller(ANNOUNCED);
    const value = "v".repeat(3_000);
    const bomb = (fields: Pairs) =>
      concat(block(fields), indexed("x-bomb", value), ...Array(80).fill(NEWEST_IN_TABLE));
    const asks = caller.begins((id) => [
      splitBlock(id, bomb(requestHead(GET))),
      message(id, "1", { endStream: true }),
    ]);
    await ended(asks);
    asks.expectsFailure(8, "the request's metadata is too large");
    const after = caller.begins((id) => [
      splitBlock(id, concat(block(requestHead(GET)), NEWEST_IN_TABLE)),
      message(id, "2", { endStream: true }),
    ]);
    await rig.backend.has(1);
    const [request] = rig.backend.requests;
    assertEquals(valueOf(request!.fields, "x-bomb") === value, true);
    rig.backend.end.sends(splitBlock(request!.id, bomb(RESPONSE), { endStream: false }));
    await ended(after);
    after.expectsFailure(8, "the reply's metadata is too large");
    const last = caller.call(GET, "3");
    await rig.backend.has(2);
    const { id } = rig.backend.requests[1]!;
    rig.backend.end.sends(
      splitBlock(id, concat(block([...RESPONSE, ["grpc-status", "9"]]), NEWEST_IN_TABLE), {
        endStream: true,
      }),
    );
    await ended(last);
    last.expects(9);
    assertEquals(valueOf(last.trailers, "x-bomb") === value, true);
  });
});

Deno.test("Scenario 3(d): a block of 20 KB may come in two frames or in thirty", async () => {
  await withSockets({ backend: { settings: ANNOUNCED } }, async (rig) => {
    const caller = await rig.caller(ANNOUNCED);
    const large: Pairs = [["x-large", "v".repeat(20 * KILOBYTE)]];
    for (const size of [16_383, 4_096, 700]) {
      const call = caller.begins((id) => [
        splitBlock(id, block([...requestHead(GET), ["x-size", `${size}`], ...large]), { size }),
        message(id, "asked", { endStream: true }),
      ]);
      const before = rig.backend.requests.length;
      await rig.backend.has(before + 1);
      const request = rig.backend.requests.at(-1)!;
      assertEquals(valueOf(request.fields, "x-large"), large[0]![1]);
      const [head, tail] = [[...RESPONSE, ...large], [["grpc-status", "9"] as const, ...large]];
      rig.backend.end.sends(
        splitBlock(request.id, block(head), { size }),
        splitBlock(request.id, block(tail), { size, endStream: true }),
      );
      await ended(call);
      assertEquals(call.reply.blocks, [head, tail]);
    }
  });
});

Deno.test("Scenario 3(e): grpc-js sends and gets 20 KB in every place, and 8 for 200 KB of a reply", async () => {
  await withSockets({ backend: { settings: ANNOUNCED } }, async (rig) => {
    using client = new JsCaller(rig.local.port);
    const large = "v".repeat(20 * KILOBYTE);
    const fields: Pairs = [["x-large", large]];
    let count = 0;
    for (const place of PLACES) {
      const metadata: Record<string, string> = place === "request" ? { "x-large": large } : {};
      const asked = client.call(GET, place, { metadata });
      await rig.backend.has(++count);
      const request = rig.backend.requests.at(-1)!;
      if (place === "request") assertEquals(valueOf(request.fields, "x-large") === large, true);
      answer(request, { place, fields, status: 9 });
      const { head, status } = await asked;
      assertEquals(status.code, 9, place);
      if (place === "headers") assertEquals(head?.get("x-large"), [large]);
      if (place !== "headers" && place !== "request") {
        assertEquals(status.metadata.get("x-large"), [large], place);
      }
    }
    const healthy = client.call(LIST, "healthy");
    await rig.backend.has(++count);
    const stream = rig.backend.requests.at(-1)!;
    for (const place of PLACES.slice(1)) {
      const asked = client.call(GET, `200 KB in ${place}`);
      await rig.backend.has(++count);
      answer(rig.backend.requests.at(-1)!, { place, fields: [["x", large.repeat(10)]], status: 9 });
      assertEquals((await asked).status.code, 8, place);
    }
    stream.replies(["fine"]);
    const { messages, status } = await healthy;
    assertEquals([messages, status.code], [["fine"], 0]);
  });
});

/** A reply with these fields in one place; with a message, unless all is one block. */
function answer(
  request: BackendRequest,
  { place, fields, status }: { place: Place; fields: Pairs; status: number },
): void {
  if (place !== "the only block") {
    request.replies(["answer"], { status, ...place === "request" ? {} : { [place]: fields } });
    return;
  }
  const all: Pairs = [...RESPONSE, ["grpc-status", `${status}`], ...fields];
  request.backend.sends(splitBlock(request.id, block(all), { endStream: true }));
}

/** A literal with incremental indexing of less than 16,511 bytes (RFC 7541 §6.2.1). */
function indexed(name: string, value: string): Uint8Array {
  const literal = block([[name, value]]);
  assert(literal[0] === 0, "a literal that is not indexed");
  literal[0] = 0x40;
  return literal;
}

/** CONTINUATION frames that the sidecar wrote to this end. */
function continuationsOf(end: PeerEnd): number {
  const preface = end.wire[0]![0] === "P".charCodeAt(0) ? 24 : 0;
  const frames = splitFrames(concat(...end.wire).subarray(preface));
  return frames.filter(({ type }) => type === FRAME.continuation).length;
}
