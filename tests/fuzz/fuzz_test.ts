/** A short run of every target, and proof that what they look for would be found. */

import {
  assert,
  assertEquals,
  assertExists,
  assertGreater,
  assertStringIncludes,
} from "@std/assert";
import { FRAME } from "../../lib/wire/mod.ts";
import type { RawFrame } from "../support/frame_parser.ts";
import { converse } from "./connection/converse.ts";
import type { Tamper } from "./connection/conversation.ts";
import { Draws } from "./draws.ts";
import type { Role } from "./models/connection_state.ts";
import { play, type Target } from "./run.ts";
import { TARGETS } from "./targets.ts";

const SEED = 1;

/** Cases of each target, some two hundred milliseconds of each; `deno task fuzz` has the time for more. */
const CASES: Readonly<Record<string, number>> = {
  "frame-reader": 150,
  huffman: 500,
  "hpack-decoder": 30,
  "hpack-encoder": 60,
  messages: 300,
  texts: 500,
  "header-rules": 200,
  "http1": 200,
  "connection-server": 12,
  "connection-client": 12,
  proxy: 8,
};

/** Enough to meet a planted fault; each is found within a fifth of them. */
const PLANTED_CASES = 200;

for (const target of TARGETS) {
  const runs = CASES[target.name] ?? 10;
  Deno.test(`play finds nothing in ${runs} cases of ${target.name}`, async () => {
    const { cases, finding } = await play(target, { seed: SEED, runs });
    if (finding !== undefined) {
      const why = `seed ${finding.seed}:\n${finding.notes.join("\n")}`;
      throw new Error(why, { cause: finding.error });
    }
    assertEquals(cases, runs);
  });
}

Deno.test("converse lets some connections live and some fail", () => {
  const roles: Role[] = ["server", "client"];
  const outlived = Array.from(
    { length: 24 },
    (_, i) => converse(roles[i % 2]!, new Draws(1_000 + i)),
  );
  const count = outlived.filter(Boolean).length;
  assert(count >= 4 && count <= 22, `${count} of 24 outlived it`); // else little would be tested
});

/** Faults between peer and connection, and words of what must be said of them. */
const PLANTS: readonly [name: string, role: Role, tamper: Tamper, words: string][] = [
  ["a window that is opened twice as far", "server", doubled(FRAME.windowUpdate), "beyond the"],
  [
    "a window of a request that is opened twice as far",
    "client",
    doubled(FRAME.windowUpdate),
    "beyond",
  ],
  ["a PING without an answer", "server", lost(FRAME.ping), "PING"],
  ["a stream that stays when it was reset", "server", lost(FRAME.rstStream), "reset"],
  ["a window that is never opened", "server", lost(FRAME.windowUpdate), "stuck"],
  ["a head that nobody is told of", "client", lost(FRAME.headers), "headers"],
  ["DATA whose last byte is lost", "server", shortened(FRAME.data), "data"],
  ["a GOAWAY that nobody is told of", "client", lost(FRAME.goAway), "goAway"],
];

for (const [name, role, tamper, words] of PLANTS) {
  Deno.test(`play finds ${name} (${role})`, async () => {
    const target = planted((draws) => void converse(role, draws, { tamper, carelessness: 0 }));
    const { finding } = await play(target, { seed: SEED, runs: PLANTED_CASES, shrinkMs: 0 });
    assertExists(finding, "the fault was not found");
    assertStringIncludes(String(finding.error), words);
  });
}

Deno.test("play names the seed of what it found, which finds it again, and makes the case small", async () => {
  const target = planted((draws) => {
    const numbers = Array.from({ length: 50 }, () => draws.below(100));
    for (const number of numbers) if (number > 0) draws.note(String(number));
    assert(!numbers.includes(42), "forty-two");
  });
  const { finding, cases } = await play(target, { seed: 7, runs: PLANTED_CASES });
  assertExists(finding);
  assertEquals(finding.seed, 7 + cases - 1);
  assertEquals(finding.notes, ["42"]);
  const again = await play(target, { seed: finding.seed, runs: 1 });
  assertEquals(again.finding?.notes, ["42"]);
});

Deno.test("play stops after so many cases, or when its time is over", async () => {
  const idle = planted(() => {});
  assertEquals((await play(idle, { seed: 1, runs: 5 })).cases, 5);
  assertGreater((await play(idle, { seed: 1, forMs: 5 })).cases, 0);
});

Deno.test("Draws gives the same numbers for a seed, and the dullest past the end of a list", () => {
  const numbers = (draws: Draws) => Array.from({ length: 20 }, () => draws.below(1_000));
  assertEquals(numbers(new Draws(5)), numbers(new Draws(5)));
  const over = new Draws([]);
  assertEquals([over.below(9), over.chance(0.99), over.pick(["first", "second"])], [
    0,
    false,
    "first",
  ]);
});

function planted(run: Target["run"]): Target {
  return { name: "planted", about: "a fault that must be found", run };
}

/** A type that nobody knows is ignored. */
function lost(type: number): Tamper {
  return (frame) => frame.type === type ? { ...frame, type: 0xfe } : frame;
}

function doubled(type: number): Tamper {
  return (frame) => {
    if (frame.type !== type || frame.payload.length !== 4) return frame;
    const view = new DataView(frame.payload.slice().buffer);
    view.setUint32(0, Math.min(2 ** 30, view.getUint32(0) * 2));
    return { ...frame, payload: new Uint8Array(view.buffer) };
  };
}

function shortened(type: number): Tamper {
  return (frame: RawFrame) =>
    frame.type === type ? { ...frame, payload: frame.payload.subarray(0, -1) } : frame;
}
