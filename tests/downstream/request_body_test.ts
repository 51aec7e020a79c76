import { assert, assertEquals } from "@std/assert";
import { RequestBody, type RequestShape } from "../../lib/downstream/request_body.ts";
import { MessageScanner } from "../../lib/grpc/mod.ts";
import { BufferedBytes } from "../../lib/wire/mod.ts";
import { randomCuts, rng } from "../support/cuts.ts";
import { concat, pattern } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";
import { framed } from "../support/peer_end.ts";

const MAX_MESSAGE_BYTES = 20;

/** A body, and every change that its holder was told of. */
function makeBody(): { body: RequestBody; held: number[] } {
  const held: number[] = [];
  const context = { buffered: new BufferedBytes(Infinity, () => {}) };
  return { body: new RequestBody({ context, held: (moreBytes) => held.push(moreBytes) }), held };
}

/** Takes one piece; the last one with END_STREAM. */
function gather(body: RequestBody, piece: Uint8Array, endStream = false): RequestShape {
  // Not at the beginning of what was read, as mostly.
  const read = concat(Uint8Array.of(9, 9), piece, Uint8Array.of(9));
  const options = { endStream, maxMessageBytes: MAX_MESSAGE_BYTES };
  return body.gather([read, 2, read.length - 1], options);
}

Deno.test("RequestBody.gather says what it makes of the request, as soon as it can", () => {
  const cases: [shapes: RequestShape[], pieces: Uint8Array[], ends: boolean][] = [
    [["one"], [framed("one")], true],
    [["partial", "one"], [framed("one"), new Uint8Array(0)], true],
    [["partial", "partial", "one"], [
      framed("one").subarray(0, 3),
      framed("one").subarray(3, 6),
      framed("one").subarray(6),
    ], true],
    [["one"], [framed("")], true], // an empty message is one
    [["cut"], [new Uint8Array(0)], true],
    [["partial", "cut"], [framed("one").subarray(0, 7), new Uint8Array(0)], true],
    [["partial", "cut"], [Uint8Array.of(0), Uint8Array.of(0, 0)], true],
    [["partial"], [framed("one")], false],
    [["partial", "several"], [framed("one"), Uint8Array.of(0)], false],
    [["several"], [concat(framed("one"), framed("two"))], true],
    [["several"], [concat(framed(""), framed(""))], false],
    [["one"], [framed("x".repeat(MAX_MESSAGE_BYTES))], true],
    [["tooLarge"], [framed("x".repeat(MAX_MESSAGE_BYTES + 1))], true],
    [["partial", "tooLarge"], [Uint8Array.of(0, 0, 0, 0), Uint8Array.of(21)], false], // its length says so
    [["several"], [concat(framed("x".repeat(30)), Uint8Array.of(0))], false],
  ];
  for (const [shapes, pieces, ends] of cases) {
    const { body } = makeBody();
    const found = pieces.map((piece, i) => gather(body, piece, ends && i === pieces.length - 1));
    assertEquals(found, shapes, Deno.inspect(pieces));
  }
});

Deno.test("RequestBody.gather keeps frames as they come, with the end, and counts their headers as held", () => {
  const { body, held } = makeBody();
  assertEquals([body.log, body.scanner, body.isWithinMessage], [undefined, undefined, false]);
  gather(body, framed("one").subarray(0, 6));
  assertEquals([held, body.isWithinMessage], [[9 + 6], true]);
  gather(body, framed("one").subarray(6), true);
  assertEquals([held, body.isWithinMessage], [[9 + 6, 9 + 2], false]);
  assertEquals(framesOf(body.log!), [
    { type: "DATA", streamId: 1, text: "\0\0\0\0\x03o", endStream: false },
    { type: "DATA", streamId: 1, text: "ne", endStream: true },
  ]);
  assertEquals([body.scanner!.messages, body.scanner!.messageBytes], [1, 3]);
});

Deno.test("RequestBody.take hands over what was gathered, once", () => {
  const { body, held } = makeBody();
  assertEquals(body.take(), undefined);
  gather(body, framed("two"), true);
  const gathered = body.log!;
  assertEquals([body.take() === gathered, body.log, body.take()], [true, undefined, undefined]);
  assertEquals(held, [17]); // whoever has it says how much of it waits
});

Deno.test("RequestBody.hold tells its holder of the difference, and nothing where there is none", () => {
  const { body, held } = makeBody();
  for (const bytes of [100, 100, 30, 0, 0, 5]) body.hold(bytes);
  assertEquals(held, [100, -70, -30, 5]);
});

Deno.test("RequestBody.drop lets go of what was gathered, and tells so", () => {
  const { body, held } = makeBody();
  gather(body, framed("one"), true);
  body.drop();
  assertEquals([body.log, held], [undefined, [17, -17]]);
  body.drop();
  assertEquals(held.length, 2);
});

Deno.test("RequestBody.gather says the same as a scanner of all that came, at random cuts", () => {
  const seen: Record<RequestShape, number> = {
    partial: 0,
    one: 0,
    several: 0,
    tooLarge: 0,
    cut: 0,
  };
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = rng(seed);
    const messages = Array.from(
      { length: random() < 0.7 ? 1 : Math.floor(random() * 3) },
      () => framed(pattern(Math.floor(random() * (MAX_MESSAGE_BYTES + 4)))),
    );
    const whole = concat(...messages);
    const wire = random() < 0.7 ? whole : whole.subarray(0, Math.floor(random() * whole.length));
    const pieces = randomCuts(wire, seed);
    if (pieces.length === 0 || random() < 0.3) pieces.push(new Uint8Array(0));
    const { body, held } = makeBody();
    let before = 0;
    let shape: RequestShape = "partial";
    for (const [i, piece] of pieces.entries()) {
      const isLast = i === pieces.length - 1;
      if (piece.length === 0 && !isLast) continue; // the call asks for bytes or the end alone
      before += piece.length;
      shape = gather(body, piece, isLast);
      const expected = shapeOf(wire.subarray(0, before), isLast);
      assertEquals(shape, expected, `seed ${seed}, ${before} of ${wire.length} bytes`);
      assertEquals(held.reduce((sum, more) => sum + more, 0), body.log!.end, `seed ${seed}`);
      if (shape !== "partial") break; // it is decided, and gathered no more
    }
    seen[shape]++;
    assertEquals(body.log!.data(), wire.slice(0, before), `seed ${seed}`);
  }
  for (const [shape, count] of Object.entries(seen)) {
    if (shape !== "partial") assert(count > 100, `${shape}: ${count}`);
  }
});

/** What a scanner of the whole makes of a request as far as it has come. */
function shapeOf(wire: Uint8Array, isWhole: boolean): RequestShape {
  const scanner = new MessageScanner();
  scanner.scan(wire, 0, wire.length);
  if (scanner.started > 1) return "several";
  if (scanner.messageBytes > MAX_MESSAGE_BYTES) return "tooLarge";
  if (!isWhole) return "partial";
  return scanner.messages === 1 && !scanner.partial ? "one" : "cut";
}
