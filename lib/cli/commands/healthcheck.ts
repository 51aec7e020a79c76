import {
  type Environment,
  HOST_PORT,
  type HostPort,
  HTTP_URL,
  optional,
  optionFor,
  type Parsed,
  PORT,
  POSITIVE_DURATION,
  SERVICE,
} from "../../config/mod.ts";
import { defineCommand, refuse } from "../define_command.ts";
import { BAD_USAGE, FAILED, GOOD } from "../exit_codes.ts";
import { single } from "../flag_table.ts";
import type { ProbeTarget } from "../runners.ts";

export const HEALTHCHECK = defineCommand({
  name: "healthcheck",
  summary: "one health probe; exit 0 or 1",
  about:
    "Asks once whether a service is healthy, over grpc.health.v1 or, with --http, over HTTP. " +
    "Exits with 0 when it is, with 1 when it is not or does not answer: a probe for images " +
    "without a shell.",
  examples: [
    "collapser healthcheck",
    "collapser healthcheck --http http://127.0.0.1:2112/ready --timeout 500ms",
  ],
  flags: {
    address: single(optional(HOST_PORT), { help: "whom to ask (127.0.0.1:GRPC_PORT)" }),
    service: single(SERVICE, {
      fallback: "collapser",
      help: "what to ask for: collapser is the sidecar itself, other names are the backend's",
    }),
    http: single(optional(HTTP_URL), { help: "ask this with GET instead; 200 is healthy" }),
    timeout: single(POSITIVE_DURATION, { fallback: "1s", help: "longest the answer may take" }),
  },
  async run({ timeout, ...asked }, world) {
    const target = targetOf(asked, world.environment);
    if ("why" in target) {
      refuse([target.why], world, "healthcheck");
      return BAD_USAGE;
    }
    const { healthy, detail } = await world.runners.probe(target.value, { timeoutMs: timeout });
    const name = target.value.over === "http"
      ? target.value.url
      : HOST_PORT.show(target.value.address);
    if (healthy) world.print(`${name}: ${detail}`);
    else world.complain(`Cannot confirm that ${name} is healthy: ${detail}`);
    return healthy ? GOOD : FAILED;
  },
});

function targetOf(
  asked: { address: HostPort | undefined; service: string; http: string | undefined },
  environment: Environment,
): Parsed<ProbeTarget> {
  const { address, service, http } = asked;
  if (http !== undefined) return { value: { over: "http", url: http } };
  const found = address === undefined ? ownAddress(environment) : { value: address };
  return "why" in found ? found : { value: { over: "grpc", address: found.value, service } };
}

/** The gRPC listener of a sidecar that runs with the same environment. */
function ownAddress({ get }: Environment): Parsed<HostPort> {
  const text = get("GRPC_PORT")?.trim() || optionFor("GRPC_PORT").fallback;
  const parsed = PORT.parse(text);
  if ("value" in parsed && parsed.value > 0) {
    return { value: { host: "127.0.0.1", port: parsed.value } };
  }
  return { why: `Cannot probe GRPC_PORT "${text}": expected a port from 1 to 65535, or --address` };
}
