import { allocatedBytes } from "./allocated.ts";
import { quickestNs } from "./quickest.ts";

/** What became of the calls of one benchmark, counted by what the code under test returned. */
export class Outcomes {
  calls = 0;
  hits = 0;
  joins = 0;
  leads = 0;
}

export interface Entry {
  readonly name: string;
  readonly outcomes: Outcomes;
  /** The one outcome that every call must have had; undefined where there is nothing to have one. */
  readonly path: "hits" | "joins" | "leads" | undefined;
  /** The benchmark's function: its bytes are measured once it is done. */
  readonly call: () => void;
  /** Most bytes that a call may allocate. */
  readonly maxBytes: number;
  /** What else must be true in the end, by name. */
  readonly facts: () => Readonly<Record<string, boolean>>;
}

/** Room for hundreds of millions with their commas. */
const CELL_WIDTH = 13;

const COLUMNS = ["calls", "hits", "joins", "leads"] as const;

/**
 * Keeps a benchmark from measuring another path than its name says. Once the file's benchmarks are done it compares
 * what happened with what should have, prints both with the bytes a call allocates, and fails the run where they
 * differ. It prints to standard error, which leaves `--json` alone.
 */
export class Ledger {
  #entries: Entry[] = [];

  constructor() {
    addEventListener("unload", () => this.#close());
  }

  /** Enters a benchmark, which then runs as `Deno.bench` does. */
  bench(entry: Entry, options: { group: string; baseline?: boolean }): void {
    this.#entries.push(entry);
    Deno.bench({ ...options, name: entry.name, fn: entry.call });
  }

  #close(): void {
    const ran = this.#entries.filter(({ outcomes }) => outcomes.calls > 0); // the others were filtered out
    const width = Math.max(...this.#entries.map(({ name }) => name.length));
    const lines = [row("".padEnd(width), [...COLUMNS, "ns at best", "bytes a call"])];
    const faults: string[] = [];
    for (const entry of ran) {
      const ns = quickestNs(entry.call);
      const bytes = allocatedBytes(entry.call);
      const counts = COLUMNS.map((column) => entry.outcomes[column].toLocaleString("en"));
      lines.push(row(entry.name.padEnd(width), [...counts, ns.toFixed(1), bytes.toFixed(1)]));
      faults.push(...faultsOf(entry, bytes).map((fault) => `${entry.name}: ${fault}`));
    }
    console.error(lines.join("\n"));
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }
}

function row(name: string, cells: readonly string[]): string {
  return [name, ...cells.map((cell) => cell.padStart(CELL_WIDTH))].join("  ");
}

function faultsOf({ outcomes, path, maxBytes, facts }: Entry, bytes: number): string[] {
  const faults: string[] = [];
  for (const outcome of ["hits", "joins", "leads"] as const) {
    const expected = outcome === path ? outcomes.calls : 0;
    if (outcomes[outcome] !== expected) {
      faults.push(`${outcomes[outcome]} ${outcome}, not ${expected}`);
    }
  }
  if (bytes > maxBytes) faults.push(`${bytes.toFixed(1)} bytes a call, more than ${maxBytes}`);
  for (const [fact, holds] of Object.entries(facts())) if (!holds) faults.push(`not ${fact}`);
  return faults;
}
