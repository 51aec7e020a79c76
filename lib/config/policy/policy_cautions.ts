import type { NamedPolicy } from "../../downstream/mod.ts";
import { CREDENTIALS } from "../cautions.ts";

/** Settings of entries that are allowed and can hurt, once for each entry. */
export function policyCautions(policies: readonly NamedPolicy[]): readonly string[] {
  const found = new Set<string>();
  for (const { entry, line, collapser = {} } of policies) {
    const at = `methodConfig[${entry}] (line ${line})`;
    const { keyHeaders, ignoreHeaders = [] } = collapser;
    if (keyHeaders !== undefined && !keyHeaders.includes("authorization")) {
      const means = "leaves authorization out: callers with different credentials share answers";
      found.add(`${at}: keyHeaders ${means}`);
    }
    if (ignoreHeaders.some((name) => CREDENTIALS.includes(name))) {
      const means = "leaves credentials out: callers with different ones share answers";
      found.add(`${at}: ignoreHeaders ${means}`);
    }
  }
  return [...found];
}
