import type { SettingSource } from "../config/mod.ts";
import type { Explanation } from "../sidecar/mod.ts";
import { Page } from "./page.ts";

/** What {@linkcode explanationText} prints beside the explanation. */
interface TextOptions {
  readonly colour: boolean;
  /** Whether the answer is from a sidecar that runs, which knows more than the configuration does. */
  readonly isRunning: boolean;
}

const SHARES = "may share answers";

/** What becomes of the calls of an eligible method by its mode, where they do not simply share answers. */
const IN_MODE: Readonly<Record<string, string>> = {
  off: "passes, since its mode is off; otherwise eligible",
  shadow: "eligible, and served apart while its mode is shadow",
  verify: "may share answers, of which a sample is asked for once more",
};

/** An explanation for people. */
export function explanationText(
  { method, collapses, why, takenOutFor, settings, entries, key }: Explanation,
  { colour, isRunning }: TextOptions,
): string {
  const page = new Page({ colour });
  const mode = settings.find((each) => each.key === "mode")?.value ?? "";
  page.verbatim(method).paragraph(`${collapses ? IN_MODE[mode] ?? SHARES : "passes"}: ${why}`, 2);
  if (takenOutFor !== null) {
    const names = takenOutFor.join(", ");
    page.paragraph(`taken out by verify: answers differed by ${names}; its calls go apart`, 2);
  }
  if (!isRunning) page.paragraph("(without the backend's descriptors: ask a sidecar by --url)", 2);
  page.heading("Settings");
  rows(page, settings.map((each) => [each.key, each.value, sourceText(each)]));
  page.heading("Entries of the policy file that name it, the closest first");
  if (entries.length === 0) page.paragraph("none", 2);
  rows(
    page,
    entries.map(({ entry, line, name, holds, hidden }) => [
      `methodConfig[${entry}] (line ${line})`,
      name,
      [
        ...(holds.length === 0 ? [] : [`holds: ${holds.join(", ")}`]),
        ...(hidden.length === 0 ? [] : [`lost to a closer entry: ${hidden.join(", ")}`]),
        ...(holds.length + hidden.length === 0 ? ["says nothing to the sidecar"] : []),
      ].join("; "),
    ]),
  );
  page.heading("Key").paragraph(`${key.parts.join("; ")}; metadata:`, 2);
  rows(
    page,
    key.metadata.map(({ name, inKey, why }) => [name, inKey ? "in the key" : "ignored", why]),
  );
  if (key.metadata.length === 0) {
    page.paragraph("give some with -H name:value to see which counts", 2);
  }
  return page.toString();
}

function sourceText({ from, entry, line, variable, isUnbuilt }: SettingSource): string {
  const source = from === "policy"
    ? `methodConfig[${entry}] (line ${line})`
    : variable === null
    ? from
    : `${variable} (${from})`;
  return isUnbuilt ? `${source}; not in force in this version` : source;
}

/** Lines of three columns; what is longer than the terminal stays on its line, to be found with grep. */
function rows(page: Page, lines: readonly (readonly [string, string, string])[]): void {
  const width = (column: 0 | 1) => Math.max(...lines.map((line) => line[column].length));
  for (const [one, two, three] of lines) {
    page.verbatim(`  ${one.padEnd(width(0))}  ${two.padEnd(width(1))}  ${three}`);
  }
}
