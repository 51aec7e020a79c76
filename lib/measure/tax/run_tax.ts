import { authorityOf } from "../client/mod.ts";
import { type Embedded, startEmbedded } from "../demo/mod.ts";
import { type Screen, showTime, terminalScreen } from "../report/mod.ts";
import { cautionsOf } from "./cautions.ts";
import { taxHtml } from "./html_report.ts";
import { type Bench, Measurement } from "./measurement.ts";
import {
  defaultTemplate,
  distinctMessages,
  type MessageTemplate,
  messageTemplate,
} from "./message_template.ts";
import type { TaxOptions, TaxSurroundings, TaxTarget } from "./options.ts";
import { Relay } from "./relay.ts";
import type { TaxResult, TaxSubject } from "./result.ts";
import type { Sample } from "./sample.ts";
import { type Phase, schedule, type Step } from "./schedule.ts";
import { showRate } from "./show.ts";
import { SubjectClient } from "./subject_client.ts";
import { type Measured, summarizeProxy, summarizeSystem } from "./summarize.ts";
import { taxText } from "./text_report.ts";

const GOOD = 0;
const FAILED = 1;

/** The file name that means standard output. */
const STDOUT = "-";

/** Places among those that are measured; the proxies follow. */
const DIRECT = 0;
const RELAY = 1;
const FIRST_PROXY = 2;

/** The round before the first, whose figures are thrown away. */
const WARM_UP_ROUND = -1;

/** The embedded backend answers at once: what the hop costs is not to drown in what the backend takes. */
const EMBEDDED_DELAY_MS = 0;

/** Everything that a run may use. */
interface Site {
  readonly options: TaxOptions;
  readonly surroundings: TaxSurroundings;
  readonly screen: Screen;
  readonly isEmbedded: boolean;
}

/**
 * Measures what a proxy costs, against the direct way, and prints the three bills and what to do. The exit code is 1
 * when it could not be measured or a call failed.
 */
export async function runTax(options: TaxOptions, surroundings: TaxSurroundings): Promise<number> {
  const { screen = terminalScreen() } = surroundings;
  const outputs = [options.jsonFile, options.htmlFile].filter((path) => path !== undefined);
  const refused = await firstRefused(outputs);
  if (refused !== undefined) return complain(screen, refused);
  let embedded: Embedded | undefined;
  const clients: SubjectClient[] = [];
  let relay: Relay | undefined;
  try {
    embedded = options.direct === undefined
      ? await startEmbedded(surroundings.embedded, { delayMs: EMBEDDED_DELAY_MS })
      : undefined;
    const { direct, proxies } = targetsOf(options, embedded);
    relay = new Relay(direct.address);
    for (const target of [direct, { name: "relay", address: relay.address }, ...proxies]) {
      clients.push(await SubjectClient.open(target, options));
    }
    const site: Site = { options, surroundings, screen, isEmbedded: embedded !== undefined };
    const result = await measure(clients, site);
    if (typeof result === "string") return complain(screen, result);
    await report(result, site);
    return isFlawless(result) ? GOOD : FAILED;
  } catch (error) {
    return complain(screen, error instanceof Error ? error.message : String(error));
  } finally {
    embedded?.killBackend();
    for (const { client } of clients) await client.close();
    await relay?.[Symbol.asyncDispose]();
    await embedded?.stop();
  }
}

/** The backend itself, and the proxies in front of it. */
function targetsOf(
  options: TaxOptions,
  embedded: Embedded | undefined,
): { direct: TaxTarget; proxies: readonly TaxTarget[] } {
  if (embedded === undefined) return { direct: options.direct!, proxies: options.proxies };
  return {
    direct: { name: "direct", address: embedded.direct },
    proxies: [{ name: "collapser", address: embedded.proxied }],
  };
}

/** The result, or why there is none. */
async function measure(clients: readonly SubjectClient[], site: Site): Promise<TaxResult | string> {
  const { options, surroundings, screen } = site;
  const template = options.message === undefined
    ? defaultTemplate()
    : messageTemplate(options.message);
  for (const client of clients) {
    const trouble = await client.tryOut(template.message, options);
    if (trouble !== undefined) return trouble;
  }
  const { backendCount } = surroundings;
  const direct = clients[DIRECT]!;
  const bench: Bench = { options, template, subjects: clients, direct, backendCount };
  const startedAt = new Date().toISOString();
  const samples = await takeAll(bench, screen);
  const blast = await surroundings.runBlastRadius?.() ?? null;
  const subject: TaxSubject = {
    ...pickSubject(options),
    embedded: site.isEmbedded,
    cpus: navigator.hardwareConcurrency,
    startedAt,
  };
  return { ...resultOf(clients, { subject, samples, template }), blast };
}

/** Warms everybody up, then makes every measurement in its turn. */
async function takeAll(bench: Bench, screen: Screen): Promise<readonly Sample[]> {
  const { rates, rounds, keys, segmentMs } = bench.options;
  const measurement = new Measurement(bench);
  const systems = bench.subjects.length;
  const warmUp: Phase[] = [{ kind: "saturation" }, { kind: "rate", perSecond: rates[0]! }];
  for (let system = 0; system < systems; system++) {
    screen.progress?.(`warming up ${bench.subjects[system]!.target.name}`);
    for (const phase of warmUp) await measurement.take({ round: WARM_UP_ROUND, system, phase });
  }
  const steps = schedule({ rounds, rates, systems, relay: RELAY, repeats: keys > 0 });
  const samples: Sample[] = [];
  for (const [done, step] of steps.entries()) {
    screen.progress?.(progressLine({ step, bench, leftMs: (steps.length - done) * segmentMs }));
    samples.push(await measurement.take(step));
  }
  screen.progress?.("");
  return samples;
}

function progressLine(
  { step, bench, leftMs }: { step: Step; bench: Bench; leftMs: number },
): string {
  const { phase, round, system } = step;
  const what = phase.kind === "saturation"
    ? phase.kind
    : `${phase.kind}, ${showRate(phase.perSecond)}`;
  const { name } = bench.subjects[system]!.target;
  return `round ${round + 1} of ${bench.options.rounds}: ${name}, ${what}; ${
    showTime(leftMs)
  } to go`;
}

function resultOf(
  clients: readonly SubjectClient[],
  { subject, samples, template }: {
    subject: TaxSubject;
    samples: readonly Sample[];
    template: MessageTemplate;
  },
): Omit<TaxResult, "blast"> {
  const all = clients.map((client, index): Measured => ({
    name: client.target.name,
    address: authorityOf(client.target.address),
    samples: samples.filter(({ step }) => step.system === index),
    residentBytes: client.lastUsage?.residentBytes,
    usageMissing: subject.embedded ? "all of it is one process" : client.usageMissing,
    callsMade: client.callsMade,
    savedShareSoFar: client.savedShareSoFar,
  }));
  const [direct, relay] = [all[DIRECT]!, all[RELAY]!];
  const proxies = all.slice(FIRST_PROXY).map((proxy) =>
    summarizeProxy(proxy, { subject, direct, relay })
  );
  const [directFigures, relayFigures] = [direct, relay].map((one) => summarizeSystem(one, subject));
  const systems = [directFigures!, relayFigures!, ...proxies];
  return {
    subject,
    direct: directFigures!,
    relay: relayFigures!,
    proxies,
    cautions: cautionsOf({ subject, systems, distinctMessages: distinctMessages(template) }),
  };
}

function pickSubject(options: TaxOptions) {
  const { method, rounds, segmentMs, rates, arrivals, seed, callers, connections, keys, prices } =
    options;
  return { method, rounds, segmentMs, rates, arrivals, seed, callers, connections, keys, prices };
}

async function report(result: TaxResult, { options, screen }: Site): Promise<void> {
  const { jsonFile, htmlFile } = options;
  const json = () => `${JSON.stringify(result, null, 2)}\n`;
  if (jsonFile === STDOUT || htmlFile === STDOUT) {
    screen.print((jsonFile === STDOUT ? json() : taxHtml(result)).trimEnd());
  } else screen.print(taxText(result));
  if (jsonFile !== undefined && jsonFile !== STDOUT) await Deno.writeTextFile(jsonFile, json());
  if (htmlFile !== undefined && htmlFile !== STDOUT) {
    await Deno.writeTextFile(htmlFile, taxHtml(result));
  }
}

/** The reason why one of the files cannot be written: better known before the measuring than after it. */
async function firstRefused(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (path === STDOUT) continue;
    try {
      (await Deno.open(path, { write: true, create: true })).close();
    } catch (error) {
      return `Cannot write "${path}": ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}

function isFlawless({ direct, relay, proxies }: TaxResult): boolean {
  return [direct, relay, ...proxies].every(({ rates, saturation, repeats }) =>
    [...rates, saturation, repeats].every((phase) => (phase?.failed ?? 0) === 0)
  );
}

function complain(screen: Screen, why: string): number {
  screen.complain(why);
  return FAILED;
}
