import { backendText, countsText, latencyText, sorted, type Tally } from "../load/mod.ts";
import {
  picture,
  row,
  type Screen,
  showCount,
  showCounted,
  showRoundTime,
  showTime,
  styled,
} from "../report/mod.ts";

/** One part of the demo as it went. */
export interface Part {
  readonly tally: Tally;
  readonly elapsedMs: number;
  /** Calls that were never answered. */
  readonly unanswered: number;
  /** Calls that the backend itself counted meanwhile. */
  readonly backendCalls: number;
}

/** The demo's parts, in their order. */
export interface DemoResult {
  readonly burst: Part;
  readonly direct: Part;
  readonly steady: Part;
  readonly crowd: Part;
}

/** Writes the demo's text, part by part, for somebody who has never heard of collapsing. At most 80 columns. */
export class DemoReport {
  #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  intro({ delayMs, connections }: { delayMs: number; connections: number }): void {
    this.#screen.print(
      [
        `A backend that takes ${
          showRoundTime(delayMs)
        } for an answer and counts the calls it gets, a`,
        "collapser sidecar in front of it, and callers who all want the same at the same",
        `time, on ${showCounted(connections, "connection")}. All of it runs in this process.`,
      ].join("\n"),
    );
  }

  burst(part: Part, { callers, keys }: { callers: number; keys: number }): void {
    const asks = keys === 1 ? "one question" : showCounted(keys, "question");
    this.#heading(`1. ${showCounted(callers, "caller")} at once with ${asks}, through the sidecar`);
    this.#rows(part, [answeredText(part), backendText(part.backendCalls, part.tally)]);
    this.#picture(part);
  }

  direct(part: Part, burst: Part): void {
    this.#heading("2. The same calls, straight to the backend");
    this.#rows(part, [answeredText(part), timesText(part, burst)]);
  }

  steady(part: Part, { callers }: { callers: number }): void {
    this.#heading(`3. ${showCounted(callers, "caller")} who ask again and again, one question`);
    const { tally, elapsedMs, backendCalls } = part;
    const perSecond = (count: number) => count / elapsedMs * 1_000;
    this.#rows(part, [
      `${answeredText(part)}, ${showCount(perSecond(tally.succeeded))} a second`,
      `${backendText(backendCalls, tally)}, ${perSecond(backendCalls).toFixed(1)} a second`,
    ]);
    this.#picture(part);
  }

  crowd(part: Part, { callers, keys }: { callers: number; keys: number }): void {
    const asks = `${showCounted(keys, "question")} among them`;
    this.#heading(`4. ${showCounted(callers, "caller")} at once with ${asks}`);
    this.#rows(part, [answeredText(part), backendText(part.backendCalls, part.tally)]);
  }

  #heading(text: string): void {
    this.#screen.print(`\n${styled(this.#screen, "bold", text)}`);
  }

  #rows({ tally }: Part, [callers, backend]: [callers: string, backend: string]): void {
    const rows = [row("callers", callers), row("backend", styled(this.#screen, "green", backend))];
    if (tally.outcomes.size > 0) rows.push(row("sidecar", countsText(sorted(tally.outcomes))));
    if (tally.latency.count > 0) rows.push(row("latency", latencyText(tally.latency)));
    for (const message of tally.messages.values()) rows.push(row("", message.slice(0, 66)));
    this.#screen.print(rows.map((line) => `   ${line}`).join("\n"));
  }

  #picture({ tally }: Part): void {
    const bars = picture(tally.latency);
    this.#screen.print(styled(this.#screen, "dim", bars.map((line) => `   ${line}`).join("\n")));
  }
}

/** Whether every call of a part was answered with OK. */
export function isFlawless({ tally, unanswered }: Part): boolean {
  return tally.failed === 0 && unanswered === 0 && tally.ended > 0;
}

function answeredText(part: Part): string {
  const { tally, elapsedMs, unanswered } = part;
  const failed = tally.failed + unanswered;
  return `${showCount(tally.succeeded)} answered in ${showTime(elapsedMs)}, ${
    showCount(failed)
  } failed`;
}

function timesText(direct: Part, burst: Part): string {
  const counted = `counted ${showCounted(direct.backendCalls, "call")}`;
  if (burst.backendCalls === 0) return counted;
  return `${counted}, ${showCount(direct.backendCalls / burst.backendCalls)} times as many`;
}
