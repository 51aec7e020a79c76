import { assert, assertEquals } from "@std/assert";
import type { ReceivedHeaders } from "../../lib/connection/mod.ts";
import { MessageScanner } from "../../lib/grpc/mod.ts";
import type { Failure } from "../../lib/upstream/failure.ts";
import { GatheredReply, NO_STATUS } from "../../lib/upstream/gathered_reply.ts";
import { Field } from "../../lib/wire/mod.ts";
import { everyCut, randomCuts, rng } from "../support/cuts.ts";
import { concat, type Pairs, pattern, RESPONSE, TRAILERS } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";
import { framed } from "../support/peer_end.ts";
import { listOf } from "./exchange_fixture.ts";

function received(fields: Pairs, perCall: Pairs = []): ReceivedHeaders {
  return {
    list: listOf(fields),
    perCall: perCall.map(([name, value]) => new Field(name, value, { perCall: true })),
    tooLarge: false,
  };
}

/** Takes a whole piece; says whether the reply streams. */
function receive(reply: GatheredReply, piece: Uint8Array): boolean {
  // Not at the beginning of what was read, as mostly.
  const read = concat(Uint8Array.of(1, 2, 3), piece, Uint8Array.of(4));
  return reply.receive(read, 3, read.length - 1);
}

/** The frames of a reply, as [type, DATA or fields, END_STREAM]. */
function logged({ log }: GatheredReply): unknown[] {
  return framesOf(log).map((frame) => {
    if (frame.type === "HEADERS") return ["HEADERS", frame.fields, frame.endStream];
    return frame.type === "DATA" ? ["DATA", frame.text, frame.endStream] : [frame.type];
  });
}

Deno.test("GatheredReply gathers headers, messages and trailers, and has its status at the end", () => {
  const reply = new GatheredReply();
  assertEquals([reply.hasBegun, reply.ended, reply.status], [false, false, NO_STATUS]);
  const head: Pairs = [...RESPONSE, ["x-a", "1"]];
  assertEquals(reply.takeHeaders(received(head, [["x-b", "2"]]), false), undefined);
  assertEquals([reply.hasBegun, reply.ended], [true, false]);
  assertEquals(receive(reply, framed("one")), false);
  assertEquals([reply.receivedBytes, reply.isBrokenOff], [8, false]);
  assertEquals(reply.takeHeaders(received([["grpc-status", "5"]]), true), undefined);
  assertEquals([reply.ended, reply.status, reply.failure], [true, 5, undefined]);
  assertEquals(logged(reply), [
    ["HEADERS", [...head, ["x-b", "2"]], false],
    ["DATA", "\0\0\0\0\x03one", false],
    ["HEADERS", [["grpc-status", "5"]], true],
  ]);
  assertEquals(reply.log.ended, true);
});

Deno.test("GatheredReply.takeHeaders says why a list cannot be part of a gRPC reply, and keeps nothing of it", () => {
  const html: Pairs = [[":status", "200"], ["content-type", "text/html"]];
  const notFound: Pairs = [[":status", "404"], ["content-type", "application/grpc"]];
  const cases: [fields: Pairs, endStream: boolean, failure: Failure][] = [
    [html, false, { kind: "notGrpc", httpStatus: 200 }],
    [html, true, { kind: "notGrpc", httpStatus: 200 }],
    [notFound, true, { kind: "notGrpc", httpStatus: 404 }],
    [[[":status", "200"]], false, { kind: "notGrpc", httpStatus: 200 }],
    // A status is the reply's only where it ends with it.
    [[...html, ["grpc-status", "5"]], false, { kind: "notGrpc", httpStatus: 200 }],
    [RESPONSE, true, { kind: "noStatus" }],
    [[...RESPONSE, ["grpc-status", "x"]], true, { kind: "noStatus" }],
  ];
  for (const [fields, endStream, failure] of cases) {
    const reply = new GatheredReply();
    assertEquals(reply.takeHeaders(received(fields), endStream), failure, Deno.inspect(fields));
    assertEquals([reply.hasBegun, reply.ended, reply.largestListBytes], [false, false, 0]);
  }
  const tooLarge = new GatheredReply();
  const failure = tooLarge.takeHeaders({ ...received(RESPONSE), tooLarge: true }, false);
  assertEquals(failure, { kind: "headersTooLarge", whose: "reply" });
  assertEquals(tooLarge.hasBegun, false);
});

Deno.test("GatheredReply.takeHeaders takes a grpc-status that ends the reply, whatever stands around it", () => {
  for (const status of ["200", "404", "503"]) {
    const reply = new GatheredReply();
    const fields: Pairs = [[":status", status], ["grpc-status", "7"]];
    assertEquals(reply.takeHeaders(received(fields), true), undefined);
    assertEquals([reply.ended, reply.status], [true, 7]);
  }
});

Deno.test("GatheredReply.takeHeaders does not take an interim response for the beginning", () => {
  const reply = new GatheredReply();
  for (const status of ["100", "103", "199"]) {
    assertEquals(reply.takeHeaders(received([[":status", status]]), false), undefined);
  }
  assertEquals([reply.hasBegun, reply.largestListBytes], [false, 0]);
  reply.takeHeaders(received(RESPONSE), false);
  assertEquals(reply.hasBegun, true);
});

Deno.test("GatheredReply keeps the size of its largest list, the fields of this call included", () => {
  const reply = new GatheredReply();
  reply.takeHeaders(received(RESPONSE, [["x-b", "22"]]), false);
  const [status, type, own] = [7 + 3 + 32, 12 + 16 + 32, 3 + 2 + 32];
  assertEquals(reply.largestListBytes, status + type + own);
  reply.takeHeaders(received(TRAILERS), true);
  assertEquals(reply.largestListBytes, status + type + own);
  const other = new GatheredReply();
  other.takeHeaders(received(RESPONSE), false);
  other.takeHeaders(received([...TRAILERS, ["x-long", "v".repeat(1_000)]]), true);
  assertEquals(other.largestListBytes, (11 + 1 + 32) + (6 + 1_000 + 32));
});

Deno.test("GatheredReply goes by the stricter word of headers and trailers about keeping it", () => {
  const cases: [headers: string, trailers: string, isPrivate: boolean, maxAgeMs: number][] = [
    ["", "", false, Infinity],
    ["max-age=5", "max-age=9", false, 5_000],
    ["max-age=9", "max-age=5", false, 5_000],
    ["private", "max-age=1", true, 1_000],
    ["", "no-store", true, Infinity],
  ];
  for (const [headers, trailers, isPrivate, maxAgeMs] of cases) {
    const reply = new GatheredReply();
    const cache = (value: string): Pairs => value === "" ? [] : [["cache-control", value]];
    reply.takeHeaders(received([...RESPONSE, ...cache(headers)]), false);
    reply.takeHeaders(received([...TRAILERS, ...cache(trailers)]), true);
    const { cache: said } = reply;
    assertEquals(
      [said?.isPrivate ?? false, said?.maxAgeMs ?? Infinity],
      [isPrivate, maxAgeMs],
      headers + trailers,
    );
  }
});

Deno.test("GatheredReply.fail ends it with a failure, as a whole reply or as trailers", () => {
  const nothing = new GatheredReply();
  nothing.fail({ kind: "deadline" });
  const message = ["grpc-message", "collapser: the call's deadline has passed"] as const;
  assertEquals(logged(nothing), [["HEADERS", [...RESPONSE, ["grpc-status", "4"], message], true]]);
  const begun = new GatheredReply();
  begun.takeHeaders(received(RESPONSE), false);
  begun.fail({ kind: "deadline" });
  assertEquals(logged(begun)[1], ["HEADERS", [["grpc-status", "4"], message], true]);
  for (const { ended, status, failure, receivedBytes } of [nothing, begun]) {
    assertEquals({ ended, status, failure, receivedBytes }, {
      ...{ ended: true, status: 4, failure: { kind: "deadline" }, receivedBytes: 0 },
    });
  }
});

Deno.test("GatheredReply.receive finds the second message, wherever two are cut", () => {
  const two = concat(framed("one"), framed("two"));
  for (const pieces of everyCut(two)) {
    const reply = new GatheredReply();
    const secondBegins = framed("one").length;
    let before = 0;
    for (const piece of pieces) {
      if (piece.length === 0) continue; // the session asks for bytes alone
      const streams = receive(reply, piece);
      before += piece.length;
      assertEquals(streams, before > secondBegins, `cut at ${pieces[0]!.length}`);
    }
    assertEquals(reply.isBrokenOff, false);
  }
});

Deno.test("GatheredReply.receive says the same as a scanner of the whole, at random cuts", () => {
  let streaming = 0;
  let broken = 0;
  for (let seed = 1; seed <= 1_000; seed++) {
    const random = rng(seed);
    const messages = Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => framed(pattern(Math.floor(random() * 30))),
    );
    const whole = concat(...messages);
    const wire = whole.subarray(
      0,
      whole.length - Math.floor(random() * 2) * Math.floor(random() * 7),
    );
    const pieces = random() < 0.3 ? messages : randomCuts(wire, seed);
    const reply = new GatheredReply();
    const scanner = new MessageScanner();
    let text = "";
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      scanner.scan(piece, 0, piece.length);
      for (const byte of piece) text += String.fromCharCode(byte);
      assertEquals(receive(reply, piece), scanner.started > 1, `seed ${seed}`);
      assertEquals(reply.isBrokenOff, scanner.partial, `seed ${seed}`);
      assertEquals(reply.receivedBytes, text.length, `seed ${seed}`);
    }
    const data = framesOf(reply.log).map((frame) => frame.type === "DATA" ? frame.text : "?");
    assertEquals(data.join(""), text, `seed ${seed}`);
    if (scanner.started > 1) streaming++;
    if (scanner.partial) broken++;
  }
  assert(streaming > 100 && broken > 100, `${streaming} that stream, ${broken} that are cut`);
});
