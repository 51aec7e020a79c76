import { make, set } from "./tables.js";

/** Seconds of the past that are shown. */
const SPAN_S = 300;

const HEIGHT_PX = 180;

/** Room at the right for half of the last time. */
const RIGHT_PX = 20;

/** Steps of the scale at the left. */
const STEPS = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));

/**
 * @typedef {object} Line
 * @property {string} label
 * @property {string} colour As #rrggbb.
 * @property {readonly (number | null)[]} values Where it is drawn.
 * @property {(index: number) => string} [says] What the legend says of it; a line without it is not in the legend.
 * @property {boolean} [dash]
 * @property {boolean} [area] Whether what is below it is filled.
 */

/** A chart with its title, its legend, and what it says in words. */
export class Chart {
  /** @type {HTMLElement} */ #place = make("div", "plot");
  /** @type {HTMLElement} */ #legend = make("ul", "legend");
  /** @type {string} */ #title;
  /** @type {(value: number) => string} */ #tick;
  /** @type {number} */ #leastTop;
  /** @type {any} */ #plot;
  #shape = "";
  /** @type {readonly number[]} */ #times = [];
  /** @type {readonly Line[]} */ #lines = [];

  /**
   * A chart whose `tick` writes a value at the scale, which reaches to `leastTop` at least.
   * @param {HTMLElement} into
   * @param {{ title: string, tick: (value: number) => string, leastTop: number }} options
   */
  constructor(into, { title, tick, leastTop }) {
    this.#title = title;
    this.#tick = tick;
    this.#leastTop = leastTop;
    set(this.#place, "role", "img");
    set(this.#place, "tabindex", "0");
    into.replaceChildren(make("figcaption", "", {}, title), this.#legend, this.#place);
    this.#place.addEventListener("keydown", (event) => this.#key(event));
    this.#place.addEventListener("blur", () => this.#plot?.setCursor({ left: -10, top: -10 }));
    new ResizeObserver(() => this.#fit()).observe(this.#place);
  }

  /** @param {readonly number[]} times In seconds, ascending. @param {readonly Line[]} lines */
  draw(times, lines) {
    this.#times = times;
    this.#lines = lines;
    const shape = lines.map(({ label, colour }) => `${label} ${colour}`).join("\n");
    if (shape !== this.#shape || this.#plot === undefined) this.#build(shape);
    this.#plot.setData([times, ...lines.map(({ values }) => values)]);
    this.#tell();
  }

  /** @param {string} shape */
  #build(shape) {
    this.#shape = shape;
    this.#plot?.destroy();
    const inLegend = this.#lines.filter(({ says }) => says !== undefined);
    this.#legend.replaceChildren(...inLegend.map((line) => legendItem(line)));
    const { uPlot } = /** @type {any} */ (globalThis);
    const data = [[], ...this.#lines.map(() => [])];
    this.#plot = new uPlot(this.#options(), data, this.#place);
  }

  #options() {
    const axis = { stroke: colourOf("muted"), font: "11px system-ui, sans-serif" };
    const grid = { stroke: colourOf("grid"), width: 1 };
    const [leastTop, tick] = [this.#leastTop, this.#tick];
    return {
      width: this.#place.clientWidth || 300,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      padding: [8, RIGHT_PX, 0, 0],
      scales: {
        x: { time: true, range: lastMinutes },
        y: { range: (/** @type {unknown[]} */ ...seen) => upFromZero(seen[2], leastTop) },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          ticks: { show: false },
          size: 24,
          incrs: [60, 120],
          values: clockTimes,
        },
        {
          ...axis,
          grid,
          ticks: { show: false },
          size: 56,
          space: 36,
          incrs: STEPS,
          values: (/** @type {unknown} */ _, /** @type {number[]} */ at) => at.map(tick),
        },
      ],
      series: [{}, ...this.#lines.map(seriesOf)],
      hooks: { setCursor: [() => this.#tell()] },
    };
  }

  #fit() {
    const width = this.#place.clientWidth;
    if (this.#plot !== undefined && width > 0) this.#plot.setSize({ width, height: HEIGHT_PX });
  }

  /** Says in the legend what each line is where the cursor stands, or last. */
  #tell() {
    const { left = -1, idx = null } = this.#plot?.cursor ?? {};
    const isNow = left < 0 || idx === null;
    const index = isNow ? this.#times.length - 1 : idx;
    const told = this.#lines.flatMap(({ label, says }) => says ? [[label, says(index)]] : []);
    told.forEach(([, said], i) => {
      const place = this.#legend.children[i]?.querySelector(".value");
      if (place && place.textContent !== said) place.textContent = said ?? "";
    });
    const when = isNow ? "now" : new Date((this.#times[index] ?? 0) * 1_000).toLocaleTimeString();
    const words = told.map((pair) => pair.join(" ")).join(", ");
    set(this.#place, "aria-label", `${this.#title}, ${when}: ${words || "nothing yet"}`);
  }

  /** Goes through time by the keys left and right. @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || this.#times.length === 0) return;
    event.preventDefault();
    const { left, idx } = this.#plot.cursor;
    const from = left < 0 || idx === null ? this.#times.length : idx;
    const index = Math.min(this.#times.length - 1, Math.max(0, from + step));
    this.#plot.setCursor({ left: this.#plot.valToPos(this.#times[index], "x"), top: 0 });
  }
}

/** A colour of the page's. @param {string} name */
export function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** @param {Line} line */
function seriesOf({ colour, dash, area }) {
  return {
    ...{ stroke: colour, width: 1.5, points: { show: false } },
    ...(dash ? { dash: [4, 4] } : {}),
    ...(area ? { fill: fillOf(colour) } : {}),
  };
}

/** The fill below a line: opaque, since it covers what is painted before it. @param {string} colour */
function fillOf(colour) {
  const card = colourOf("card");
  const mixed = [1, 3, 5].map((at) => {
    const [own, under] = [colour, card].map((text) => parseInt(text.slice(at, at + 2), 16));
    return Math.round((own ?? 0) * 0.55 + (under ?? 0) * 0.45);
  });
  return `rgb(${mixed.join(", ")})`;
}

/** @param {Line} line */
function legendItem({ label, colour }) {
  const item = make("li");
  const swatch = make("span", "swatch", { "aria-hidden": "true" });
  swatch.style.color = colour;
  item.append(swatch, make("span", "", {}, label), make("span", "value"));
  return item;
}

/** @param {unknown} _ @param {number} __ @param {number} max */
function lastMinutes(_, __, max) {
  return [max - SPAN_S, max];
}

/** @param {unknown} max @param {number} leastTop */
function upFromZero(max, leastTop) {
  return [0, Math.max(leastTop, typeof max === "number" ? max * 1.15 : 0)];
}

/** @param {unknown} _ @param {number[]} splits */
function clockTimes(_, splits) {
  return splits.map((at) =>
    new Date(at * 1_000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
  );
}
