import { assertEquals } from "@std/assert";
import { addPolicyMetrics } from "../../lib/telemetry/policy_metrics.ts";
import { MetricSet } from "../../lib/telemetry/registry.ts";
import type { PolicyFigures } from "../../lib/telemetry/source.ts";
import { parseExposition } from "../support/exposition.ts";

const FIGURES: PolicyFigures = {
  ...{ hash: "ab12", appliedAtMs: 1_700_000_000_500, isInForce: false, taken: 2, refused: 3 },
};

Deno.test("addPolicyMetrics tells what became of the policy file, one digest at a time", async () => {
  const metrics = new MetricSet();
  let figures: PolicyFigures = FIGURES;
  addPolicyMetrics(metrics, { policy: () => figures } as never);
  assertEquals(Object.fromEntries(parseExposition(await metrics.text())), {
    collapser_config_last_reload_successful: 0,
    collapser_config_last_reload_success_timestamp_seconds: 1_700_000_000.5,
    'collapser_config_reloads_total{result="ok"}': 2,
    'collapser_config_reloads_total{result="error"}': 3,
    'collapser_config_info{hash="ab12"}': 1,
  });
  figures = { ...FIGURES, hash: "cd34", isInForce: true };
  const series = parseExposition(await metrics.text());
  assertEquals(series.get("collapser_config_last_reload_successful"), 1);
  assertEquals([...series.keys()].filter((name) => name.includes("_info")), [
    'collapser_config_info{hash="cd34"}',
  ]);
});

Deno.test("addPolicyMetrics has no series where there is no policy file", async () => {
  const metrics = new MetricSet();
  addPolicyMetrics(metrics, { policy: undefined } as never);
  assertEquals([...parseExposition(await metrics.text())], []);
});
