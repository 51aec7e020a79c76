import { type Explanation, explanationOf } from "../admin/mod.ts";
import type { Origin, Settings } from "../config/mod.ts";
import { explainMethod } from "../proxy/mod.ts";
import { readPolicyOf } from "./policy.ts";

export type { Explanation };

/**
 * Explains a method as a sidecar with these settings would before its first call: without the backend's descriptors.
 * The problems are those of the policy file.
 */
export function explainOffline(
  path: string,
  names: readonly string[],
  configuration: { settings: Settings; origins: ReadonlyMap<string, Origin> },
): { readonly explanation: Explanation } | { readonly problems: readonly string[] } {
  const { settings } = configuration;
  const read = readPolicyOf(settings);
  if ("problems" in read) return read;
  const found = explainMethod(path, names, { options: settings, policies: read.policies });
  return { explanation: explanationOf(found, configuration) };
}
