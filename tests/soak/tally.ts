import { Histogram } from "../../lib/measure/mod.ts";
import { type Kind, KINDS } from "./content.ts";
import { judge, type Outcome, OUTCOMES } from "./judge.ts";
import type { OutageLog } from "./outages.ts";
import type { SoakCall } from "./soak_call.ts";

/** Faults that are told in full; the rest are counted. */
const MAX_TOLD = 20;

/** What all calls came to, and what was wrong. */
export class Tally {
  /** Calls by kind and outcome. */
  readonly counts: Record<Kind, Record<Outcome, number>>;
  /** Everything that was wrong, calls or not. */
  readonly faults: string[] = [];
  faultCount = 0;
  /** The call that took longest, in words. */
  slowest = "";
  #slowestMs = 0;
  readonly #excess = new Map<string, Histogram>();
  /** What good calls took beyond their pauses that were meant for a shard that was well while another was ill. */
  readonly besideIll = new Histogram();
  readonly #outages: OutageLog;

  constructor(outages: OutageLog) {
    this.#outages = outages;
    const none = () => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
    this.counts = Object.fromEntries(KINDS.map((kind) => [kind, none()])) as typeof this.counts;
  }

  get total(): number {
    return Object.values(this.counts).flatMap(Object.values).reduce((sum, count) => sum + count, 0);
  }

  ended(call: SoakCall, where: string): void {
    const { outcome, fault } = judge(call, this.#outages);
    this.counts[call.kind][outcome]++;
    if (outcome === "OK") this.excessOf(where).record(call.excessMs);
    if (outcome === "OK" && this.#wasBesideIll(call)) this.besideIll.record(call.excessMs);
    if (call.excessMs > this.#slowestMs) {
      this.#slowestMs = call.excessMs;
      this.slowest = `${wordsFor(call, where)} ended at ${new Date().toISOString().slice(11, 19)}`;
    }
    if (fault !== undefined) this.fault(`${wordsFor(call, where)}: ${fault}`);
  }

  #wasBesideIll({ choice: { shard }, startedMs, endedMs }: SoakCall): boolean {
    return shard !== undefined && this.#outages.overlapOthersOnly(startedMs, endedMs, shard);
  }

  /** What calls by that way took that ended well, beyond the pauses that they plan themselves. */
  excessOf(where: string): Histogram {
    const known = this.#excess.get(where);
    if (known !== undefined) return known;
    const made = new Histogram();
    this.#excess.set(where, made);
    return made;
  }

  /** What fails is a fault, and the rest goes on. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.fault(error instanceof Error ? error.message : String(error));
    }
  }

  fault(why: string): void {
    this.faultCount++;
    if (this.faults.length < MAX_TOLD) this.faults.push(why);
  }
}

function wordsFor(call: SoakCall, where: string): string {
  const { key, tenant, ...choice } = call.choice;
  const options = Object.entries(choice).filter(([name, value]) =>
    name !== "name" && Boolean(value)
  );
  const tookMs = (call.endedMs - call.startedMs).toFixed();
  const words = [`${tookMs} ms`, call.outcome, ...options.map((pair) => pair.join("="))];
  return `${key} for ${tenant} (${where}, ${words.filter((word) => word !== "").join(", ")})`;
}
