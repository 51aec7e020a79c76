import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { stallSvg } from "../../../lib/measure/stall/svg_report.ts";
import { isDuring, resultOf, RESULTS, SUBJECT } from "./results.ts";

/** Every tag is closed by its own, attributes are quoted, and no text holds what XML does not allow. */
function assertWellFormed(xml: string): void {
  const open: string[] = [];
  const tag = /<(\/?)([a-z]+)((?:\s+[a-zA-Z0-9:-]+="[^"<>]*")*)\s*(\/?)>/y;
  for (let at = 0; at < xml.length;) {
    if (xml[at] !== "<") {
      const end = xml.indexOf("<", at);
      const text = xml.slice(at, end < 0 ? undefined : end);
      assert(!/&(?!(?:amp|lt|gt|quot);)/.test(text), `a bare & in ${text}`);
      assert(!text.includes(">"), `a bare > in ${text}`);
      assert(open.length > 0 || text.trim() === "", `text outside: ${text}`);
      at += text.length;
      continue;
    }
    tag.lastIndex = at;
    const found = tag.exec(xml);
    assert(found !== null, `no tag at ${xml.slice(at, at + 60)}`);
    const [whole, closes, name, , isEmpty] = found;
    if (closes === "/") assertEquals(open.pop(), name);
    else if (isEmpty !== "/") open.push(name!);
    at += whole.length;
  }
  assertEquals(open, []);
}

Deno.test("stallSvg is well-formed, also with names that XML would read as its own", () => {
  assertWellFormed(stallSvg(SUBJECT, RESULTS));
  const odd = resultOf(`<"a&b">`, () => false, "1 < 2 & 3 > 2");
  const svg = stallSvg({ ...SUBJECT, faulted: "<a>&" }, [odd]);
  assertWellFormed(svg);
  assertStringIncludes(svg, "&lt;&quot;a&amp;b&quot;&gt;");
});

Deno.test("stallSvg states deadline, load, pools and seed, and what lines and axes mean", () => {
  const svg = stallSvg(SUBJECT, RESULTS);
  for (
    const said of [
      "3 backends, stall at a for 2 s",
      "300 calls/s, deadline 2 s, pools 10+10 each, shared 30+30, seed 42",
      "calls to healthy backends",
      "all calls",
      "the fault",
      "in seconds",
      "100 %",
      ">collapser ",
      ">shared-pool ",
    ]
  ) assertStringIncludes(svg, said);
});

Deno.test("stallSvg needs nothing else, and follows light and dark", () => {
  const svg = stallSvg(SUBJECT, RESULTS);
  assertStringIncludes(svg, "@media (prefers-color-scheme: dark)");
  const links = svg.match(/(?:href|src|url|@import)/g);
  assertEquals(links, null);
  assertEquals(svg.match(/https?:[^"]*/g), ["http://www.w3.org/2000/svg"]);
});

Deno.test("stallSvg draws a step for each bin, and every number is one", () => {
  const svg = stallSvg(SUBJECT, [
    resultOf("collapser", (shard, ms) => shard === 0 && isDuring(ms)),
  ]);
  const all = /class="line all" d="([^"]*)"/.exec(svg)![1]!;
  assertEquals(all.match(/H/g)?.length, 40);
  const heights = new Set([...all.matchAll(/ ([\d.]+)H/g)].map(([, y]) => y));
  assertEquals(heights.size, 2, "all, and two thirds");
  assertMatch(svg, /class="line healthy"/);
  assert(!/NaN|undefined|Infinity/.test(svg));
});

Deno.test("stallSvg has no fault where there was none", () => {
  const svg = stallSvg({ ...SUBJECT, fault: "none" }, RESULTS);
  assertWellFormed(svg);
  assert(!svg.includes('class="fault"') && !svg.includes("the fault"));
});
