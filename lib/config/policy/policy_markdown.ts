import { OPTION_TABLE } from "../option_table.ts";
import { COLLAPSER_KEYS, type CollapserKey } from "./collapser_keys.ts";
import { ENTRY_KEYS } from "./grpc_keys.ts";

const BEGIN = "<!-- policy keys -->";
const END = "<!-- /policy keys -->";

/** The table of a policy file's keys as docs/policy.md shows it, markers included; the formatter is kept away. */
export function policyMarkdown(): string {
  return [
    BEGIN,
    "<!-- deno-fmt-ignore-start -->",
    "",
    "| key | unless set | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(ENTRY_KEYS)
      .filter(([, { isUsed }]) => isUsed)
      .map(([key, { help }]) => `| \`${key}\` |  | ${help} |`),
    ...COLLAPSER_KEYS.map(row),
    "",
    "<!-- deno-fmt-ignore-end -->",
    END,
  ].join("\n");
}

/** The part of `text` between the markers, markers included; undefined when it has none. */
export function policySection(text: string): string | undefined {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  return begin < 0 || end < 0 ? undefined : text.slice(begin, end + END.length);
}

function row({ key, option, fallback = "", help, isUnbuilt }: CollapserKey): string {
  const standard = option === undefined ? fallback : OPTION_TABLE[option].env;
  const meaning = `${help}${isUnbuilt ? " (not yet)" : ""}`.replaceAll("|", "\\|");
  return `| \`collapser.${key}\` | \`${standard}\` | ${meaning} |`;
}
