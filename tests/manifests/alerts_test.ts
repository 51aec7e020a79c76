import { assert, assertEquals } from "@std/assert";
import { BusySidecar } from "./busy_sidecar.ts";
import { Catalog } from "./catalog.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";

skippedWithoutGo("alerts name only what a sidecar has, and lead to the README");

manifestTest("alerts name only what a sidecar has, and lead to the README", async ({ files }) => {
  await using busy = await BusySidecar.start();
  const catalog = new Catalog((await busy.process.ask("/metrics")).text);
  const [plain] = files["alerts/collapser.yaml"]!;
  const [rule] = files["components/prometheus-operator/prometheus_rule.yaml"]!;
  assertEquals(rule.spec.groups, plain.groups);
  const anchors = await anchorsOf(new URL("../../README.md", import.meta.url));
  for (const { alert, expr, labels, annotations } of plain.groups[0].rules) {
    assertEquals(catalog.strangersIn(expr), [], alert);
    assert(["warning", "critical"].includes(labels.severity), alert);
    assert(annotations.summary && annotations.description, alert);
    const [page, anchor] = annotations.runbook_url.split("#");
    assertEquals(page, "README.md", alert);
    assert(anchors.has(anchor), `${alert}: README.md has no heading for #${anchor}`);
  }
});

/** The anchors that a forge gives to the headings of a page. */
async function anchorsOf(page: URL): Promise<Set<string>> {
  const text = await Deno.readTextFile(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase());
  return new Set(headings.map((heading) => heading.replace(/[^\w\- ]/g, "").replaceAll(" ", "-")));
}
