import { go, whyNoGo as why } from "../support/go.ts";
import { within } from "../support/waiting.ts";
import type { Json } from "../manifests/go_program.ts";

const SOURCE = new URL("go/", import.meta.url);

/** The chart's folder. */
export const CHART = new URL("../../charts/collapser/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 400_000;

/** Values to render the chart with, and templates beside its own. */
export interface RenderCase {
  readonly values: Json;
  readonly templates?: Readonly<Record<string, string>>;
}

/** What came of a case. */
export interface Rendered {
  /** Warnings of the linter, and what is worse. */
  readonly lint: readonly string[];
  readonly manifest: string;
  readonly notes: string;
  /** Why nothing was rendered; "" when it was. */
  readonly error: string;
}

/** Why Helm's own code is not to be had here; "" when it is. */
export function whyNoHelm(): Promise<string> {
  return why(SOURCE, { takes: "minutes", fetch: ["mod", "download"], limitMs: BUILD_LIMIT_MS });
}

/** Lints the chart and renders it, once for each case. */
export async function render(...cases: readonly RenderCase[]): Promise<readonly Rendered[]> {
  const input = await Deno.makeTempFile({ prefix: "collapser-test-", suffix: ".json" });
  try {
    await Deno.writeTextFile(input, JSON.stringify(cases));
    const running = go(SOURCE, ["run", ".", CHART.pathname, input]);
    const { success, output, said } = await within(running, "Helm", BUILD_LIMIT_MS);
    if (!success) throw new Error(`Cannot render the chart: ${said}`);
    return JSON.parse(output);
  } finally {
    await Deno.remove(input);
  }
}
