import {
  count,
  DURATION,
  HOST_PORT,
  type HostPort,
  METADATA,
  METHOD,
  optional,
  type Parsed,
  POSITIVE_DURATION,
} from "../../config/mod.ts";
import { defineCommand, refuse } from "../define_command.ts";
import { BAD_USAGE } from "../exit_codes.ts";
import { repeated, single } from "../flag_table.ts";
import type { TaxRequest } from "../runners.ts";
import {
  ARRIVALS,
  DATA,
  FILE,
  type Named,
  NAMED_ADDRESS,
  NAMED_PID,
  NAMED_URL,
  PRICE,
  RATES,
} from "../tax_kinds.ts";
import { unlessStopped } from "../unless_stopped.ts";
import { TAX_CHAPTERS } from "./tax_chapters.ts";

/** What the backend itself is called. */
const DIRECT = "direct";

/** The backend itself, and what the report calls the relay. */
const TAKEN = [DIRECT, "relay"];

/** The only method whose messages are written as JSON. */
const GREETINGS = "/hello.v1.Hello/";

type Target = TaxRequest["proxies"][number];

export const TAX = defineCommand({
  name: "tax",
  summary: "what a proxy costs: latency, CPU, money, and what to do",
  about: "Measures calls straight to a backend and the same calls through one proxy or several, " +
    "taking turns, and prints the three bills: the time a call waits longer, the processor and " +
    "the bytes in money, and what one slow backend does to the callers of the others. Then it " +
    "says what to do with the proxy: keep, shrink, or go direct. Any proxy that speaks gRPC " +
    "without TLS will do. With no address it measures a sidecar of its own, all in one process.",
  examples: [
    "collapser tax",
    "collapser tax --direct 127.0.0.1:50051 --proxied 127.0.0.1:50052 \\",
    "    --pid direct=101 --pid 102 --metrics http://127.0.0.1:2112/metrics",
    "collapser tax --direct 10.0.0.5:50051 --proxied envoy=10.0.0.6:8080 \\",
    "    --proxied nginx=10.0.0.6:8081 --method /shop.Items/GetItem \\",
    "    --data 'hex:0a0b{nnnnnnnnn}' --rates 500,2000,5000 --html tax.html",
  ],
  flags: {
    direct: single(optional(HOST_PORT), { help: "the backend itself" }),
    proxied: repeated(NAMED_ADDRESS, {
      help: "a proxy in front of it; again for each more (the name is proxy when left out)",
    }),
    method: single(METHOD, {
      fallback: "/hello.v1.Hello/GetGreeting",
      help: "the method called: unary",
    }),
    data: single(optional(DATA), {
      help: "the request message: hex:DIGITS, base64:TEXT, @FILE, or JSON for the Hello method; " +
        "{nnnnnnnnn} in it is a number of so many digits, another one in each call (a first " +
        "field of text)",
    }),
    metadata: repeated(METADATA, { help: "sent with each call; may be given again" }),
    rates: single(RATES, { fallback: "200,1000", help: "calls begun in a second, each measured" }),
    rounds: single(count({ min: 1 }), { fallback: "5", help: "how often everything is measured" }),
    each: single(POSITIVE_DURATION, { fallback: "1s", help: "how long one measurement takes" }),
    arrivals: single(ARRIVALS, {
      fallback: "poisson",
      help: "how calls follow each other: poisson, as independent callers do, or even",
    }),
    seed: single(count({ min: 0 }), { fallback: "1", help: "of the arrivals" }),
    callers: single(count({ min: 1 }), { fallback: "64", help: "calls under way at saturation" }),
    connections: single(count({ min: 1 }), {
      fallback: "4",
      help: "connections to each, over which the calls are spread",
    }),
    keys: single(count({ min: 0 }), {
      fallback: "10",
      help: "different questions in the measurement of repeats; 0 leaves it out",
    }),
    pid: repeated(NAMED_PID, {
      help: "process of a proxy, or with direct= of the backend, for CPU and memory: on this " +
        "machine, and run from source, for reading /proc needs all permissions",
    }),
    metrics: repeated(NAMED_URL, {
      help: "a proxy's Prometheus metrics, for CPU and memory where there is no pid, and for how " +
        "many calls a collapser has saved so far",
    }),
    pricePerVcpuHour: single(PRICE, {
      fallback: "0.04",
      help: "what a CPU costs you for an hour, in your currency",
    }),
    crossAzGb: single(PRICE, {
      fallback: "0.01",
      help: "what a GB costs you that goes from one zone to another",
    }),
    blast: single(DURATION, {
      fallback: "3s",
      help:
        "how long one backend of three stands still for the third bill, in this process, before " +
        "direct callers, a collapser and a shared pool; 0 leaves it out",
    }),
    json: single(optional(FILE), { help: "write every figure there; - prints it instead" }),
    html: single(optional(FILE), { help: "write a page with charts there; - prints it instead" }),
  },
  chapters: TAX_CHAPTERS,
  async run(values, world) {
    const {
      direct,
      proxied,
      pid,
      metrics,
      each,
      blast,
      pricePerVcpuHour,
      crossAzGb,
      json,
      html,
      ...rest
    } = values;
    const targets = targetsOf({ direct, proxied, pid, metrics });
    const why = "why" in targets ? targets.why : badData(rest);
    if (why !== undefined || "why" in targets) {
      refuse([why ?? ""], world, "tax");
      return BAD_USAGE;
    }
    const work = world.runners.tax({
      ...rest,
      ...targets.value,
      segmentMs: each,
      blastMs: blast,
      prices: { perVcpuHour: pricePerVcpuHour, perCrossZoneGb: crossAzGb },
      jsonFile: json,
      htmlFile: html,
    });
    return await unlessStopped(world.signals, work);
  },
});

/** The subjects to measure, each with the process and the metrics that were said to be its own. */
function targetsOf({ direct, proxied, pid, metrics }: {
  direct: HostPort | undefined;
  proxied: readonly Named<HostPort>[];
  pid: readonly Named<number>[];
  metrics: readonly Named<string>[];
}): Parsed<Pick<TaxRequest, "direct" | "proxies">> {
  if ((direct === undefined) !== (proxied.length === 0)) {
    return { why: "Cannot compare without both --direct and --proxied; give both or neither" };
  }
  const names = proxied.map(({ name }, i) => name ?? (i === 0 ? "proxy" : `proxy-${i + 1}`));
  const twice = names.find((name, i) => names.indexOf(name) !== i || TAKEN.includes(name));
  if (twice !== undefined) {
    return {
      why: `Cannot call a proxy "${twice}": each needs a name of its own, as in envoy=HOST:PORT`,
    };
  }
  const about = [["--pid", pid], ["--metrics", metrics]] as const;
  for (const [flag, given] of about) {
    for (const { name = names[0] } of given) {
      if (name === undefined || ![DIRECT, ...names].includes(name)) {
        return {
          why: `Cannot tell whose ${flag} "${name ?? ""}" is: expected one of ${
            [DIRECT, ...names].join(", ")
          }`,
        };
      }
    }
  }
  const target = (name: string, address: HostPort): Target => ({
    name,
    address,
    pid: pid.find((one) => (one.name ?? names[0]) === name)?.value,
    metricsUrl: metrics.find((one) => (one.name ?? names[0]) === name)?.value,
  });
  return {
    value: {
      direct: direct === undefined ? undefined : target(DIRECT, direct),
      proxies: proxied.map(({ value }, i) => target(names[i]!, value)),
    },
  };
}

function badData({ data, method }: Pick<TaxRequest, "data" | "method">): string | undefined {
  if (data?.from !== "greeting" || method.startsWith(GREETINGS)) return undefined;
  return `Cannot write JSON as a message of "${method}": expected hex:, base64: or @FILE, for only ` +
    `the fields of ${GREETINGS}GetGreeting are known`;
}
