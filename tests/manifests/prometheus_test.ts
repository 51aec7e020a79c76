/**
 * Prometheus itself on the configuration, the alerts and the dashboard. Skipped, with the reason in the test's name,
 * where Prometheus is not installed.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../support/waiting.ts";
import { BusySidecar } from "./busy_sidecar.ts";
import { filled, queriesOf, type Query, readDashboard } from "./dashboard.ts";
import type { Json } from "./go_program.ts";
import { checkConfig, configFor, Prometheus, run, whyNoPrometheus } from "./prometheus.ts";

const ALERTS = new URL("../../manifests/alerts/collapser.yaml", import.meta.url).pathname;
const ALERTS_TESTS = ["alerts_test.yaml", "alerts_of_days_test.yaml"]
  .map((name) => new URL(name, import.meta.url).pathname);

/** What is empty while nothing is wrong. */
const EMPTY_WHEN_WELL = ["annotation Restarts", "annotation Backend lost"];

/** Panels of which an answer has several series, by which label. */
const SPLIT: Readonly<Record<string, string>> = {
  "Calls by outcome A": "outcome",
  "Answers that are not OK A": "grpc_code",
  "Connection errors A": "code",
  "Writes that outdated results A": "exported_service",
  "Methods A": "method",
};

const reason = await whyNoPrometheus();

function prometheusTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const ignore = reason !== "";
  Deno.test({ name: ignore ? `${name} (skipped: ${reason})` : name, ignore, fn });
}

prometheusTest(
  "promtool accepts the alerts, and finds each come and go as its test says",
  async () => {
    const checked = await run("promtool", ["check", "rules", ALERTS]);
    assert(checked.success, checked.said);
    const tested = await run("promtool", ["test", "rules", ...ALERTS_TESTS]);
    assert(tested.success, tested.said);
    // What has no test of its own would pass as well.
    const names = [...(await Deno.readTextFile(ALERTS)).matchAll(/- alert: (\w+)/g)];
    const tests = (await Promise.all(ALERTS_TESTS.map((path) => Deno.readTextFile(path)))).join();
    for (const [, name] of names) {
      assertStringIncludes(tests, `alertname: ${name}\n        exp_alerts:`);
    }
  },
);

prometheusTest(
  "Prometheus scrapes a sidecar, loads the alerts and answers the dashboard",
  async (t) => {
    await using busy = await BusySidecar.start();
    const config = await configFor(busy.process.metricsPort);
    const checked = await checkConfig(config);
    assert(checked.success, checked.said);
    await using prometheus = await Prometheus.start(config);
    const dashboard = readDashboard();

    await t.step(
      "with the one port that is to be scraped, by the labels of the operator",
      async () => {
        let targets: Json[] = [];
        await until(async () => {
          targets = (await prometheus.ask("targets")).activeTargets;
          return targets.some(({ health }) => health === "up");
        }, "a scrape");
        assertEquals(targets.length, 1);
        const { instance: _, ...labels } = targets[0].labels;
        const expected = {
          job: "collapser",
          namespace: "collapser-demo",
          pod: "hello-1",
          service: "hello",
        };
        assertEquals(labels, expected);
      },
    );

    await t.step("with every query of the dashboard answered, and by something", async () => {
      const left = new Set(queriesOf(dashboard));
      await until(async () => {
        for (const query of left) {
          if (isWell(query, await prometheus.ask("query", { query: query.expr }))) {
            left.delete(query);
          }
        }
        return left.size === 0;
      }, "answers to all queries").catch((error) => {
        throw new Error(
          `${error.message}: ${[...left].map(({ where, expr }) => `${where}: ${expr}`).join("\n")}`,
        );
      });
    });

    await t.step("with choices for every variable of the dashboard", async () => {
      for (const { name, definition } of dashboard.templating.list) {
        if (definition === undefined) continue;
        const [, expr, label] = /^label_values\((.*), (\w+)\)$/.exec(definition)!;
        const values = await prometheus.ask(`label/${label}/values`, { "match[]": filled(expr!) });
        assert(values.length > 0, name);
      }
    });

    await t.step("with every alert evaluated, healthy and silent", async () => {
      let rules: Json[] = [];
      await until(async () => {
        rules = (await prometheus.ask("rules")).groups.flatMap((group: Json) => group.rules);
        return rules.length > 0 && rules.every(({ health }) => health !== "unknown");
      }, "all alerts evaluated");
      for (const { name, health, alerts } of rules) {
        // Its share of failing calls is real, and the alert waits for it to last.
        const firing = alerts.filter(({ state }: Json) => state === "firing");
        assertEquals([health, firing], ["ok", []], name);
      }
    });
  },
);

/** Whether an answer says something, and everything that it is split by. Never throws: the next one may. */
function isWell({ where }: Query, { result }: Json): boolean {
  if (EMPTY_WHEN_WELL.includes(where)) return true;
  const label = SPLIT[where];
  if (result.length === 0) return false;
  return label === undefined || result.every(({ metric }: Json) => metric[label] !== undefined);
}
