import { STATUS, statusName } from "../../lib/grpc/mod.ts";
import {
  OUTCOMES,
  PASS_REASONS,
  REFRESH_RESULTS,
  REFUSAL_REASONS,
  SKIP_REASONS,
  VERIFY_RESULTS,
} from "../../lib/observe/mod.ts";
import { parseExposition } from "../support/exposition.ts";
import { queryNames, type Selector } from "./query_names.ts";

/** What Prometheus says of a target by itself. */
const OF_PROMETHEUS = new Map([["up", new Set<string>()]]);

/** What a sidecar tells in trouble alone, with its labels: no scrape of one that is well has it. */
const OF_TROUBLE = new Map([["collapser_method_off", new Set(["method", "reason"])]]);

/** Labels of the target, which every series of a scrape gets: those of `manifests/` and of the operator. */
const OF_TARGET = new Set(["job", "instance", "namespace", "service", "pod"]);

/** What a label of a series becomes when the target has one of its name. */
const RENAMED = "exported_";

/** Labels with a known set of values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  outcome: OUTCOMES,
  reason: [...PASS_REASONS, ...REFUSAL_REASONS, ...SKIP_REASONS, "verify"],
  result: [...VERIFY_RESULTS, ...REFRESH_RESULTS],
  grpc_code: [...Object.values(STATUS).map(statusName), "Other"],
};

/** The metrics of a scrape with the labels that their series have. */
export class Catalog {
  readonly #labels = new Map<string, Set<string>>([...OF_PROMETHEUS, ...OF_TROUBLE]);

  constructor(scrape: string) {
    for (const series of parseExposition(scrape).keys()) {
      const [name, labels = ""] = series.split(/[{}]/) as [string, string?];
      const known = this.#labels.get(name) ?? new Set();
      for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
      this.#labels.set(name, known);
    }
  }

  /** Every metric by its name in queries. */
  get names(): string[] {
    return [...this.#labels.keys()];
  }

  /** What a query names that no scrape has; a legend is asked for its labels too. */
  strangersIn(expr: string, legend = ""): string[] {
    const { selectors, grouping } = queryNames(expr);
    const known = new Set(
      [...OF_TARGET].concat(...selectors.map(({ metric }) => this.#of(metric))),
    );
    const shown = [...legend.matchAll(/{{(\w+)}}/g)].map(([, label]) => label!);
    return [
      ...selectors.flatMap((selector) => this.#strangersOf(selector)),
      ...[...grouping, ...shown].filter((label) => !known.has(label)),
    ];
  }

  #strangersOf({ metric, matchers }: Selector): string[] {
    if (!this.#labels.has(metric)) return [metric];
    const known = new Set([...OF_TARGET, ...this.#of(metric)]);
    return matchers.flatMap(({ label, value }) => {
      if (!known.has(label)) return [`${metric}{${label}}`];
      const values = VALUES[label];
      const strange = value.split("|").filter((one) =>
        values !== undefined && !values.includes(one)
      );
      return strange.map((one) => `${metric}{${label}=${one}}`);
    });
  }

  /** The labels of a metric, as they are called beside those of its target. */
  #of(metric: string): string[] {
    const labels = [...this.#labels.get(metric) ?? []];
    return labels.map((label) => OF_TARGET.has(label) ? RENAMED + label : label);
  }
}
