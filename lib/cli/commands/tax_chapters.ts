import type { Chapter } from "../define_command.ts";

/** The method, for whoever is to believe the figures. */
export const TAX_CHAPTERS: readonly Chapter[] = [
  {
    heading: "How it measures",
    paragraphs: [
      "In rounds. In each, every rate is measured for all systems in turn, in an order that " +
      "changes from round to round, after a warm-up whose figures are thrown away. What a proxy " +
      "adds is the difference to the direct calls of the same round; the median of the rounds is " +
      "shown with the quartiles, between which half of the rounds lie. Where those are on both " +
      "sides of zero, it is too little to be told from noise.",
      "At a rate, calls are made when they are due, whatever comes back, and a call's time counts " +
      "from when it was due: a proxy that stalls is charged for all who wait meanwhile " +
      "(coordinated omission). When the client itself was late with them, the report says so. At " +
      "saturation a fixed number of callers call again as soon as they are answered: that gives " +
      "the throughput, and times in which the callers wait for each other.",
      "No two calls ask the same, so that nothing is shared or stored: this is what the hop costs. " +
      "The repeats, measured apart, show what a proxy that shares or stores gives back. A " +
      "percentile with fewer than five calls beyond it is not told.",
    ],
  },
  {
    heading: "Where the added time goes",
    paragraphs: [
      "hop is what a relay adds that only copies bytes: two more sockets and an event loop. It runs " +
      "in this process, beside the client, so a relay of its own would be somewhat faster, and one " +
      "on another machine slower by the network. processing is what the proxy adds at the lowest " +
      "rate beyond that; it may come out negative for a proxy that is quicker than the relay. " +
      "queueing is what it adds at a higher rate beyond the lowest: calls waiting for each other. " +
      "The three are differences of medians, not times of one call.",
    ],
  },
  {
    heading: "Money",
    paragraphs: [
      "CPU is user and system time of the process (and its children) while it was measured, for " +
      "1,000 calls a second, idle time in between included; a month has 730 hours. The bytes are " +
      "those between client and proxy, HTTP/2 framing included, TCP and IP headers not; they cost " +
      "something when the proxy stands in another zone than its callers. The two prices are round " +
      "figures of late 2026, nobody's list price: give yours.",
    ],
  },
  {
    heading: "What to do",
    paragraphs: [
      "go direct: it answered no call itself, so all of it is cost; or it would not pay if it " +
      "answered every one. keep: of its callers' calls of the method, by its own metrics, it answers at least the " +
      "share at which it pays: where what a repeat gains (a direct call less a repeat) makes up for " +
      "what every other call waits longer; and the same in CPU, where that of proxy and backend " +
      "were both measured. shrink: it can answer calls itself, but too few do repeat, or nobody " +
      "knows how many: send it only the methods that do. The share is that since the proxy " +
      "started: give it time among its callers before you measure, and not a load test's.",
    ],
  },
];
