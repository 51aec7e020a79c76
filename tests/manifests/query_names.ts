/**
 * The metrics and labels that a PromQL query names. Not a parser: whether a query is one is Prometheus' to say. It
 * knows enough to tell a metric from a function, a keyword and a label.
 *
 * @module
 */

/** A comparison of a label, as `outcome=~"hit|joined"`. */
export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** A metric with what is asked of its labels. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface QueryNames {
  readonly selectors: readonly Selector[];
  /** Labels that `by`, `on` and the like name. */
  readonly grouping: readonly string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-zA-Z_:][\w:]*|\d[\w.]*|=~|!~|!=|[<>=]=|\S/g;
const NAME = /^[a-zA-Z_:][\w:]*$/;

/** Words that stand between operands. */
const KEYWORDS = new Set(["and", "or", "unless", "offset", "bool", "Inf", "NaN"]);

/** Words with a list of labels behind them. */
const GROUPERS = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"]);

/** What a query names; what stands in brackets is time, and left out. */
export function queryNames(query: string): QueryNames {
  const tokens: readonly string[] = query.match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (!NAME.test(token) || KEYWORDS.has(token)) continue;
    const next = tokens[at + 1];
    if (GROUPERS.has(token)) {
      if (next !== "(") continue;
      const end = tokens.indexOf(")", at);
      grouping.push(...tokens.slice(at + 2, end).filter((label) => label !== ","));
      at = end;
    } else if (next === "{") {
      const end = tokens.indexOf("}", at);
      selectors.push({ metric: token, matchers: matchersOf(tokens.slice(at + 2, end)) });
      at = end;
    } else if (next !== "(" && !GROUPERS.has(next ?? "")) {
      selectors.push({ metric: token, matchers: [] });
    }
  }
  return { selectors, grouping };
}

function matchersOf(tokens: readonly string[]): Matcher[] {
  const matchers: Matcher[] = [];
  for (let at = 0; at + 2 < tokens.length; at += 4) {
    const [label, operator, value] = tokens.slice(at, at + 3) as [string, string, string];
    matchers.push({ label, operator, value: JSON.parse(value) });
  }
  return matchers;
}
