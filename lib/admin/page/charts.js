import { Chart, colourOf } from "./chart.js";
import { rate, short, time } from "./format.js";

/** Backends drawn; the table has all. There are as many colours for them. */
const DRAWN_BACKENDS = 6;

/** Outcomes from the bottom up: what the backends had to do, and above it what they were spared. */
const STACK = ["passed", "led", "stale", "joined", "hit", "rejected"];

/** Outcomes that are not named while there are none. */
const RARE = ["stale", "rejected"];

/** @typedef {import("./chart.js").Line} Line */

/** The three charts of the page. */
export class Charts {
  /** @type {Chart} */ #calls;
  /** @type {Chart} */ #backend;
  /** @type {Chart} */ #latency;

  /** @param {{ calls: HTMLElement, backend: HTMLElement, latency: HTMLElement }} places */
  constructor({ calls, backend, latency }) {
    const ofRates = { tick: short, leastTop: 5 };
    this.#calls = new Chart(calls, { title: "Calls a second, by outcome", ...ofRates });
    this.#backend = new Chart(backend, { title: "Calls a second to backends", ...ofRates });
    this.#latency = new Chart(latency, {
      ...{ title: "Backend latency, p50 (dashed) and p99", tick: time, leastTop: 5 },
    });
  }

  /** @param {readonly any[]} samples The oldest first. */
  draw(samples) {
    const times = samples.map(({ atMs }) => atMs / 1_000);
    this.#calls.draw(times, stacked(samples));
    this.#backend.draw(times, [
      {
        ...ofRate(samples.map(({ backendCalls }) => backendCalls)),
        label: "sent",
        colour: colourOf("led"),
        area: true,
      },
      {
        ...ofRate(samples.map(({ failed }) => failed)),
        label: "callers in trouble",
        colour: colourOf("rejected"),
      },
    ]);
    this.#latency.draw(times, latencies(samples));
  }
}

/** Outcomes on top of each other, the topmost first: each is painted over the one above it. */
function stacked(/** @type {readonly any[]} */ samples) {
  const sums = samples.map(() => 0);
  /** @type {Line[]} */ const lines = [];
  for (const outcome of STACK) {
    const rates = samples.map(({ calls }) => calls[outcome] ?? 0);
    if (RARE.includes(outcome) && rates.every((value) => value === 0)) continue;
    const values = rates.map((value, i) => sums[i] = (sums[i] ?? 0) + value);
    lines.unshift({
      ...ofRate(rates),
      label: outcome,
      colour: colourOf(outcome),
      area: true,
      values,
    });
  }
  return lines;
}

/** @param {number[]} values */
function ofRate(values) {
  return { values, says: (/** @type {number} */ index) => rate(values[index] ?? 0) };
}

/** @param {readonly any[]} samples @returns {Line[]} */
function latencies(samples) {
  const drawn = (samples.at(-1)?.backends ?? []).slice(0, DRAWN_BACKENDS);
  return drawn.flatMap((/** @type {{ name: string }} */ { name }, /** @type {number} */ index) => {
    const own = samples.map(({ backends }) =>
      backends.find((/** @type {{ name: string }} */ one) => one.name === name)
    );
    const p50 = own.map((one) => one?.p50Ms ?? null);
    const p99 = own.map((one) => one?.p99Ms ?? null);
    const says = (/** @type {number} */ at) => `${time(p50[at])} / ${time(p99[at])}`;
    const colour = colourOf(`backend-${index}`);
    return [
      { label: name, colour, values: p99, says },
      { label: `${name}, p50`, colour, values: p50, dash: true },
    ];
  });
}
