import { assertEquals, assertThrows } from "@std/assert";
import { expositionTypes, parseExposition, samplesOf } from "./exposition.ts";

const SCRAPE = String.raw`# HELP a_total What is counted.
# TYPE a_total counter
a_total{x="1",y="q\"\\n"} 3
a_total{x="2",y=""} 1e+21

# HELP b_seconds With "quotes".
# TYPE b_seconds histogram
b_seconds_bucket{le="0.1"} 1
b_seconds_bucket{le="+Inf"} 2
b_seconds_sum 0.5
b_seconds_count 2
# TYPE c gauge
c -Inf
`;

Deno.test("parseExposition reads series with their values", () => {
  assertEquals([...parseExposition(SCRAPE)], [
    [String.raw`a_total{x="1",y="q\"\\n"}`, 3],
    [`a_total{x="2",y=""}`, 1e21],
    [`b_seconds_bucket{le="0.1"}`, 1],
    [`b_seconds_bucket{le="+Inf"}`, 2],
    ["b_seconds_sum", 0.5],
    ["b_seconds_count", 2],
    ["c", -Infinity],
  ]);
});

Deno.test("parseExposition refuses what a scraper would", () => {
  for (
    const [text, why] of [
      ["# TYPE a gauge\na 1", "last line"],
      ["a 1\n", "not of its family"],
      ["# TYPE a gauge\na_sum 1\n", "not of its family"],
      ["# TYPE a gauge\na 1\na 2\n", "there already"],
      ['# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{x="1"} 2\n', "not of its family"],
      ["# TYPE a gauge\n# TYPE a gauge\n", "second TYPE"],
      ["# TYPE a gouge\n", "no such type"],
      ["# TYPE a gauge\na one\n", "no number"],
      ["# TYPE a gauge\na Nan\n", "no number"],
      ['# TYPE a gauge\na{x="un"quoted"} 1\n', "no sample"],
      ['# TYPE a gauge\na{x="line\nend"} 1\n', "no sample"],
      ["# TYPE a gauge\na{x=1} 1\n", "no sample"],
      ["# a remark\n", "neither HELP nor TYPE"],
    ] as const
  ) assertThrows(() => parseExposition(text), SyntaxError, why, text);
});

Deno.test("expositionTypes and samplesOf tell the families apart", () => {
  assertEquals(Object.fromEntries(expositionTypes(SCRAPE)), {
    a_total: "counter",
    b_seconds: "histogram",
    c: "gauge",
  });
  assertEquals(samplesOf(SCRAPE, "b_seconds").length, 4);
  assertEquals(samplesOf(SCRAPE, "b"), []);
});
