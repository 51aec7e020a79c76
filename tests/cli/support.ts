import { run } from "../../lib/cli/run.ts";
import type { Runners } from "../../lib/cli/runners.ts";
import type { StopSignal } from "../../lib/cli/signals.ts";

/** What one run of the command line did. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The runner that was called, with its arguments; undefined when none was. */
  readonly ran: readonly unknown[] | undefined;
}

/** What surrounds the run; everything is absent unless given. */
export interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>;
  /** Stand in for the fakes, which only note that they were called and return 0. */
  readonly runners?: Partial<Runners>;
  readonly colour?: boolean;
  /** Told how to send a signal, once somebody listens. */
  readonly onSubscribed?: (send: () => void) => void;
}

/** Runs `collapser ARGS` in a world of its own. */
export async function collapser(args: string, around: Surroundings = {}): Promise<Outcome> {
  const out: string[] = [];
  const err: string[] = [];
  let ran: readonly unknown[] | undefined;
  const note = (name: string) => (...given: unknown[]) => {
    ran = [name, ...given];
    return Promise.resolve(0);
  };
  const variables = around.variables ?? {};
  const code = await run(args.split(" ").filter(Boolean), {
    environment: { get: (name) => variables[name], names: Object.keys(variables) },
    runners: {
      sidecar: note("sidecar"),
      explain: () => Promise.resolve({ problems: ["nothing is explained here"] }),
      backend: note("backend"),
      fileProblems: () => Promise.resolve([]),
      fileWarnings: () => Promise.resolve([]),
      demo: note("demo"),
      load: note("load"),
      tax: note("tax"),
      stall: note("stall"),
      inject: note("inject"),
      drain: async (...given) => {
        await note("drain")(...given);
        return { drained: true, detail: "drained" };
      },
      readAdmin: async (...given) => {
        await note("readAdmin")(...given);
        return { value: {} };
      },
      probe: async (...given) => {
        await note("probe")(...given);
        return { healthy: true, detail: "serving" };
      },
      ...around.runners,
    },
    signals: {
      onSignal(fn: (signal: StopSignal) => void) {
        around.onSubscribed?.(() => fn("SIGINT"));
        return () => {};
      },
      onHangUp: () => () => {},
    },
    colour: around.colour ?? false,
    print: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join("\n"), err: err.join("\n"), ran };
}
