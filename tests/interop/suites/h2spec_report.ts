/** What h2spec says came of one of its cases. */
export interface Verdict {
  /** Its section and its number within, such as `http2/5.1/1`. */
  readonly id: string;
  readonly title: string;
  readonly result: "passed" | "skipped" | "failed";
  /** What it expected, an alternative a line; empty unless it failed. */
  readonly expected: readonly string[];
  /** What it got instead. */
  readonly actual: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * Reads a JUnit report of h2spec, which is no proper XML: it holds what the server sent as it came, and the words of
 * h2spec unescaped. Its own layout is regular.
 */
export function parseReport(xml: string): Verdict[] {
  const verdicts: Verdict[] = [];
  for (
    const [, attributes = "", body = ""] of xml.matchAll(/<testsuite\s([^>]*)>(.*?)<\/testsuite>/gs)
  ) {
    const section = attribute(attributes, "package");
    let number = 0;
    for (const [, of = "", inner = ""] of body.matchAll(/<testcase\s([^>]*)>(.*?)<\/testcase>/gs)) {
      verdicts.push(verdictOf(`${section}/${++number}`, attribute(of, "classname"), inner));
    }
  }
  return verdicts;
}

/**
 * h2spec takes a connection that is reset for one that is closed, but does not know it any more: Go has wrapped the
 * error since it was written.
 */
export function closedAsExpected({ expected, actual }: Verdict): boolean {
  return expected.includes("Connection closed") && actual.includes("connection reset by peer");
}

function verdictOf(id: string, title: string, inner: string): Verdict {
  const text = /<(?:failure|error)>(.*?)<\/(?:failure|error)>/s.exec(inner)?.[1];
  if (text === undefined) {
    const result = inner.includes("<skipped>") ? "skipped" : "passed";
    return { id, title, result, expected: [], actual: "" };
  }
  const lines = text.trim().split("\n").map((line) => line.trim());
  const actual = lines.pop()!;
  const expected = lines.filter((line) => line !== "Expect:" && line !== "Actual:");
  return { id, title, result: "failed", expected, actual };
}

function attribute(text: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
  return value.replaceAll(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, entity: string) => {
    if (entity.startsWith("#x")) return String.fromCodePoint(parseInt(entity.slice(2), 16));
    if (entity.startsWith("#")) return String.fromCodePoint(parseInt(entity.slice(1)));
    return ENTITIES[entity] ?? whole;
  });
}
