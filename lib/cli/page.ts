import { styleText } from "node:util";

/** The narrowest terminal that is common. */
const WIDTH = 80;

/** A term and what it means; a remark stands behind the term, less loud. */
export interface Definition {
  readonly term: string;
  readonly remark?: string;
  readonly meaning: string;
}

/** Builds a text for a terminal: every line fits, and colour is all or nothing. */
export class Page {
  #lines: string[] = [];
  readonly #colour: boolean;

  constructor(options: { colour: boolean }) {
    this.#colour = options.colour;
  }

  /** A paragraph, broken into lines that fit behind `indent` spaces. */
  paragraph(text: string, indent = 0): this {
    this.#lines.push(...wrap(text, indent));
    return this;
  }

  /** A line as it is: an example to copy. */
  verbatim(line: string): this {
    this.#lines.push(line);
    return this;
  }

  /** A heading, with the empty line before it. */
  heading(text: string): this {
    if (this.#lines.length > 0) this.#lines.push("");
    this.#lines.push(this.#styled("bold", text));
    return this;
  }

  blank(): this {
    this.#lines.push("");
    return this;
  }

  /** Terms in one column, meanings in the next. */
  table(rows: readonly Definition[]): this {
    const column = 4 + Math.max(...rows.map(({ term }) => term.length));
    for (const { term, meaning } of rows) {
      const lines = wrap(meaning, column);
      this.#lines.push(`  ${term}`.padEnd(column) + (lines[0] ?? "").slice(column));
      this.#lines.push(...lines.slice(1));
    }
    return this;
  }

  /** Each term on a line of its own, its meaning under it: for terms that are long. */
  glossary(rows: readonly Definition[]): this {
    for (const { term, remark, meaning } of rows) {
      const small = remark ? `  ${this.#styled("dim", remark)}` : "";
      this.#lines.push(`  ${this.#styled("cyan", term)}${small}`, ...wrap(meaning, 6));
    }
    return this;
  }

  toString(): string {
    return this.#lines.join("\n");
  }

  #styled(style: "bold" | "dim" | "cyan", text: string): string {
    // Whether to colour was decided where the terminal is known; node would ask it again.
    return this.#colour ? styleText(style, text, { validateStream: false }) : text;
  }
}

/** Lines of at most WIDTH characters that break at spaces; a longer word stands alone. */
function wrap(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((content) => " ".repeat(indent) + content);
}
