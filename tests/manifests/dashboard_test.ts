import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { BusySidecar } from "./busy_sidecar.ts";
import { Catalog } from "./catalog.ts";
import { filled, panelsOf, queriesOf, readDashboard } from "./dashboard.ts";
import { queryNames } from "./query_names.ts";

/** Width of Grafana's grid. */
const COLUMNS = 24;

/** What the sidecar counts and the dashboard leaves out, each with the reason. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  collapser_config_info: "compared between replicas, by hand",
  collapser_config_last_reload_success_timestamp_seconds: "the alert says when it matters",
  collapser_config_last_reload_successful: "the alert CollapserConfigRejected says it",
  collapser_config_reloads_total: "the alert CollapserConfigRejected says it",
  process_cpu_system_seconds_total: "a part of process_cpu_seconds_total",
  process_cpu_user_seconds_total: "a part of process_cpu_seconds_total",
};

const dashboard = readDashboard();
const panels = panelsOf(dashboard);

Deno.test("dashboard names only metrics, labels and values that a sidecar has", async (t) => {
  await using busy = await BusySidecar.start();
  const scrape = (await busy.process.ask("/metrics")).text;
  const catalog = new Catalog(scrape);
  await t.step("in its panels and annotations", () => {
    for (const { where, expr, legend } of queriesOf(dashboard)) {
      assertEquals(catalog.strangersIn(expr, legend), [], `${where}: ${expr}`);
    }
  });
  await t.step("in its variables", () => {
    for (const { name, definition } of dashboard.templating.list) {
      if (definition === undefined) continue;
      const [, expr, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      assertEquals(catalog.strangersIn(filled(expr!), `{{${label}}}`), [], name);
    }
  });
  await t.step("and shows every metric but those with a reason", () => {
    const named = queriesOf(dashboard).flatMap(({ expr }) => queryNames(expr).selectors);
    const shown = new Set(named.map(({ metric }) => familyOf(metric)));
    const families = new Set([...scrape.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const withSeries = [...families].filter((name) =>
      catalog.names.some((n) => familyOf(n) === name)
    );
    const left = withSeries.filter((name) => !shown.has(name));
    assertEquals(left.sort(), Object.keys(NOT_SHOWN).sort());
  });
  await t.step("and a name that no sidecar has is found", () => {
    assertEquals(catalog.strangersIn('sum by (nobody) (rate(a_total{x="y"}[1m]))'), [
      "a_total",
      "nobody",
    ]);
    const query = 'collapser_calls_total{outcome=~"hit|hitt", methods=""}';
    assertEquals(catalog.strangersIn(query, "{{pod}} {{backend}}"), [
      "collapser_calls_total{outcome=hitt}",
      "collapser_calls_total{methods}",
      "backend",
    ]);
  });
});

Deno.test("dashboard says of every panel what it shows, with a unit, from the chosen data source", () => {
  for (const { title, description = "", datasource, fieldConfig, type } of panels) {
    assertGreater(description.length, 40, title);
    assertEquals(datasource?.uid, "${datasource}", title);
    if (type === "timeseries" || type === "stat") assert(fieldConfig?.defaults.unit, title);
  }
  assertEquals(new Set(panels.map(({ title }) => title)).size, panels.length);
  assertEquals(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

Deno.test("dashboard lays its panels side by side, none over another", () => {
  const taken = new Map<string, string>();
  for (const { title, gridPos: { x, y, w, h } } of dashboard.panels) {
    assert(x + w <= COLUMNS, title);
    for (let cell = 0; cell < w * h; cell++) {
      const place = `${x + cell % w},${y + Math.floor(cell / w)}`;
      assertEquals(taken.get(place), undefined, `${title} over another at ${place}`);
      taken.set(place, title);
    }
  }
});

Deno.test("dashboard asks for the namespace, service and pod in every query", () => {
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) {
      for (const { metric, matchers } of queryNames(expr).selectors) {
        const labels = matchers.map(({ label, value }) => `${label}=${value}`);
        const chosen = ["namespace=$namespace", "service=$service", "pod=$pod"];
        assertEquals(labels.slice(0, 3), chosen, `${title}: ${metric}`);
      }
    }
  }
});

Deno.test("dashboard offers what its links and queries take as variables", () => {
  const offered = new Set(dashboard.templating.list.map(({ name }) => name));
  assertEquals([...offered], ["datasource", "namespace", "service", "pod", "method"]);
  assertThrows(() => filled('up{job=~"$job"}'), Error, "$job");
});

/** The family that a series of a histogram belongs to. */
function familyOf(metric: string): string {
  return /latency|duration/.test(metric) ? metric.replace(/_(bucket|sum|count)$/, "") : metric;
}
