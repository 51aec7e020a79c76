import { count, NONE, rate, time } from "./format.js";
import { Table } from "./tables.js";
import { sum, troubleOf, troubleWords } from "./views.js";

const WAITS = {
  place: "a place at the backend",
  stream: "a stream: connections are at the backend's limit",
  connection: "a connection to the backend",
  answer: "an answer",
  rest: "the rest of an answer",
};

/** Rows shown until somebody wants all. */
const FIRST_FLIGHTS = 8;

/** @param {HTMLElement} into @returns {Table<any>} */
export function backendsTable(into) {
  return new Table(into, {
    caption: "Backends: whether each can be reached, how full it is, and how fast it answers",
    key: ({ name }) => name,
    empty: "No backend yet: its name is being looked up.",
    noun: "backends",
    columns: [
      {
        label: "Backend",
        code: true,
        text: ({ name }) => name,
        note: ({ trouble, why }) => trouble || why,
      },
      { label: "State", text: stateOf, mark: stateMark },
      {
        label: "In flight",
        number: true,
        text: ({ inflight, limit }) => `${count(inflight)} of ${count(limit)}`,
        share: ({ inflight, limit }) => limit === 0 ? 0 : inflight / limit,
        mark: ({ inflight, limit }) =>
          inflight >= limit ? "bad" : inflight > limit * 0.8 ? "warn" : "",
      },
      {
        label: "Queued",
        number: true,
        text: ({ pending }) => count(pending),
        mark: ({ pending }) => pending > 0 ? "warn" : "",
      },
      { label: "p50", number: true, text: ({ recent }) => time(recent?.p50Ms) },
      {
        label: "p99",
        number: true,
        text: ({ recent }) => time(recent?.p99Ms),
        mark: ({ isSlowest }) => isSlowest ? "warn" : "",
        note: ({ isSlowest }) => isSlowest ? "slowest" : "",
      },
      { label: "Calls/s", number: true, text: ({ recent }) => rate(recent?.calls ?? 0) },
      { label: "Calls", number: true, text: ({ calls }) => count(calls) },
      {
        label: "Trouble",
        number: true,
        text: ({ codes }) => count(troubleOf(codes)),
        note: ({ codes }) => troubleWords(codes),
      },
      {
        label: "Refused",
        number: true,
        text: ({ refused }) => count(sum(refused)),
        note: refusedWords,
      },
    ],
  });
}

/** @param {any} backend */
function stateOf({ trouble, standing, up }) {
  if (trouble !== "") return up ? "Busy" : "Down";
  return {
    "healthy": "Up",
    "ejected": "Left out",
    "half-open": "On trial",
  }[/** @type {"healthy" | "ejected" | "half-open"} */ (standing)];
}

/** @param {any} backend */
function stateMark({ trouble, standing }) {
  return trouble !== "" || standing === "ejected"
    ? "bad"
    : standing === "half-open"
    ? "warn"
    : "good";
}

/** @param {any} backend */
function refusedWords({ refused, ejections }) {
  const words = Object.entries(refused).filter(([, times]) => times > 0)
    .map(([why, times]) => `${why.replace("_", " ")} ${count(times)}`);
  if (ejections > 0) words.push(`left out ${count(ejections)} times`);
  return words.join(", ");
}

/** @param {HTMLElement} into @returns {Table<any>} */
export function flightsTable(into) {
  return new Table(into, {
    caption: "Calls at a backend now, the oldest first",
    key: ({ id }) => id,
    empty: "Nothing waits.",
    noun: "calls",
    limit: FIRST_FLIGHTS,
    columns: [
      { label: "Method", code: true, text: ({ method }) => method },
      {
        label: "Age",
        number: true,
        text: ({ ageMs }) => time(ageMs),
        mark: ({ ageMs }) => ageMs >= 1_000 ? "warn" : "",
      },
      { label: "Callers", number: true, text: ({ waiters }) => count(waiters) },
      {
        label: "Waits for",
        text: ({ waitsFor }) => WAITS[/** @type {keyof typeof WAITS} */ (waitsFor)],
      },
      { label: "Backend", code: true, text: ({ backend }) => backend || NONE },
      {
        label: "Kind",
        text: ({ kind }) => kind,
        note: ({ takesJoiners }) => takesJoiners ? "" : "takes no more joiners",
      },
      { label: "Key", code: true, text: ({ key }) => key ?? NONE },
    ],
  });
}

/** Flights and calls of their own together, the oldest first; a place in the list is all that names a row. */
export function flightRows(/** @type {any} */ { flights, passing }) {
  const shared = flights.map((/** @type {any} */ one) => ({ ...one, kind: "flight" }));
  const own = passing.map((/** @type {any} */ one) => ({
    ...one,
    ...{ kind: "of its own", waiters: 1, takesJoiners: true },
  }));
  return [...shared, ...own].sort((a, b) => b.ageMs - a.ageMs)
    .map((row, index) => ({ ...row, id: String(index) }));
}
