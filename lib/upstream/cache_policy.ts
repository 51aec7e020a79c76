import type { HeaderList } from "../wire/mod.ts";

/** What a reply's `cache-control` metadata asks of us. */
export interface CachePolicy {
  /** `no-store` or `private`: it is for whoever asked, and nobody else. */
  readonly isPrivate: boolean;
  /** From `max-age`: the longest it may be kept; Infinity where nothing is said. */
  readonly maxAgeMs: number;
}

/** The policy of a list of fields, or undefined where it has none. */
export function cachePolicy(list: HeaderList): CachePolicy | undefined {
  const directives = list.fields.filter(({ name }) => name === "cache-control")
    .flatMap(({ value }) => value.toLowerCase().split(","))
    .map((directive) => directive.trim());
  if (directives.length === 0) return undefined;
  const ages = directives.map((directive) => /^max-age="?(\d{1,9})"?$/.exec(directive)?.[1]);
  const seconds = ages.filter((age) => age !== undefined).map(Number);
  return {
    isPrivate: directives.includes("no-store") ||
      directives.some((directive) => /^private\b/.test(directive)),
    maxAgeMs: Math.min(...seconds.map((age) => age * 1_000)), // Infinity for none
  };
}
