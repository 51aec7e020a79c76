import { type Group, GROUPS, notYet, type Option, OPTIONS } from "../config/mod.ts";
import type { Definition, Page } from "./page.ts";

/** What the reader of a group wants to know. */
const TITLES: Readonly<Record<Group, string>> = {
  listen: "Listen: where callers and scrapers connect",
  backend: "Backend: the service behind",
  collapsing: "Collapsing: which calls share an answer, and for how long",
  key: "Key: what makes two calls equal",
  lifetime: "Lifetime: how it ends",
  logging: "Logging",
};

/** Every variable with its default and meaning, by group. */
export function describeVariables(page: Page): void {
  page.heading("Variables").paragraph(
    "Each one has a flag of the same meaning that wins over it: BACKEND_ADDRESS is " +
      "--backend-address. An empty value is the same as none. Durations take a unit (100ms, 1s, " +
      "2m), sizes take one (64KiB, 1MiB) or are plain bytes.",
  );
  for (const group of GROUPS) {
    page.heading(TITLES[group]).glossary(inGroup(group).map(definition));
  }
}

/** The names alone, by group: a map for the reader of the overview. */
export function listVariables(page: Page): void {
  page.table(GROUPS.map((group) => ({
    term: group,
    meaning: inGroup(group).map(({ env }) => env).join(" "),
  })));
}

function inGroup(group: Group): readonly Option[] {
  return OPTIONS.filter((option) => option.group === group);
}

function definition({ env, kind, help, fallback, required, sameAs }: Option): Definition {
  const standard = required ? "required" : sameAs ?? fallback;
  return {
    term: `${env}=${kind.placeholder}`,
    remark: standard === "" ? "" : `(${standard})`,
    meaning: `${help} ${notYet(env)}`.trim().replaceAll("`", ""),
  };
}
