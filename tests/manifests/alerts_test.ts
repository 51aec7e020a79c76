import { assert, assertEquals } from "@std/assert";
import { BusySidecar } from "./busy_sidecar.ts";
import { Catalog } from "./catalog.ts";
import { manifestTest, skippedWithoutGo } from "./manifest_test_case.ts";

skippedWithoutGo("alerts name only what a sidecar has, and lead to a heading that is there");

/** Pages that an alert may lead to. */
const RUNBOOKS = ["README.md", "docs/operating.md"];

manifestTest(
  "alerts name only what a sidecar has, and lead to a heading that is there",
  async ({ files }) => {
    await using busy = await BusySidecar.start();
    const catalog = new Catalog((await busy.process.ask("/metrics")).text);
    const [plain] = files["alerts/collapser.yaml"]!;
    const [rule] = files["components/prometheus-operator/prometheus_rule.yaml"]!;
    assertEquals(rule.spec.groups, plain.groups);
    const anchors = new Map(
      await Promise.all(
        RUNBOOKS.map(async (page) =>
          [page, await anchorsOf(new URL(`../../${page}`, import.meta.url))] as const
        ),
      ),
    );
    for (const { alert, expr, labels, annotations } of plain.groups[0].rules) {
      assertEquals(catalog.strangersIn(expr), [], alert);
      assert(["warning", "critical"].includes(labels.severity), alert);
      assert(annotations.summary && annotations.description, alert);
      const [page, anchor] = annotations.runbook_url.split("#");
      assert(anchors.get(page)?.has(anchor), `${alert}: ${page} has no heading for #${anchor}`);
    }
  },
);

/** The anchors that a forge gives to the headings of a page. */
async function anchorsOf(page: URL): Promise<Set<string>> {
  const text = await Deno.readTextFile(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase());
  return new Set(headings.map((heading) => heading.replace(/[^\w\- ]/g, "").replaceAll(" ", "-")));
}
