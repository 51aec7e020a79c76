/**
 * The reports of a result that holds everything, and of one that lacks all that can be missing.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { roundSteps, spreadOut } from "../../../lib/measure/tax/chart_frame.ts";
import { addedChart, cpuChart, curveChart } from "../../../lib/measure/tax/charts.ts";
import { taxHtml } from "../../../lib/measure/tax/html_report.ts";
import { escaped, table } from "../../../lib/measure/tax/markup.ts";
import type {
  PhaseFigures,
  ProxyFigures,
  SystemFigures,
  TaxResult,
} from "../../../lib/measure/tax/result.ts";
import { spreadOf } from "../../../lib/measure/tax/statistics.ts";
import { taxText } from "../../../lib/measure/tax/text_report.ts";
import { subjectOf } from "./rig.ts";

const HOSTILE = `<b>"&'</b>`;

const phase: PhaseFigures = {
  calls: 5_000,
  failed: 0,
  perSecond: spreadOf([900, 1_000])!,
  backlogShare: 0,
  latencyMs: { p50: 0.3, p90: 0.5, p99: 1.5, p999: null },
  meanMs: 0.35,
  maxMs: 4,
  latenessP99Ms: 0,
  bytesPerCall: { sent: 60, received: 90 },
  cpu: { userMs: 0.03, systemMs: 0.01, totalMs: spreadOf([0.035, 0.035, 0.045, 0.045])! },
  curve: [[50, 0.3], [90, 0.5], [99, 1.5]],
};

const direct: SystemFigures = {
  name: "direct",
  address: "10.0.0.1:50051",
  rates: [{ ...phase, duePerSecond: 200 }, { ...phase, duePerSecond: 1_000 }],
  saturation: phase,
  repeats: { ...phase, duePerSecond: 1_000, savedShare: 0 },
  residentBytes: 5e7,
  usageMissing: null,
  callsMade: 10_000,
};

const added = {
  p50: spreadOf([0.09, 0.09, 0.1, 0.12, 0.12])!,
  p90: spreadOf([0.2])!,
  p99: spreadOf([-0.1, -0.1, 1, 1])!,
  p999: null,
};

const proxy: ProxyFigures = {
  ...direct,
  name: "twelve-chars",
  address: HOSTILE,
  added: direct.rates.map(({ duePerSecond }) => ({
    duePerSecond,
    ms: added,
    split: { hopMs: 0.05, processingMs: 0.06, queueingMs: -0.01 },
  })),
  addedAtSaturation: added,
  throughputShare: spreadOf([0.5, 0.6])!,
  cost: { cpu: 1.2, crossZone: 3.94 },
  savedShareSoFar: null,
  verdict: {
    advice: "shrink",
    why: `Because ${HOSTILE} of it all.`,
    breakEven: { time: 0.2, cpu: "never" },
  },
};

const full: TaxResult = {
  subject: subjectOf({ rates: [200, 1_000], method: `/test.S/${HOSTILE}` }),
  direct,
  relay: { ...direct, name: "relay" },
  proxies: [proxy, { ...proxy, name: "other", address: "10.0.0.3:1" }],
  cautions: [`mind ${HOSTILE}`],
  blast: {
    summary: `Callers of the healthy ones saw nothing ${HOSTILE}.`,
    rows: [{ name: "collapser", calls: 1_000, failed: 1, healthyP99Ms: 1, stalledP99Ms: 2 }],
  },
};

const bare = {
  ...phase,
  cpu: null,
  latencyMs: { p50: null, p90: null, p99: null, p999: null },
  curve: [],
};
const nothing = { p50: null, p90: null, p99: null, p999: null };
const bareSystem: SystemFigures = {
  ...direct,
  rates: [{ ...bare, duePerSecond: 200 }],
  saturation: null,
  repeats: null,
  residentBytes: null,
  usageMissing: "neither its pid (--pid) nor its metrics (--metrics) were given",
};
const empty: TaxResult = {
  subject: subjectOf({ rates: [200], embedded: true }),
  direct: bareSystem,
  relay: bareSystem,
  proxies: [{
    ...proxy,
    ...bareSystem,
    name: "p",
    address: "x:1",
    added: [{ duePerSecond: 200, ms: nothing, split: null }],
    addedAtSaturation: nothing,
    throughputShare: null,
    cost: { cpu: undefined, crossZone: 0 },
  }],
  cautions: [],
  blast: null,
};

Deno.test("taxText says all three bills and the advice in 80 columns", () => {
  const text = taxText(full);
  for (const line of text.split("\n")) {
    assert(line.length <= 80, `${line.length} columns: ${line}`);
    assertEquals(line, line.trimEnd());
  }
  assertMatch(
    text,
    /twelve-chars \+100 µs +\+200 µs +\+450 µs +too few calls\n +\(90\.0\.\.120\) +\(-100\.\.1000\)\n/,
  );
  assertMatch(text, /\+50\.0 µs +\+60\.0 µs +-10\.0 µs +at 200\/s/);
  assertMatch(text, /0\.030 \+ 0\.010 +0\.040 \(0\.035\.\.0\.045\) +at 200\/s +50 MB/);
  assertMatch(text, /CPU 1\.20 +3\.94 more from another zone, 150 bytes a call/);
  assertMatch(text, /collapser +1\.00 ms +2\.00 ms +0\.1 %/);
  assertMatch(text, /What to do\n {3}twelve-chars SHRINK\. Because/);
  assertStringIncludes(text, "Caution\n   - mind");
});

Deno.test("taxText says what is missing, and never a number in its place", () => {
  const text = taxText(empty);
  assertStringIncludes(text, "too few calls");
  assertMatch(text, /direct +not measured: neither its pid \(--pid\) nor/);
  assertStringIncludes(text, "not measured (run collapser stall)");
  assertStringIncludes(text, "CPU not measured");
  assertMatch(text, /all in\s+this process/);
  assertFalse(/NaN|undefined|null|Infinity/.test(text), text);
  for (const line of text.split("\n")) assert(line.length <= 80, line);
});

Deno.test("taxHtml asks nobody for anything and shows every text as it is", () => {
  for (const result of [full, empty]) {
    const html = taxHtml(result);
    assertFalse(
      /<script|<link|<img|@import|url\(|src=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/i.test(html),
    );
    assertFalse(html.includes("<b>\"&'"), "a text became markup");
    assertFalse(/NaN|undefined|>null|Infinity/.test(html), html);
    assertStringIncludes(html, "prefers-color-scheme:dark");
    for (const tag of ["table", "svg", "p", "h2", "ul", "g"]) {
      const count = (pattern: string) => html.match(new RegExp(pattern, "g"))?.length ?? 0;
      assertEquals(count(`<${tag}[ >]`), count(`</${tag}>`), tag);
    }
  }
  const html = taxHtml(full);
  assertEquals(html.match(/<svg /g)?.length, 4);
  assertEquals(html.match(/role="img" aria-label=/g)?.length, 4, "every chart says what it shows");
  assertStringIncludes(html, "&lt;b&gt;&quot;&amp;&#39;");
  assertStringIncludes(html, '<th scope="row">twelve-chars</th>');
});

Deno.test("charts draw a mark for every figure, within their frame", () => {
  const chart = addedChart(full, "p50");
  assertEquals(chart.match(/<circle /g)?.length, 4, "two proxies, two rates");
  assertEquals(curveChart(full).match(/<polyline /g)?.length, 3);
  assertEquals(cpuChart(full).match(/<rect /g)?.length, 6, "user and system of three");
  for (const text of [chart, addedChart(full, "p99"), curveChart(full), cpuChart(full)]) {
    for (const [, at] of text.matchAll(/ (?:cy|y|y1|y2)="([^"]+)"/g)) {
      assert(Number(at) >= 0 && Number(at) <= 300, `${at} is outside`);
    }
  }
  assertEquals([addedChart(empty, "p50"), curveChart(empty), cpuChart(empty)], ["", "", ""]);
});

Deno.test("cpuChart stands system time on user time", () => {
  const rects = [...cpuChart(full).matchAll(/ y="([^"]+)" height="([^"]+)"/g)]
    .map(([, y, height]) => ({ y: Number(y), height: Number(height) }));
  const [user, system] = rects as [typeof rects[0], typeof rects[0]];
  assert(Math.abs(system!.y + system!.height - user!.y) < 0.2, JSON.stringify(rects));
  assert(Math.abs(user!.height / system!.height - 3) < 0.05, "0.03 and 0.01");
});

Deno.test("roundSteps covers the range with a few round numbers", () => {
  assertEquals(roundSteps(0, 1), [0, 0.5, 1]);
  assertEquals(roundSteps(-3, 9), [-5, 0, 5, 10]);
  for (const [from, to] of [[0, 0.0013], [0, 7_777], [-2, 2], [0, 0]] as const) {
    const steps = roundSteps(from, to);
    assert(steps.length >= 2 && steps.length <= 8, `${steps}`);
    assert(steps[0]! <= from && steps.at(-1)! >= to, `${steps}`);
  }
});

Deno.test("spreadOut moves labels apart and keeps their order", () => {
  assertEquals(spreadOut([10, 100], 16), [10, 100]);
  assertEquals(spreadOut([12, 10, 11], 16), [42, 10, 26]);
});

Deno.test("escaped and table leave no markup of others standing", () => {
  assertEquals(escaped(`<a href="x">&'`), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  assertMatch(table(["<h>"], [["<r>", "<c>"]]), /&lt;h&gt;[^]*&lt;r&gt;[^]*&lt;c&gt;/);
});
