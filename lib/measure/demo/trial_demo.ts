import type { Sidecar } from "../../sidecar/mod.ts";
import type { FrameLog } from "../../wire/mod.ts";
import { type Client, openClient, requestBody } from "../client/mod.ts";
import { LoadRun } from "../load/mod.ts";
import {
  type Screen,
  showCount,
  showShare,
  styled,
  terminalScreen,
  withProgress,
} from "../report/mod.ts";
import { type EmbeddedParts, startEmbedded } from "./embedded.ts";
import type { DemoOptions } from "./run_demo.ts";

const GOOD = 0;
const FAILED = 1;

/** Calls of each method in a round, half of them of each tenant. */
const CALLS = 400;

/** Callers at once: few, so that some of their calls come one after the other and find what is kept. */
const CALLERS = 10;

/** After a round what it comes to is waited for, until nothing more is found out for so long: nobody waits for that else. */
const QUIET_MS = 500;
const MAX_WAIT_MS = 15_000;

/** The two tenants, told apart by this metadata name alone, which the key leaves out. */
const HEADER = "x-tenant";
const TENANTS = ["acme", "globex"] as const;

/** A method on trial. */
export interface TrialSubject {
  /** Path of a method whose name begins with a reading verb. */
  readonly path: string;
  readonly message: Uint8Array;
}

/** The parts that the demo of a trial is put together from. */
export interface TrialDemoParts extends EmbeddedParts {
  /** A method that answers all alike, but for the fields of `ignoreFields`. */
  readonly alike: TrialSubject;
  /** One whose answer names who asks. */
  readonly byTenant: TrialSubject;
  /** Numbers of fields of both answers that are another each time. */
  readonly ignoreFields: readonly string[];
  /** @default the terminal */
  readonly screen?: Screen;
}

/**
 * Shows how a service that never shared is brought to it: first in shadow, then with verify, by two methods, of which one
 * answers by who asks. The exit code is 1 when a call failed, or that one was not found out.
 */
export async function runTrialDemo(
  options: Pick<DemoOptions, "delayMs">,
  parts: TrialDemoParts,
): Promise<number> {
  const { screen = terminalScreen() } = parts;
  const embedded = await startEmbedded(parts, options);
  let client: Client | undefined;
  try {
    client = await openClient(embedded.proxied);
    return await new TrialDemo(parts, { screen, client, sidecar: embedded.sidecar }).play()
      ? GOOD
      : FAILED;
  } finally {
    embedded.killBackend();
    await client?.close();
    await embedded.stop();
  }
}

class TrialDemo {
  readonly #parts: TrialDemoParts;
  readonly #screen: Screen;
  readonly #client: Client;
  readonly #sidecar: Sidecar;
  #failed = 0;

  constructor(
    parts: TrialDemoParts,
    { screen, client, sidecar }: { screen: Screen; client: Client; sidecar: Sidecar },
  ) {
    this.#parts = parts;
    this.#screen = screen;
    this.#client = client;
    this.#sidecar = sidecar;
  }

  /** Plays both rounds; returns whether all went as it should. */
  async play(): Promise<boolean> {
    const { alike, byTenant } = this.#parts;
    this.#print([
      "Two methods and two tenants, whose requests differ in x-tenant alone: a name",
      "that somebody has left out of the key. One method answers both alike; the other",
      "one's answer names who asks. All of it runs in this process.",
    ]);
    this.#heading("1. shadow: every caller has an answer of its own, nothing is shared");
    this.#set("shadow");
    for (const subject of [alike, byTenant]) {
      await this.#round(subject);
      this.#shadowRows(subject);
    }
    this.#heading("2. verify: answers are shared, and a sample is asked for once more");
    this.#set("verify");
    for (const subject of [alike, byTenant]) {
      await this.#round(subject);
      this.#verifyRows(subject);
    }
    const off = [...this.#sidecar.proxy.trial.methods.off()].map(([path]) => path);
    return this.#failed === 0 && off.length === 1 && off[0] === byTenant.path;
  }

  #set(mode: "shadow" | "verify"): void {
    const { alike, byTenant, ignoreFields } = this.#parts;
    const policies = [alike, byTenant].map(({ path }) => {
      const [, service = "", method = ""] = path.split("/");
      return { service, method, collapser: { mode, ignoreHeaders: [HEADER], ignoreFields } };
    });
    this.#sidecar.proxy.setPolicies(policies);
  }

  /** The tenants take turns, so that each is given what the other one's call has brought. */
  async #round({ path, message }: TrialSubject): Promise<void> {
    const body: FrameLog = requestBody(message);
    for (let i = 0; i < CALLS / (2 * CALLERS); i++) {
      for (const tenant of TENANTS) {
        const method = this.#client.method({ path, metadata: [[HEADER, tenant]] });
        const sent = { callers: CALLERS, keys: 1, calls: CALLERS, bodyOf: () => body };
        const run = new LoadRun(this.#client, { ...sent, method });
        await withProgress(this.#screen, () => `${path}: ${i * 2 * CALLERS} answered`, run.run());
        this.#failed += run.tally.failed + run.underWay;
      }
    }
    await withProgress(this.#screen, () => `${path}: answers are compared`, this.#settled(path));
  }

  async #settled(path: string): Promise<void> {
    let before = -1;
    for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += QUIET_MS) {
      const found = this.#comparisons(path);
      if (found === before) return;
      before = found;
      await new Promise((resume) => setTimeout(resume, QUIET_MS));
    }
  }

  #comparisons(path: string): number {
    const trial = this.#sidecar.proxy.counters.methods.get(path)?.trial;
    const counts = [
      ...Object.values(trial?.compared ?? {}),
      ...Object.values(trial?.verified ?? {}),
    ];
    return counts.reduce((sum, count) => sum + count, 0);
  }

  #shadowRows({ path }: TrialSubject): void {
    const row = this.#sidecar.proxy.inspection.report().find(({ method }) => method === path);
    if (row === undefined) return;
    const { calls, wouldHit, wouldJoin, compared } = row;
    const saved = wouldHit + wouldJoin;
    this.#row(path, `${showCount(calls)} calls, ${showShare(saved, calls)} of them would be saved`);
    const told = Object.entries(compared).filter(([, count]) => count > 0);
    this.#row(
      "",
      `compared: ${told.map(([result, count]) => `${showCount(count)} ${result}`).join(", ")}`,
    );
    if (compared.mismatch > 0) {
      this.#row(
        "",
        styled(this.#screen, "red", "sharing would hand one tenant the other's answer"),
      );
    }
  }

  #verifyRows({ path }: TrialSubject): void {
    const { inspection } = this.#sidecar.proxy;
    const found = inspection.methods().find(({ method }) => method === path);
    if (found === undefined) return;
    const { outcomes: { hit, joined }, trial } = found.counters;
    this.#row(path, `${showCount(hit + joined)} calls were given another's answer`);
    const { match = 0, mismatch = 0 } = trial?.verified ?? {};
    this.#row("", `asked once more: ${showCount(match)} match, ${showCount(mismatch)} mismatch`);
    if (found.off === undefined) return;
    const names = found.off.join(", ");
    this.#row("", styled(this.#screen, "red", `taken out: its answers depend on ${names}`));
  }

  #heading(text: string): void {
    this.#screen.print(`\n${styled(this.#screen, "bold", text)}`);
  }

  #row(path: string, text: string): void {
    this.#print([`   ${path.slice(path.lastIndexOf("/") + 1).padEnd(15)}${text}`]);
  }

  #print(lines: readonly string[]): void {
    this.#screen.print(lines.join("\n"));
  }
}
