/**
 * Import cycles among files: what a lint rule, which sees one file at a time, cannot find. Type imports count: a file
 * that can only be understood together with another is no file of its own, whatever is left of the import at run time.
 *
 * @module
 */

/** Files, each with the files it imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** `import` and `export … from` declarations, `import()` calls and types, with a relative specifier. */
const RELATIVE_IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g;

/** Comments name imports without making them. */
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The files that the source of `path` imports by relative specifiers. */
export function importsOf(path: string, source: string): string[] {
  const found = source.replaceAll(COMMENTS, "").matchAll(RELATIVE_IMPORT);
  return [...found].map(([, specifier]) => resolve(path, specifier!));
}

/** The groups of files that reach each other (strongly connected components), sorted; a file that imports itself too. */
export function importCycles(graph: ImportGraph): string[][] {
  const reach = new Map([...graph.keys()].map((file) => [file, reachedFrom(file, graph)]));
  const groups = new Map<string, string[]>();
  for (const [file, reached] of reach) {
    if (!reached.has(file)) continue;
    const group = [...reached].filter((other) => reach.get(other)?.has(file)).sort();
    groups.set(group[0]!, group);
  }
  return [...groups.values()].sort();
}

function reachedFrom(start: string, graph: ImportGraph): Set<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const next of graph.get(file) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}

function resolve(path: string, specifier: string): string {
  return new URL(specifier, `file:///${path}`).pathname.slice(1);
}
