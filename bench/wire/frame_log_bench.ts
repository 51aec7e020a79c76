/**
 * What a log takes to gather large replies, a megabyte at a time: 16 at once, as many as one connection may bring by
 * turns, each let go of when it is whole. Run with `deno bench bench/wire/`.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { FrameLog } from "../../lib/wire/mod.ts";

const REPLIES = 16;
const PIECE = new Uint8Array(16_384).fill(7);

for (const mebibytes of [1 / 16, 1, 4]) {
  const pieces = mebibytes * 2 ** 20 / PIECE.length;
  const group = `${REPLIES} replies of ${mebibytes * 1_024} KiB`;
  Deno.bench({ group, name: "their length is not known", baseline: true }, () => gather(pieces));
  Deno.bench({ group, name: "expected as long as they are" }, () => gather(pieces, PIECE.length));
}

/** Gathers all replies piece by piece in turn; of each, `expects` says how many bytes of a piece are expected. */
async function gather(pieces: number, expects = 0): Promise<void> {
  const logs = Array.from({ length: REPLIES }, () => new FrameLog());
  for (let piece = 1; piece <= pieces; piece++) {
    for (const log of logs) {
      log.appendData(PIECE, 0, PIECE.length, piece === pieces);
      if (expects > 0) log.expect((pieces - piece) * expects);
    }
  }
  for (const log of logs) {
    if (!log.ended || log.dataBytes !== pieces * PIECE.length) throw new Error("Cannot trust this");
    log.clear();
  }
  await new Promise((resolve) => setImmediate(resolve)); // as reads do: what was remembered in a turn is held until its end
}
