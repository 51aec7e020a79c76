import { count, duration, NONE, percent, rate, size, time } from "./format.js";
import { badgeOf, offWords } from "./sharing.js";
import { make, Table } from "./tables.js";

/** Rows shown until somebody wants all. */
const FIRST_METHODS = 10;
const FIRST_KEYS = 10;

const REASONS = {
  method: "its method does not collapse",
  streaming: "it is not exactly one request message",
  size: "its message is larger than COLLAPSER_MAX_MESSAGE_BYTES",
  followers: "COLLAPSER_MAX_FOLLOWERS already waited on the flight",
  mode: "COLLAPSER_MODE is off",
  no_store: "cache-control asked for it, or the answer was private",
};

/** Statuses that mean trouble rather than an answer. */
const TROUBLE = [
  "Unknown",
  "DeadlineExceeded",
  "ResourceExhausted",
  "Internal",
  "Unavailable",
  "DataLoss",
];

/** @param {any} row */
export function callsOf(row) {
  return row.hit + row.joined + row.led + row.passed + row.stale + row.rejected;
}

/** @param {Record<string, number>} codes */
export function troubleOf(codes) {
  return TROUBLE.reduce((sum, code) => sum + (codes[code] ?? 0), 0);
}

/** @param {Record<string, number>} codes */
export function troubleWords(codes) {
  return TROUBLE.filter((code) => codes[code]).map((code) => `${code} ${count(codes[code] ?? 0)}`)
    .join(", ");
}

/** @param {HTMLElement} into @returns {Table<any>} */
export function methodsTable(into) {
  const total = (/** @type {string} */ label, /** @type {string} */ name) => ({
    ...{ label, number: true },
    text: (/** @type {any} */ row) => count(row[name]),
    by: (/** @type {any} */ row) => row[name],
  });
  return new Table(into, {
    caption: "Methods: how each was judged, and how its calls were answered",
    key: ({ method }) => method,
    empty: "No method was called yet, or none has that in its name.",
    noun: "methods",
    sort: 1,
    limit: FIRST_METHODS,
    columns: [
      {
        label: "Method",
        code: true,
        text: ({ method }) => method,
        badge: badgeOf,
        note: judgementOf,
      },
      {
        label: "Calls/s",
        number: true,
        text: (row) => rate(row.perSecond),
        by: (row) => row.perSecond + callsOf(row) / 1e12,
      },
      { label: "Calls", number: true, text: (row) => count(callsOf(row)), by: callsOf },
      {
        label: "Saved",
        hint: "Share of its calls that cost the backend nothing",
        number: true,
        text: (row) => callsOf(row) === 0 ? NONE : percent(savedOf(row)),
        by: savedOf,
        share: savedOf,
      },
      total("Hit", "hit"),
      total("Joined", "joined"),
      total("Led", "led"),
      total("Passed", "passed"),
      {
        label: "Trouble",
        hint: "Answers with a status that means trouble",
        number: true,
        text: ({ codes }) => count(troubleOf(codes)),
        by: ({ codes }) => troubleOf(codes),
        mark: ({ codes }) => troubleOf(codes) > 0 ? "bad" : "",
        note: ({ codes }) => troubleWords(codes),
      },
    ],
  });
}

/** @param {any} row */
function savedOf(row) {
  return callsOf(row) === 0 ? 0 : (row.hit + row.joined + row.stale) / callsOf(row);
}

/** What becomes of a method's calls by its mode, where it was judged to be shared. */
const SHARED = {
  off: "passes, its mode is off",
  shadow: "in shadow, nothing is shared yet",
  verify: "collapses, and is verified",
  collapse: "collapses",
};

/** @param {any} row */
function judgementOf(row) {
  const { collapses, why, mode, off } = row;
  if (off) return offWords(row);
  if (collapses === null) return why;
  const shared = SHARED[/** @type {keyof typeof SHARED} */ (mode)] ?? "collapses";
  return `${collapses ? shared : "passes"}: ${why}`;
}

/** @param {HTMLElement} into @returns {Table<any>} */
export function keysTable(into) {
  return new Table(into, {
    caption: "The keys that are asked for most, as digests that say nothing of what is asked",
    key: ({ key }) => key,
    empty: "No key was asked for more than once of late.",
    noun: "keys",
    limit: FIRST_KEYS,
    columns: [
      { label: "Key", code: true, text: ({ key }) => key, note: ({ method }) => method },
      { label: "Calls", number: true, text: ({ calls }) => count(calls) },
      { label: "Calls/s", number: true, text: ({ perSecond }) => rate(perSecond) },
      {
        label: "Share",
        number: true,
        text: ({ share }) => percent(share),
        share: ({ share }) => share,
      },
    ],
  });
}

/** @param {any} keys @returns {any[]} */
export function keyRows({ sinceMs, calls, keys }) {
  const listed = keys.reduce(
    (/** @type {number} */ total, /** @type {any} */ one) => total + one.calls,
    0,
  );
  const all = Math.max(listed, calls); // calls are counted a second later than keys
  return keys.map((/** @type {any} */ one) => ({
    ...one,
    perSecond: one.calls / Math.max(1, sinceMs / 1_000),
    share: one.calls / Math.max(1, all),
  }));
}

/** @param {HTMLElement} into @returns {Table<any>} */
export function passedTable(into) {
  return new Table(into, {
    caption: "Calls that passed through on their own, by reason",
    key: ({ reason }) => reason,
    empty: "Nothing passed through.",
    columns: [
      {
        label: "Reason",
        code: true,
        text: ({ reason }) => reason,
        note: ({ reason }) => REASONS[/** @type {keyof typeof REASONS} */ (reason)] ?? "",
      },
      { label: "Calls", number: true, text: ({ calls }) => count(calls) },
      { label: "Calls/s", number: true, text: ({ perSecond }) => rate(perSecond) },
    ],
  });
}

/** @param {HTMLElement} into @returns {Table<any>} */
export function configTable(into) {
  return new Table(into, {
    caption: "The settings in force, secrets masked, and where each is from",
    key: ({ name }) => name,
    empty: "Nothing differs from the defaults.",
    columns: [
      { label: "Variable", code: true, text: ({ name }) => name },
      {
        label: "Value",
        code: true,
        text: ({ value }) => value === "" ? "(unset)" : value,
        mark: ({ value }) => value === "" ? "quiet" : "",
      },
      {
        label: "From",
        text: ({ origin }) => origin ?? NONE,
        mark: ({ origin }) => origin === "default" ? "quiet" : "",
      },
    ],
  });
}

/** The figures at a glance. @param {HTMLElement} into @param {any} status */
export function showTiles(into, { now, last, methods, uptimeS }) {
  const calls = last === null ? 0 : sum(last.calls);
  const sent = last?.backendCalls ?? 0;
  const tiles = [
    [
      "Calls",
      `${rate(calls)}/s`,
      `${
        count(
          methods.reduce(
            (/** @type {number} */ all, /** @type {any} */ row) => all + callsOf(row),
            0,
          ),
        )
      } so far`,
    ],
    [
      "To backends",
      `${rate(sent)}/s`,
      calls === 0
        ? ""
        : sent === 0
        ? "none of them"
        : `one for ${rate(Math.max(1, calls / sent))} calls`,
    ],
    ["Saved", calls === 0 ? NONE : percent(Math.max(0, 1 - sent / calls)), "of calls, now"],
    [
      "Waiting",
      count(now.waiters),
      `on ${count(now.flights)} ${now.flights === 1 ? "flight" : "flights"}`,
    ],
    ["Stored", count(now.storedResults), size(now.storedBytes)],
    [
      "Connections",
      count(now.connections),
      now.stalled === 0 ? "of callers" : `of callers; ${count(now.stalled)} calls ended unread`,
    ],
    [
      "Memory",
      size(now.rssBytes),
      `${size(now.bufferedBytes)} held for peers, loop late by ${time(last?.lagMs ?? 0)}`,
    ],
    ["Up for", duration(uptimeS), ""],
  ];
  tiles.forEach(([label, value, note], index) => {
    const tile = into.children[index] ?? into.appendChild(tileOf(/** @type {string} */ (label)));
    const [, figure, small] = tile.children;
    if (figure && figure.textContent !== value) figure.textContent = value ?? "";
    if (small && small.textContent !== note) small.textContent = note ?? "";
  });
}

/** @param {string} label */
function tileOf(label) {
  const tile = make("div", "card tile");
  tile.append(make("dt", "", {}, label), make("dd", "figure"), make("dd", "small"));
  return tile;
}

/** What could be better, in words. @param {any} status @param {any} config @returns {string[]} */
export function notesOf({ hints, mode }, config) {
  /** @type {string[]} */
  const notes = mode === "off" ? ["COLLAPSER_MODE is off: nothing is collapsed."] : [];
  for (const { method, metadataName } of hints) {
    notes.push(
      metadataName === null
        ? `Equal calls of ${method} were under way at the same time, and each went to the backend. If it only reads, name it in COLLAPSER_METHODS.`
        : `Calls of ${method} were kept apart by the metadata ${metadataName} alone. If answers do not depend on it, name it in COLLAPSER_IGNORE_HEADERS.`,
    );
  }
  return [...notes, ...(config?.warnings ?? [])];
}

/** @param {Record<string, number>} numbers */
export function sum(numbers) {
  return Object.values(numbers).reduce((total, value) => total + value, 0);
}
