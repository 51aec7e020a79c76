import type { Option } from "./option.ts";
import { OPTIONS } from "./options.ts";
import { notYet } from "./unbuilt.ts";

const BEGIN = "<!-- options -->";
const END = "<!-- /options -->";

/**
 * The option table as the README shows it, markers included. The formatter is kept
 * away: it would pad every row to the longest meaning.
 */
export function optionsMarkdown(): string {
  return [
    BEGIN,
    "<!-- deno-fmt-ignore-start -->",
    "",
    "| variable | default | meaning |",
    "| --- | --- | --- |",
    ...OPTIONS.map(row),
    "",
    "<!-- deno-fmt-ignore-end -->",
    END,
  ].join("\n");
}

/** The part of `text` between the markers, markers included; undefined when it has none. */
export function optionsSection(text: string): string | undefined {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  return begin < 0 || end < 0 ? undefined : text.slice(begin, end + END.length);
}

function row(option: Option): string {
  const { env, original, help } = option;
  const meaning = `${help} ${notYet(env)}`.trim().replaceAll("|", "\\|");
  return `| \`${env}\`${original ? " =" : ""} | ${fallback(option)} | ${meaning} |`;
}

function fallback({ required, sameAs, fallback }: Option): string {
  if (required) return "required";
  const text = sameAs ?? fallback;
  return text === "" ? "" : `\`${text}\``;
}
