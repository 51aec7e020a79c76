import { assertEquals } from "@std/assert";
import { queryNames } from "./query_names.ts";

/** Metrics and labels, as `metric{label,...}` and what is grouped by. */
function namesIn(query: string): string {
  const { selectors, grouping } = queryNames(query);
  const told = selectors.map(({ metric, matchers }) =>
    `${metric}{${matchers.map(({ label, operator, value }) => label + operator + value)}}`
  );
  return [...told, `by ${grouping}`].join(" ");
}

Deno.test("queryNames tells metrics from functions, keywords, durations and numbers", () => {
  assertEquals(namesIn("a"), "a{} by ");
  assertEquals(namesIn("rate(a[5m]) > 1e3 and on (x, y) b offset 1d"), "a{} b{} by x,y");
  assertEquals(namesIn("a > bool Inf or vector(0)"), "a{} by ");
  assertEquals(namesIn("time() - min_over_time(a[1h:5m])"), "a{} by ");
});

Deno.test("queryNames tells labels from metrics", () => {
  assertEquals(namesIn('sum by (le) (rate(a_bucket{b="c"}[1m]))'), "a_bucket{b=c} by le");
  assertEquals(namesIn('sum(a{b=~"c|d", e!="f"}) without (g)'), "a{b=~c|d,e!=f} by g");
  assertEquals(namesIn("a * on (i) group_left (v) b"), "a{} b{} by i,v");
  assertEquals(namesIn('a{b="} and (\\" by c"} / d'), 'a{b=} and (" by c} d{} by ');
});
