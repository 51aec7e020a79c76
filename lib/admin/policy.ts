import type { AdminSources } from "./sources.ts";

/**
 * The policy in force as it was written, and apart from it what is wrong with the file as it is now; null where there is
 * no policy file.
 */
export function policyOf({ policy }: Pick<AdminSources, "policy">): Record<string, unknown> | null {
  const status = policy();
  if (status === undefined) return null;
  const { path, text, hash, appliedAtMs, file } = status;
  return {
    path,
    applied: JSON.parse(text), // it was found good
    appliedAt: new Date(appliedAtMs).toISOString(),
    hash,
    file: {
      hash: file.hash ?? null,
      problems: file.problems.map(({ line, pointer, why }) => ({
        line: line === 0 ? null : line,
        pointer,
        why,
      })),
    },
  };
}
