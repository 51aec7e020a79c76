/**
 * What the hop costs and what it saves, end to end: a backend, the sidecar and a load generator as processes of their
 * own, on free ports of 127.0.0.1. `deno task bench:load`, or:
 *
 *     deno run -A bench/load/main.ts [--quick] [--only NAME[,NAME]] [--json]
 *
 * The load generator is our own client (`lib/measure`), one process for both sides, which asks the same of the sidecar
 * and of the backend directly. The backend is a small grpc-go server (`echo/`) where Go is installed, else one of our
 * own. The sides take turns within each round, in another order each time: a figure is the median over the rounds, a
 * comparison the median of the comparisons within the rounds, so that what else the machine does hits both. Each
 * sample is checked, by what the backend counted, to have taken the path that its row is about.
 *
 * Exits with 1 when a call failed or a sample took another path.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Backends, startBackends } from "./backend.ts";
import { Child } from "./child.ts";
import { faultOf, Generator, measure, type Sample, type Side } from "./measure.ts";
import { figuresOf, type RowResult, tableOf } from "./report.ts";
import { type Row, ROWS } from "./rows.ts";
import { type SidecarChild, startSidecar } from "./sidecar.ts";
import { median } from "./stats.ts";

const GENERATOR = new URL("./generator.ts", import.meta.url);

/** Rounds, and the length of one measurement: a minute and a quarter in all, or twenty seconds. */
const FULL = { rounds: 3, ms: 800 };
const QUICK = { rounds: 1, ms: 500 };

/** Past this, an open loop's latencies are the load generator's more than anybody else's. */
const LATE_MS = 1;

const BAD_USAGE = 64;

/** Everything that runs while measuring. */
interface Bench {
  readonly backends: Backends;
  readonly sidecars: Readonly<Record<Row["sidecar"], SidecarChild | undefined>>;
  readonly generator: Generator;
  readonly quick: boolean;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return BAD_USAGE;
  const children: Child[] = [];
  const folder = await Deno.makeTempDir({ prefix: "collapser-bench-" });
  const stop = async () => {
    // Last come, first gone: nobody misses whom it needs.
    for (const child of children.toReversed()) await child.stop();
    await Deno.remove(folder, { recursive: true });
  };
  Deno.addSignalListener("SIGINT", () => void stop().then(() => Deno.exit(1)));
  try {
    const bench = await start(folder, { children, quick: options.quick });
    const results = await measureAll(bench, options.rows);
    if (options.json) console.log(JSON.stringify(jsonOf(bench, results)));
    else print(bench, results);
    return reportFaults(results) ? 0 : 1;
  } finally {
    await stop();
  }
}

function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        json: { type: "boolean", default: false },
      },
    });
    const names = values.only.flatMap((text) => text.split(","));
    const unknown = names.find((name) => !ROWS.some((row) => row.name === name));
    if (unknown !== undefined) {
      throw new Error(`Cannot measure "${unknown}": expected ${ROWS.map(({ name }) => name)}`);
    }
    const rows = names.length === 0 ? ROWS : ROWS.filter(({ name }) => names.includes(name));
    return { quick: values.quick, json: values.json, rows };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

async function start(
  folder: string,
  { children, quick }: { children: Child[]; quick: boolean },
): Promise<Bench> {
  const say = (line: string) => console.error(line);
  const backends = await startBackends(folder, { children, say });
  const uncached = { COLLAPSER_CACHE_DURATION: "0" };
  const [usual, without, raw, shadow, verify] = await Promise.all([
    startSidecar(backends.main, { children }),
    startSidecar(backends.main, { children, env: uncached }),
    backends.raw === undefined ? undefined : startSidecar(backends.raw, { children }),
    startSidecar(backends.main, { children, env: { COLLAPSER_MODE: "shadow" } }),
    startSidecar(backends.main, { children, env: { COLLAPSER_MODE: "verify" } }),
  ]);
  const child = new Child(Deno.execPath(), ["run", "-A", GENERATOR.href]);
  children.push(child);
  const generator = new Generator(child);
  return {
    backends,
    sidecars: { usual, uncached: without, raw, shadow, verify },
    generator,
    quick,
  };
}

async function measureAll(bench: Bench, rows: readonly Row[]): Promise<RowResult[]> {
  const { rounds, ms } = bench.quick ? QUICK : FULL;
  const results = rows.filter(({ sidecar }) => bench.sidecars[sidecar] !== undefined)
    .map((row) => ({ row, through: [] as Sample[], direct: [] as Sample[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { row, through, direct } of results) {
      if (row.alone !== undefined) continue;
      showProgress(`round ${round + 1} of ${rounds}: ${row.name}`);
      const turns = [[through, throughSide(bench, row)], [direct, directSide(bench, row)]] as const;
      for (const [samples, side] of round % 2 === 0 ? turns : turns.toReversed()) {
        samples.push(await measure(row, { side, generator: bench.generator, ms: ms * row.length }));
      }
    }
  }
  for (const { row, through } of results) {
    if (row.alone === undefined) continue;
    showProgress(row.name);
    const alone = bench.quick ? row.alone.quickMs : row.alone.ms;
    const side = throughSide(bench, row);
    through.push(await measure(row, { side, generator: bench.generator, ms: alone }));
  }
  showProgress("");
  return results;
}

function directSide({ backends }: Bench, row: Row): Side {
  const backend = row.sidecar === "raw" ? backends.raw! : backends.main;
  return { host: backend.host, port: backend.port, child: undefined, backend };
}

function throughSide(bench: Bench, row: Row): Side {
  const { host, port, child } = bench.sidecars[row.sidecar]!;
  return { host, port, child, backend: directSide(bench, row).backend };
}

function print({ backends, quick }: Bench, results: readonly RowResult[]): void {
  const { rounds, ms } = quick ? QUICK : FULL;
  console.log(
    [
      `Deno ${Deno.version.deno}, ${navigator.hardwareConcurrency} processors; rounds: ${rounds} of ${ms} ms`,
      `backend: ${backends.main.name}; load generator: our own client, one process`,
      "",
      tableOf(results),
      ...results.filter(isLate).map(({ row }) =>
        `${row.name}: the load generator was late itself: this machine is too busy for these latencies`
      ),
    ].join("\n"),
  );
}

function isLate({ through, direct }: RowResult): boolean {
  return median([...through, ...direct].map(({ lateMs }) => lateMs)) > LATE_MS;
}

function jsonOf({ backends, quick }: Bench, results: readonly RowResult[]) {
  return {
    deno: Deno.version.deno,
    processors: navigator.hardwareConcurrency,
    backend: backends.main.name,
    loadGenerator: "lib/measure",
    ...quick ? QUICK : FULL,
    rows: results.map((result) => ({
      name: result.row.name,
      about: result.row.about,
      figures: figuresOf(result),
      samples: { collapser: result.through, direct: result.direct },
    })),
  };
}

/** Says what was wrong with samples; false when anything was. */
function reportFaults(results: readonly RowResult[]): boolean {
  const faults = results.flatMap(({ row, through, direct }) => [
    ...through.map((sample) => faultOf(row, sample)),
    ...direct.filter(({ failed }) => failed > 0).map((sample) => `direct ${faultOf(row, sample)}`),
  ]).filter((fault) => fault !== "");
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}

function showProgress(text: string): void {
  if (!Deno.stderr.isTerminal()) return;
  Deno.stderr.writeSync(new TextEncoder().encode(`\r\x1b[K${text}`));
}
