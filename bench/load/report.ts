import type { Sample } from "./measure.ts";
import type { Figure, Row } from "./rows.ts";
import { median, medianOfRounds } from "./stats.ts";

/** Columns of the table's cells. */
const FIGURE_COLUMNS = 30;
const NUMBER_COLUMNS = 12;

/** What was measured of one row. `direct` is as long as `through`, round by round, or empty. */
export interface RowResult {
  readonly row: Row;
  readonly through: readonly Sample[];
  readonly direct: readonly Sample[];
}

/** One line of the table in numbers; NaN where there is none. */
export interface FigureResult {
  readonly name: string;
  readonly collapser: number;
  readonly direct: number;
  /** How the two compare: divided, or one taken from the other. */
  readonly against: "ratio" | "added" | undefined;
  readonly compared: number;
}

/** The figures of a row: medians over the rounds, and the median of the comparisons within each. */
export function figuresOf({ row, through, direct }: RowResult): FigureResult[] {
  const rounds = direct.map((sample, i) => ({ through: through[i]!, direct: sample }));
  return row.figures.map((figure) => ({
    name: figure.name,
    collapser: median(through.map((sample) => valueOf(figure, sample))),
    direct: figure.sidecarOnly ? NaN : median(direct.map((sample) => valueOf(figure, sample))),
    against: figure.against,
    compared: medianOfRounds(rounds, (one, other) => compare(figure, one, other)),
  }));
}

/** The table, with what each row asks above its figures. At most 80 columns. */
export function tableOf(results: readonly RowResult[]): string {
  const head = line("", ["collapser", "direct", "compared"]);
  const lines = [head];
  for (const result of results) {
    lines.push(`${result.row.name}: ${result.row.about}`);
    for (const { name, collapser, direct, against, compared } of figuresOf(result)) {
      const comparison = Number.isNaN(compared)
        ? ""
        : against === "ratio"
        ? `${showNumber(compared)}x`
        : `${compared < 0 ? "" : "+"}${showNumber(compared)}`;
      lines.push(line(name, [showNumber(collapser), showNumber(direct), comparison]));
    }
  }
  return lines.join("\n");
}

function valueOf(figure: Figure, sample: Sample): number {
  return figure.of(sample) ?? NaN;
}

function compare(figure: Figure, through: Sample, direct: Sample): number {
  const [one, other] = [valueOf(figure, through), valueOf(figure, direct)];
  if (figure.against === "ratio") return one / other;
  return figure.against === "added" ? one - other : NaN;
}

function line(name: string, numbers: readonly string[]): string {
  return `    ${name}`.padEnd(FIGURE_COLUMNS) +
    numbers.map((number) => number.padStart(NUMBER_COLUMNS)).join("").trimEnd();
}

/** Three digits that mean something, thousands apart; "-" for none. */
function showNumber(value: number): string {
  if (Number.isNaN(value)) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 100) {
    return Math.round(value).toLocaleString("en-US");
  }
  return value.toPrecision(3);
}
