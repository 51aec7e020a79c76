import type { NamedPolicy } from "../../downstream/mod.ts";
import type { Settings } from "../settings.ts";
import type { Fault } from "./json.ts";

/** What a policy says that does not go together with a setting, which the file by itself cannot know. */
export function policyConflicts(
  policies: readonly NamedPolicy[],
  { maxBufferedBytes }: Pick<Settings, "maxBufferedBytes">,
): readonly Fault[] {
  const faults = new Map<number, Fault>();
  for (const { entry = 0, line = 0, collapser } of policies) {
    if (4 * (collapser?.maxMessageBytes ?? 0) <= maxBufferedBytes) continue;
    const pointer = `/methodConfig/${entry}/collapser/maxMessageBytes`;
    const why = `one slow reader may hold so much; expected a quarter of ` +
      `COLLAPSER_MAX_BUFFERED_BYTES (${maxBufferedBytes}) at most`;
    faults.set(entry, { line, pointer, why });
  }
  return [...faults.values()];
}
