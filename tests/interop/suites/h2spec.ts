/**
 * h2spec in full against the gRPC port: as published, with requests that are not gRPC and are refused, and with requests
 * that are, which go to a backend and come back. The second is what most of its cases need to mean something here.
 *
 * @module
 */

import { build, buildGo, INTEROP, kept } from "./build.ts";
import { Program, run } from "./command.ts";
import type { Bench } from "./desk.ts";
import { EXCEPTIONS, IDS, type Variant } from "./h2spec_cases.ts";
import { closedAsExpected, parseReport, type Verdict } from "./h2spec_report.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import type { RunMode, Suite } from "./suite.ts";

const PACKAGE = "github.com/summerwind/h2spec";

/** Any method will do: the backend answers whatever it is asked. */
const PATH = "/any.v1.Any/Call";

/** How long h2spec waits for a frame, in s. Its own 2 is little for a busy machine. */
const FRAME_LIMIT_S = 5;

/** It takes seconds where frames come; where they do not, there is no use in waiting for each of them. */
const RUN_LIMIT_MS = 120_000;

/** Where h2spec's source lists the fields of its requests, and what makes a gRPC call of them: it has no option for it. */
const SOURCE_OF_FIELDS = "spec/util.go";
const EDITS: readonly (readonly [before: string, after: string])[] = [
  ['":method", "GET"', '":method", "POST"'],
  [
    'HeaderField(":authority", authority),', // the last of those that must come first
    'HeaderField(":authority", authority),\n{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},',
  ],
];

/** The h2spec suite. */
export const H2SPEC: Suite = {
  name: "h2spec",
  // A request that is not gRPC is refused before any method is looked at: no mode changes that.
  cases: (mode) => [
    ...IDS.map((id) => `grpc/${id}`),
    ...(mode === "default" ? IDS.map((id) => `plain/${id}`) : []),
    UNHARMED,
  ],
  async prepare(): Promise<RunMode> {
    const bin = await buildGo([`${PACKAGE}/cmd/h2spec`, "./any_server"]);
    const programs = { plain: bin("h2spec"), grpc: await buildForGrpc() };
    return async (bench) => {
      await using backend = new Program([bin("any_server")]);
      const [, port] = await backend.says(/listening on .*:(\d+)/);
      await using sidecar = await openSidecar(bench, `127.0.0.1:${port}`);
      for (const variant of ["grpc", "plain"] as const) {
        if (!bench.cases.some((name) => name.startsWith(`${variant}/`))) continue;
        const verdicts = await runH2spec(programs[variant], sidecar.grpcPort);
        for (const verdict of verdicts) await judge(bench, variant, verdict);
      }
      await bench.check(UNHARMED, () => assertUnharmed(sidecar));
    };
  },
};

/** h2spec with gRPC requests: the module's source with {@linkcode EDITS}, as a module of its own. */
async function buildForGrpc(): Promise<string> {
  const lists = ["go.mod", "go.sum"].map((name) => new URL(name, INTEROP));
  const folder = await kept("h2spec", {
    from: [...lists, JSON.stringify(EDITS)],
    async fill(folder) {
      const source = (await build(["go", "list", "-m", "-f", "{{.Dir}}", PACKAGE], INTEROP)).trim();
      await copyTree(source, folder);
      await edit(`${folder}/${SOURCE_OF_FIELDS}`);
      for (const list of lists) {
        await Deno.copyFile(list, `${folder}/${list.pathname.split("/").pop()}`);
      }
      await build(["go", "mod", "edit", "-module", PACKAGE, "-droprequire", PACKAGE], folder);
      await build(["go", "build", "-o", "h2spec_for_grpc", "./cmd/h2spec"], folder);
    },
  });
  return `${folder}/h2spec_for_grpc`;
}

async function edit(path: string): Promise<void> {
  let text = await Deno.readTextFile(path);
  for (const [before, after] of EDITS) {
    const parts = text.split(before);
    if (parts.length < 2) throw new Error(`Cannot edit ${path}: expected ${before}`);
    text = parts.join(after);
  }
  await Deno.writeTextFile(path, text);
}

/** Module caches are read-only; a copy is not. */
async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(`${from}/${name}`, `${to}/${name}`);
    else await Deno.writeFile(`${to}/${name}`, await Deno.readFile(`${from}/${name}`));
  }
}

async function runH2spec(program: string, port: number): Promise<Verdict[]> {
  const report = await Deno.makeTempFile({ prefix: "collapser-h2spec-", suffix: ".xml" });
  try {
    const target = ["--host", "127.0.0.1", "--port", String(port), "--path", PATH];
    const how = ["--strict", "--timeout", String(FRAME_LIMIT_S), "--junit-report", report];
    const { output } = await run([program, ...target, ...how], { limitMs: RUN_LIMIT_MS });
    const verdicts = parseReport(await Deno.readTextFile(report));
    if (verdicts.length === 0) throw new Error(`h2spec left no report: ${output}`);
    return verdicts;
  } finally {
    await Deno.remove(report);
  }
}

async function judge(bench: Bench, variant: Variant, verdict: Verdict): Promise<void> {
  const name = `${variant}/${verdict.id}`;
  if (verdict.result === "skipped") return bench.skip(name, `h2spec skips it: ${verdict.title}`);
  const failed = verdict.result === "failed" && !closedAsExpected(verdict);
  const reason = EXCEPTIONS[variant][verdict.id];
  if (failed && reason !== undefined) return bench.skip(name, reason);
  await bench.check(name, () => {
    if (!failed) return;
    const expected = verdict.expected.join(" or ");
    throw new Error(`${verdict.title}: expected ${expected}, got ${verdict.actual}`);
  });
}
