import {
  type Environment,
  HTTP_URL,
  LISTEN_HOST,
  optional,
  optionFor,
  type Parsed,
  PORT,
  POSITIVE_DURATION,
} from "../../config/mod.ts";
import { defineCommand, refuse } from "../define_command.ts";
import { BAD_USAGE, FAILED, GOOD } from "../exit_codes.ts";
import { single } from "../flag_table.ts";

/** What the end takes beyond its own times: callers that do not answer, and what is said in between. */
const MARGIN_MS = 5_000;

/** Addresses that mean every one of this machine's: the loopback one among them. */
const ALL_ADDRESSES = ["::", "[::]", "0.0.0.0", ""];

export const DRAIN = defineCommand({
  name: "drain",
  summary: "tell the sidecar in this pod to drain, wait until it has",
  about:
    "For a preStop hook. The sidecar is not ready any more, goes on serving for DRAIN_DELAY, tells " +
    "its callers to go, and lets calls in flight finish within DRAIN_TIMEOUT; then this exits " +
    "with 0. Finds the sidecar by the variables that it runs with too (ADMIN_HOST, ADMIN_PORT). " +
    "Needs no token where only this machine reaches its page (ADMIN_HOST=127.0.0.1); elsewhere " +
    "ADMIN_TOKEN.",
  examples: ["collapser drain", "collapser drain --url http://127.0.0.1:2113 --timeout 30s"],
  flags: {
    url: single(optional(HTTP_URL), { help: "its page (http://ADMIN_HOST:ADMIN_PORT)" }),
    timeout: single(optional(POSITIVE_DURATION), {
      help: "longest to wait (DRAIN_DELAY and DRAIN_TIMEOUT and 5s)",
    }),
  },
  async run({ url, timeout }, world) {
    const found = url === undefined ? ownUrl(world.environment) : { value: url };
    const limit = timeout === undefined ? ownLimit(world.environment) : { value: timeout };
    const problems = [found, limit].flatMap((one) => "why" in one ? [one.why] : []);
    if ("why" in found || "why" in limit) {
      refuse(problems, world, "drain");
      return BAD_USAGE;
    }
    const { get } = world.environment;
    const { drained, detail } = await world.runners.drain(
      {
        url: found.value,
        token: get("ADMIN_TOKEN")?.trim() || undefined,
        tokenPath: get("ADMIN_TOKEN_FILE")?.trim() || undefined,
      },
      { timeoutMs: limit.value },
    );
    if (drained) world.print(`${found.value}: ${detail}`);
    else world.complain(`Cannot drain the sidecar at ${found.value}: ${detail}`);
    return drained ? GOOD : FAILED;
  },
});

/** The page of a sidecar that runs with the same environment. */
function ownUrl(environment: Environment): Parsed<string> {
  const host = LISTEN_HOST.parse(textOf(environment, "ADMIN_HOST"));
  const port = PORT.parse(textOf(environment, "ADMIN_PORT"));
  if ("why" in host) return { why: `Cannot parse ADMIN_HOST: ${host.why}` };
  if ("why" in port || port.value === 0) {
    return {
      why: "Cannot find the sidecar by ADMIN_PORT: expected a port from 1 to 65535, or --url",
    };
  }
  const name = ALL_ADDRESSES.includes(host.value) ? "127.0.0.1" : host.value;
  const written = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name;
  return { value: `http://${written}:${port.value}` };
}

function ownLimit(environment: Environment): Parsed<number> {
  let totalMs = MARGIN_MS;
  for (const name of ["DRAIN_DELAY", "DRAIN_TIMEOUT"]) {
    const parsed = optionFor(name).kind.parse(textOf(environment, name));
    if ("why" in parsed) return { why: `Cannot parse ${name}: ${parsed.why}` };
    totalMs += Number(parsed.value);
  }
  return { value: totalMs };
}

/** What the sidecar reads for a variable. */
function textOf({ get }: Environment, name: string): string {
  const { sameAs, fallback } = optionFor(name);
  const own = get(name)?.trim();
  if (own) return own;
  return sameAs === undefined ? fallback : get(sameAs)?.trim() || optionFor(sameAs).fallback;
}
