/**
 * Reading plain values of which nobody has checked anything.
 *
 * @module
 */

/** What is at the end of a path; undefined where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const name of path) {
    if (typeof here !== "object" || here === null || Array.isArray(here)) return undefined;
    here = Object.hasOwn(here, name) ? (here as Record<string, unknown>)[name] : undefined;
  }
  return here;
}

/** The value as a list; an empty one where it is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The value's own fields; none where it is no object. */
export function fieldsAt(
  value: unknown,
  ...path: readonly string[]
): ReadonlyMap<string, unknown> {
  const found = at(value, ...path);
  const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
  return new Map(isObject ? Object.entries(found) : []);
}

/** The value as text; undefined where it is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}
