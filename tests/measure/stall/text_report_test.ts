import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { FAULTS } from "../../../lib/measure/stall/fault.ts";
import { StallReport } from "../../../lib/measure/stall/text_report.ts";
import { conditions, type StallSubject } from "../../../lib/measure/stall/subject.ts";
import { RecordedScreen } from "../recorded_screen.ts";
import { resultOf, RESULTS, SUBJECT } from "./results.ts";

function textOf(subject: StallSubject, { colour = false, results = RESULTS } = {}): string {
  const screen = new RecordedScreen({ colour });
  const report = new StallReport(screen, subject);
  report.intro();
  report.results(results);
  return screen.text;
}

Deno.test("StallReport states all that decides the numbers", () => {
  const text = textOf(SUBJECT);
  for (
    const said of [
      "300 calls a second",
      "Deadline  2 s",
      "10 calls at once and 10 that wait",
      "a shared pool has 30 and 30",
      "stall at a, after 1 s, for 2 s",
      "Seed      42",
    ]
  ) assertStringIncludes(text, said);
  assertStringIncludes(
    conditions(SUBJECT),
    "300 calls/s, deadline 2 s, pools 10+10 each, shared 30+30, seed 42",
  );
});

Deno.test("StallReport prints the arithmetic for each way that it can come out", () => {
  const law = (changes: Partial<StallSubject>) =>
    textOf({ ...SUBJECT, ...changes }).replaceAll("\n", " ");
  assertStringIncludes(law({}), "100/s x 2 s = 200");
  assertStringIncludes(law({}), "(3 x 30 + 30) / 2 s = 60 of 300 calls a second, and about 13.3 %");
  assertStringIncludes(law({ places: 100 }), "it is not filled, and need not do worse than 66.7 %");
  assertStringIncludes(law({ waiting: 10_000 }), "66.7 % of all calls are answered, each after");
  assertStringIncludes(law({ waiting: 10_000 }), "after some 1.70 s");
  assert(!law({ fault: "latency" }).includes("Little"), "it answers");
});

Deno.test("StallReport shows each system's shares, latencies, recovery, line and statuses", () => {
  const text = textOf(SUBJECT);
  assertMatch(text, /^collapser +100\.0 % +100\.0 % +66\.7 % +5\.00 ms +5\.00 ms +at once$/m);
  assertMatch(text, /^shared-pool +100\.0 % +0\.0 % +0\.0 % +5\.00 ms +- +at once$/m);
  assertMatch(text, /^collapser {7}█{10}▅{20}█{10}$/m);
  assertMatch(text, /^shared-pool {5}█{10}·{20}█{10}$/m);
  assertMatch(text, /^ {26}─+ stall at a ─+$/m);
  assertMatch(text, /^collapser {7}healthy {2}OK 400$/m);
  assertMatch(text, /^ {16}a {8}Unavailable 200$/m);
});

Deno.test("StallReport tells nearly all from all, and never from no recovery", () => {
  const results = [
    resultOf("almost", (shard, dueMs) => shard === 1 && dueMs === 1_500),
    resultOf("never", (_shard, dueMs) => dueMs >= 1_000),
  ];
  const text = textOf(SUBJECT, { results });
  assertMatch(text, /^almost +100\.0 % +99\.8 %/m);
  assertMatch(text, /^never .* > 1 s$/m);
});

Deno.test("StallReport fits 80 columns whatever it says, and is plain without colour", () => {
  const long = resultOf("a-proxy-with-a-name", () => false);
  for (const fault of FAULTS) {
    for (const isAnnounced of [false, true]) {
      for (const isEmbedded of [false, true]) {
        const subject = { ...SUBJECT, fault, isAnnounced, isEmbedded };
        const text = textOf(subject, { results: [...RESULTS, long] });
        for (const line of text.split("\n")) {
          assert(line.length <= 80, `${line.length} columns: ${line}`);
          assertEquals(line, line.trimEnd());
        }
        assertEquals(text.includes("\x1b"), false);
      }
    }
  }
  const coloured = textOf(SUBJECT, { colour: true });
  assert(coloured.includes("\x1b"));
  assertEquals(stripVTControlCharacters(coloured), textOf(SUBJECT));
});

Deno.test("StallReport says whose calls were made late, and only then", () => {
  const [first, second] = RESULTS;
  const results = [first!, { ...second!, tally: { ...second!.tally, latestMs: 812 } }];
  const text = textOf(SUBJECT, { results });
  assertStringIncludes(
    text,
    "caution: shared-pool got calls up to 812 ms late: the machine was busy",
  );
  assertEquals(text.match(/caution/g)?.length, 1);
});

Deno.test("StallReport breaks a long list of statuses between them", () => {
  const [first] = RESULTS;
  const counts = { OK: 1, DeadlineExceeded: 2_222, ResourceExhausted: 3_333, Unavailable: 4_444 };
  const during = { ...first!.tally.during, faultedStatuses: counts };
  const results = [{ ...first!, tally: { ...first!.tally, during } }];
  const text = textOf(SUBJECT, { results });
  assertMatch(
    text,
    / a {8}Unavailable 4,444, ResourceExhausted 3,333,\n {25}DeadlineExceeded 2,222, OK 1$/,
  );
});

Deno.test("StallReport says what is done by hand, and that without a fault there is none", () => {
  const byHand = textOf({ ...SUBJECT, fault: "none", isAnnounced: true });
  assertStringIncludes(byHand, "by hand at a");
  const none = textOf({ ...SUBJECT, fault: "none" });
  assertStringIncludes(none, "Fault     none");
  assert(!none.includes("none at a"), none);
});
