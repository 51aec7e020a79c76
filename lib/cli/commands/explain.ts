import {
  flagOf,
  HEADER,
  HTTP_URL,
  METHOD,
  nearest,
  OPTIONS,
  readSettings,
} from "../../config/mod.ts";
import type { Command } from "../command.ts";
import { refuse } from "../define_command.ts";
import { BAD_USAGE, FAILED, GOOD } from "../exit_codes.ts";
import { explanationText } from "../explanation_text.ts";
import type { Explanation } from "../../sidecar/mod.ts";
import type { World } from "../world.ts";

/** Longest that a running sidecar is waited for. */
const TIMEOUT_MS = 5_000;

/** Stands in where no backend is named: nothing is connected to. */
const NO_BACKEND = "127.0.0.1:50051";

/** What was asked, and the flags of serve that were given beside it. */
interface Asked {
  readonly path: string;
  readonly names: readonly string[];
  readonly url: string | undefined;
  readonly isJson: boolean;
  readonly args: readonly string[];
}

export const EXPLAIN: Command = {
  name: "explain",
  summary: "how one method is judged, and which setting comes from where",
  usage: "pkg.Service/Method [-H name:value ...] [--flag VALUE ...]",
  about: "Says of one method whether its calls may share an answer and why, each setting that " +
    "holds for it with the entry of the policy file or the variable that it is from, the entries " +
    "that name it and lost to a closer one, and what its key holds. It reads the configuration as " +
    "serve does, takes the same flags, and opens no socket; with --url it asks a sidecar that " +
    "runs, which knows the backend's descriptors and what verify found.",
  examples: [
    "collapser explain shop.Items/GetItem --config policy.json",
    "collapser explain shop.Items/GetItem -H x-tenant:acme -H x-request-id:4711",
    "collapser explain shop.Items/GetItem --url http://127.0.0.1:2112",
  ],
  describeOptions(page) {
    page.heading("Flags").table([
      {
        term: "-H NAME:VALUE",
        meaning: "request metadata: whether it is in the key; may be repeated",
      },
      { term: "--config FILE", meaning: "the policy file (COLLAPSER_CONFIG)" },
      {
        term: "--url URL",
        meaning: "ask a running sidecar's admin listener; names of metadata are sent, no values",
      },
      { term: "--json", meaning: "print the explanation as JSON" },
    ]).blank().paragraph("All flags of serve hold too: see collapser serve --help.", 2);
    page.heading("What it prints").paragraph(
      "A setting from methodConfig[2] (line 61) is from the third entry of the policy file. The " +
        "closest entry with a collapser object holds whole: what a broader one says beside is " +
        "lost, and listed so. A value is otherwise its variable's, from the environment, a flag, " +
        "or the default.",
      2,
    );
  },
  async run(args, world) {
    const asked = readArguments(args);
    if ("problems" in asked) {
      refuse(asked.problems, world, "explain");
      return BAD_USAGE;
    }
    const found = await (asked.url === undefined ? offline(asked, world) : running(asked, world));
    if (typeof found === "number") return found;
    const options = { colour: world.colour, isRunning: asked.url !== undefined };
    world.print(
      asked.isJson ? JSON.stringify(found, undefined, 2) : explanationText(found, options),
    );
    return GOOD;
  },
};

async function offline({ path, names, args }: Asked, world: World): Promise<Explanation | number> {
  const { get } = world.environment;
  const withBackend = (name: string) =>
    get(name) ?? (name === "BACKEND_ADDRESS" ? NO_BACKEND : undefined);
  const reading = readSettings(withBackend, args);
  const told = "problems" in reading ? reading : await world.runners.explain(path, names, reading);
  if ("explanation" in told) return told.explanation;
  refuse(told.problems, world, "explain");
  return BAD_USAGE;
}

async function running(
  { path, names, url, args }: Asked,
  world: World,
): Promise<Explanation | number> {
  if (args.length > 0) {
    refuse([`Cannot use ${args[0]} beside --url: a running sidecar has its own`], world, "explain");
    return BAD_USAGE;
  }
  const at = new URL("/api/explain", url);
  at.searchParams.set("method", path);
  for (const name of names) at.searchParams.append("header", name);
  const answer = await world.runners.readAdmin(at.href, { timeoutMs: TIMEOUT_MS });
  if ("value" in answer) return answer.value as Explanation;
  world.complain(`Cannot get an explanation from ${at.href}: ${answer.why}`);
  return FAILED;
}

/** Tells the method and the command's own flags from those that serve takes. */
function readArguments(args: readonly string[]): Asked | { problems: readonly string[] } {
  const problems: string[] = [];
  const methods: string[] = [];
  const names: string[] = [];
  const rest: string[] = [];
  let url: string | undefined;
  let isJson = false;
  const waiting = [...args];
  for (let arg = waiting.shift(); arg !== undefined; arg = waiting.shift()) {
    const short = /^-H(.+)$/s.exec(arg);
    const [, flag = arg, inline] = short
      ? ["", "-H", short[1]]
      : /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    if (flag === "--json") isJson = true;
    else if (!arg.startsWith("-")) methods.push(arg);
    else if (["-H", "--header", "--url", "--config"].includes(flag)) {
      const value = inline ?? waiting.shift();
      if (value === undefined) problems.push(`Cannot read ${flag}: expected a value`);
      else if (flag === "--config") rest.push("--collapser-config", value);
      else {
        const parsed = flag === "--url" ? HTTP_URL.parse(value) : HEADER.parse(value);
        if ("why" in parsed) problems.push(`Cannot parse ${flag} "${value}": ${parsed.why}`);
        else if (flag === "--url") url = value;
        else names.push((parsed.value as readonly [string, string])[0]);
      }
    } else {
      const option = OPTIONS.find(({ env }) => flagOf(env) === flag);
      const takes = inline === undefined && option?.kind.bare !== true;
      const value = takes && !waiting[0]?.startsWith("-") ? waiting.splice(0, 1) : [];
      if (option !== undefined) rest.push(arg, ...value);
      else problems.push(`Cannot read ${flag}: no such flag; the nearest is ${nearestFlag(flag)}`);
    }
  }
  const [written = ""] = methods;
  const parsed = METHOD.parse(written.startsWith("/") ? written : `/${written}`);
  if (methods.length !== 1 || "why" in parsed) {
    const what = methods.length === 1 ? `Cannot explain "${written}"` : "Cannot explain";
    problems.unshift(`${what}: expected one method such as pkg.Service/Method`);
  }
  if (problems.length > 0 || "why" in parsed) return { problems };
  return { path: parsed.value, names, url, isJson, args: rest };
}

function nearestFlag(written: string): string {
  const own = ["--header", "--config", "--url", "--json", "--help"];
  return nearest(written, [...own, ...OPTIONS.map(({ env }) => flagOf(env))]).word;
}
