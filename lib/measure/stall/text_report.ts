import {
  type Screen,
  showCount,
  showRoundTime,
  showShare,
  showTime,
  styled,
  wrapped,
} from "../report/mod.ts";
import { FAULT_TEXTS } from "./fault.ts";
import { lawText } from "./law.ts";
import { plotColumns, plotFault, plotLine } from "./plot.ts";
import { faultName, type StallSubject } from "./subject.ts";
import { type Share, type SystemResult, WELL_SHARE } from "./tally.ts";

/** Columns of a line, and those of the first column. */
const WIDTH = 80;
const NAME_COLUMNS = 16;

/** Lateness of a call from which on its latency is more the machine's than anybody's whom it went through. */
const LATE_MS = 100;

/** Writes what is measured and what came of it. At most 80 columns. */
export class StallReport {
  #screen: Screen;
  #subject: StallSubject;

  constructor(screen: Screen, subject: StallSubject) {
    this.#screen = screen;
    this.#subject = subject;
  }

  intro(): void {
    const law = lawText(this.#subject);
    const lawLines = law === "" ? [] : ["", ...wrapped(law, WIDTH)];
    this.#screen.print([...introLines(this.#subject), ...lawLines].join("\n"));
  }

  results(results: readonly SystemResult[]): void {
    this.#heading("Calls answered in time, and how long the healthy backends' answers took (p99)");
    this.#screen.print(tableLines(results, this.#subject).join("\n"));
    this.#heading("Share of all calls that were answered in time, by when they were due");
    this.#screen.print(plotLines(results, this.#subject).join("\n"));
    if (faultName(this.#subject) === undefined) return;
    this.#heading(`How calls ended that were due during the fault at ${this.#subject.faulted}`);
    this.#screen.print(statusLines(results, this.#subject).join("\n"));
  }

  #heading(text: string): void {
    this.#screen.print(`\n${styled(this.#screen, "bold", text)}`);
  }
}

function introLines(subject: StallSubject): string[] {
  const { shards, isEmbedded, serviceMs, places, waiting, perSecond, deadlineMs, seed } = subject;
  const where = isEmbedded ? `in this process, ${showRoundTime(serviceMs)} an answer` : "yours";
  const all = shards.length;
  return [
    `Backends  ${shards.join(", ")}: ${where}`,
    `Load      ${showCount(perSecond)} calls a second, evenly to all; an open loop: nobody waits`,
    `Deadline  ${showRoundTime(deadlineMs)} for each call, counted from when it was due`,
    `Pools     of each backend ${places} calls at once and ${waiting} that wait;`,
    `          a shared pool has ${places * all} and ${waiting * all}`,
    ...faultLines(subject),
    `Seed      ${seed}: every system gets the same calls at the same times`,
  ];
}

function faultLines(subject: StallSubject): string[] {
  const name = faultName(subject);
  if (name === undefined) return ["Fault     none: to see how steady everything is without one"];
  const { faulted, beforeMs, stallMs } = subject;
  return [
    `Fault     ${name} at ${faulted}, after ${showRoundTime(beforeMs)}, for ${
      showRoundTime(stallMs)
    }:`,
    `          ${faultText(subject)}`,
  ];
}

function faultText({ fault, isEmbedded, isAnnounced }: StallSubject): string {
  if (isAnnounced) return "you bring it about when you are told to";
  if (fault === "sigstop" && isEmbedded) {
    return "the same as stall: here it is no process of its own";
  }
  return FAULT_TEXTS[fault];
}

function tableLines(results: readonly SystemResult[], { afterMs }: StallSubject): string[] {
  const cells = (name: string, ...rest: string[]) =>
    nameCell(name) + rest.map((cell) => cell.padStart(10)).join("");
  const lines = [
    cells("", "healthy,", "healthy,", "all,", "p99", "p99", "well"),
    cells("system", "before", "during", "during", "before", "during", "after"),
  ];
  for (const { name, tally: { before, during, recoveryMs } } of results) {
    lines.push(cells(
      name,
      percent(before.healthy),
      percent(during.healthy),
      percent(during.all),
      time(before.p99Ms),
      time(during.p99Ms),
      recoveryMs === undefined ? `> ${showRoundTime(afterMs)}` : time(recoveryMs),
    ));
  }
  return [
    ...lines,
    `well after: the fault's end until ${
      WELL_SHARE * 100
    } % were answered in time for half a second`,
    ...results.filter(({ tally }) => tally.latestMs > LATE_MS).map(({ name, tally }) =>
      `caution: ${nameCell(name).trim()} got calls up to ${
        showTime(tally.latestMs)
      } late: the machine was busy`
    ),
  ];
}

function plotLines(results: readonly SystemResult[], subject: StallSubject): string[] {
  const { faulted, beforeMs, stallMs, afterMs } = subject;
  const name = faultName(subject);
  const durationMs = beforeMs + stallMs + afterMs;
  const columns = plotColumns(results[0]?.tally.bins.length ?? 0, WIDTH - NAME_COLUMNS);
  const label = `${name} at ${faulted}`;
  const span = { label, beginsMs: beforeMs, endsMs: beforeMs + stallMs };
  const ends = showRoundTime(durationMs);
  return [
    " ".repeat(NAME_COLUMNS) + (name === undefined ? "" : plotFault(span, { durationMs, columns })),
    ...results.map(({ name, tally }) => nameCell(name) + plotLine(tally.bins, columns)),
    `${" ".repeat(NAME_COLUMNS)}0${ends.padStart(columns - 1)}`,
    `█ all, ▅ two thirds, · none; a column is ${
      showRoundTime(Math.round(durationMs / columns))
    } of calls`,
  ].map((line) => line.trimEnd());
}

function statusLines(results: readonly SystemResult[], { faulted }: StallSubject): string[] {
  return results.flatMap(({ name, tally: { during } }) => [
    ...statusRow(name, "healthy", during.healthyStatuses),
    ...statusRow("", faulted, during.faultedStatuses),
  ]);
}

function statusRow(
  name: string,
  whose: string,
  counts: Readonly<Record<string, number>>,
): string[] {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  const parts = sorted.map(([status, count]) => `${status} ${showCount(count)}`);
  const head = nameCell(name) + (whose.length > 8 ? `${whose.slice(0, 7)}…` : whose).padEnd(9);
  const text = parts.join(", ").replaceAll(/(?<=\w) (?=\d)/g, "\u00a0"); // a count stays with its name
  const lines = wrapped(text || "no calls", WIDTH - head.length);
  return lines.map((line, i) =>
    (i === 0 ? head : " ".repeat(head.length)) + line.replaceAll("\u00a0", " ")
  );
}

function nameCell(name: string): string {
  const isLong = name.length >= NAME_COLUMNS;
  return (isLong ? `${name.slice(0, NAME_COLUMNS - 2)}…` : name).padEnd(NAME_COLUMNS);
}

function percent({ good, calls }: Share): string {
  if (calls === 0) return "-";
  const text = showShare(good, calls);
  return text === "100.0 %" && good < calls ? ">99.9 %" : text;
}

function time(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms === 0 ? "at once" : showTime(ms);
}
