import { assertEquals } from "@std/assert";
import { WholeFrames } from "./bridge.ts";
import { everyCut } from "./cuts.ts";
import { block, concat, continuation, data, headers, ping, PREFACE, REQUEST } from "./frames.ts";

Deno.test("WholeFrames gives each frame once it is whole, and header blocks whole, wherever a socket cuts", () => {
  const bytes = block(REQUEST);
  const opening = headers(1, bytes.subarray(0, 9), { endHeaders: false });
  const wholes = [
    concat(PREFACE, ping(1)),
    concat(opening, continuation(1, bytes.subarray(9))),
    data(1, "abc", { endStream: true }),
  ];
  const ends = wholes.map((_, i) => concat(...wholes.slice(0, i + 1)).length);
  for (const pieces of everyCut(concat(...wholes))) {
    const frames = new WholeFrames(PREFACE.length);
    let [sent, given] = [0, 0];
    for (const piece of pieces) {
      sent += piece.length;
      given += frames.push(piece).length;
      assertEquals(given, ends.findLast((end) => end <= sent) ?? 0, `of ${sent} bytes`);
    }
  }
});
