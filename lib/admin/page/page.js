import { backendsTable, flightRows, flightsTable } from "./backends.js";
import { Charts } from "./charts.js";
import { Sharing } from "./sharing.js";
import { make, set } from "./tables.js";
import {
  callsOf,
  configTable,
  keyRows,
  keysTable,
  methodsTable,
  notesOf,
  passedTable,
  showTiles,
} from "./views.js";

/** Samples kept, as many as the sidecar keeps. */
const MAX_SAMPLES = 300;

/** Snapshots over which a method's rate is taken. */
const RATE_SNAPSHOTS = 5;

/** Snapshots in which nothing waits after which the room for what waited is given up. */
const QUIET_SNAPSHOTS = 10;

/** Snapshots between two reports: what 48 hours came to changes slowly, and is not made for nothing. */
const REPORT_SNAPSHOTS = 10;

/** A snapshot comes each second; when none comes for so long, the figures are not called live. */
const SILENCE_MS = 5_000;

/** When the sidecar refuses to be listened to: a browser does not ask again by itself then. */
const RETRY_MS = 5_000;

const SIGNS = { healthy: "✓", degraded: "!", stalled: "!", down: "✕", ending: "■", waiting: "…" };

const charts = new Charts({
  calls: byId("chart-calls"),
  backend: byId("chart-backend"),
  latency: byId("chart-latency"),
});
const tables = {
  backends: backendsTable(byId("backends")),
  flights: flightsTable(byId("flights")),
  methods: methodsTable(byId("methods")),
  keys: keysTable(byId("keys")),
  passed: passedTable(byId("passed")),
  config: configTable(byId("config")),
};
const sharing = new Sharing({
  table: byId("sharing"),
  said: byId("sharing-said"),
  token: /** @type {HTMLInputElement} */ (byId("token")),
  changed: () => void showReport(),
});
const filter = /** @type {HTMLInputElement} */ (byId("method-filter"));
const showsDefaults = /** @type {HTMLInputElement} */ (byId("config-all"));

/** @type {any[]} */ let samples = [];
/** The last snapshots, the oldest first. @type {any[]} */ let snapshots = [];
/** @type {any} */ let config;
/** @type {EventSource | undefined} */ let source;
/** @type {ReturnType<typeof setTimeout> | undefined} */ let silence;
/** @type {ReturnType<typeof setTimeout> | undefined} */ let retry;
let quietSnapshots = 0;
let snapshotsSinceReport = 0;

filter.addEventListener("input", showMethods);
byId("flights").addEventListener("click", () => byId("flights").style.minHeight = "");
showsDefaults.addEventListener("change", showConfig);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  charts.draw(samples); // whose colours are others now
});
// A page that nobody sees costs nothing.
document.addEventListener("visibilitychange", () => document.hidden ? close() : connect());
connect();

function connect() {
  close();
  source = new EventSource("api/events");
  source.addEventListener("open", () => void catchUp());
  source.addEventListener("snapshot", (event) => show(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    connectionIs("lost", "Connection lost; trying again…");
    if (source?.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MS);
  });
}

function close() {
  source?.close();
  clearTimeout(silence);
  clearTimeout(retry);
}

/** Fetches what went on before, or while the connection was lost; another process may answer by now. */
async function catchUp() {
  snapshots = [];
  try {
    const paths = ["api/history", "api/config", "api/report"];
    const [history, configuration, report] = await Promise.all(paths.map(get));
    samples = history;
    config = configuration;
    showConfig();
    sharing.showReport(report);
  } catch {
    if (source?.readyState !== EventSource.OPEN) return; // lost altogether, which says so and tries again
    connectionIs("lost", "Some figures could not be had; trying again…");
    retry = setTimeout(connect, RETRY_MS);
  }
}

/** Fetches the report anew. One that cannot be had is asked for again; the page's state says whether it is live. */
async function showReport() {
  snapshotsSinceReport = 0;
  try {
    sharing.showReport(await get("api/report"));
  } catch (error) {
    console.info("The report could not be had", error);
  }
}

/** @param {string} path */
async function get(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return await answer.json();
}

/** @param {any} status */
function show(status) {
  connectionIs("live", "Live");
  clearTimeout(silence);
  silence = setTimeout(() => connectionIs("lost", "No news; waiting…"), SILENCE_MS);
  snapshots.push(status);
  if (snapshots.length > RATE_SNAPSHOTS + 1) snapshots.shift();
  if (status.last !== null && status.last.atMs > (samples.at(-1)?.atMs ?? 0)) {
    samples.push(status.last);
    if (samples.length > MAX_SAMPLES) samples.shift();
  }
  showVerdict(status);
  showTiles(byId("tiles"), status);
  charts.draw(samples);
  showBackends(status);
  showFlights(status);
  showMethods();
  sharing.showStatus(status);
  if (++snapshotsSinceReport >= REPORT_SNAPSHOTS) void showReport();
  tables.keys.show(keyRows(status.keys));
  showPassed(status);
  showNotes(status);
}

/** @param {any} status */
function showVerdict({ health, saving, version }) {
  write("health", health.words);
  write("saving", saving);
  write("version", version);
  set(byId("verdict"), "data-state", health.state);
  write("sign", SIGNS[/** @type {keyof typeof SIGNS} */ (health.state)] ?? "");
  const title = health.state === "healthy" ? "collapser" : `${health.state} · collapser`;
  if (document.title !== title) document.title = title;
}

/** @param {any} status */
function showBackends({ backends, last }) {
  const recent = new Map((last?.backends ?? []).map((/** @type {any} */ one) => [one.name, one]));
  const rows = backends.map((/** @type {any} */ one) => ({ ...one, recent: recent.get(one.name) }));
  const answering = rows.filter((/** @type {any} */ row) => row.recent?.p99Ms > 0);
  const byTime = answering.sort((/** @type {any} */ a, /** @type {any} */ b) =>
    b.recent.p99Ms - a.recent.p99Ms
  );
  // Worth a word when it is clearly slower than the next one.
  const isClear = byTime.length > 1 && byTime[0].recent.p99Ms > 2 * byTime[1].recent.p99Ms;
  tables.backends.show(
    rows.map((/** @type {any} */ row) => ({
      ...row,
      isSlowest: isClear && row.name === byTime[0].name,
    })),
  );
}

/** Shows the flights. Rows come and go each second; what stands below them must not jump about. @param {any} status */
function showFlights({ flights }) {
  const rows = flightRows(flights);
  const place = byId("flights");
  quietSnapshots = rows.length === 0 ? quietSnapshots + 1 : 0;
  if (quietSnapshots >= QUIET_SNAPSHOTS) place.style.minHeight = "";
  tables.flights.show(rows);
  const heightPx = place.offsetHeight;
  if (rows.length > 0) place.style.minHeight = `${heightPx}px`;
}

function showMethods() {
  const status = snapshots.at(-1);
  if (status === undefined) return;
  const [first] = snapshots;
  const seconds = (status.atMs - first.atMs) / 1_000;
  const before = new Map(
    first.methods.map((/** @type {any} */ row) => [row.method, callsOf(row)]),
  );
  const wanted = filter.value.trim().toLowerCase();
  const rows = status.methods.filter((/** @type {any} */ { method }) =>
    method.toLowerCase().includes(wanted)
  );
  tables.methods.show(rows.map((/** @type {any} */ row) => ({
    ...row,
    perSecond: seconds > 0 ? (callsOf(row) - (before.get(row.method) ?? 0)) / seconds : 0,
  })));
}

/** @param {any} status */
function showPassed({ passed, atMs }) {
  const [first] = snapshots;
  const seconds = (atMs - first.atMs) / 1_000;
  const rows = Object.entries(passed).filter(([, calls]) => calls > 0).map(([reason, calls]) => ({
    reason,
    calls,
    perSecond: seconds > 0 ? (calls - first.passed[reason]) / seconds : 0,
  }));
  tables.passed.show(rows.sort((a, b) => b.calls - a.calls));
}

/** @param {any} status */
function showNotes(status) {
  const notes = notesOf(status, config);
  byId("notes").hidden = notes.length === 0;
  const list = byId("notes-list");
  const shown = [...list.children].map((item) => item.textContent);
  if (shown.join("\n") === notes.join("\n")) return;
  list.replaceChildren(...notes.map((note) => make("li", "", {}, note)));
}

function showConfig() {
  if (config === undefined) return;
  const { settings, rule, commit, deno, version, canPurge } = config;
  byId("token-field").hidden = !canPurge;
  const differs = (/** @type {any} */ { origin }) => origin !== "default";
  tables.config.show(showsDefaults.checked ? settings : settings.filter(differs));
  write("rule", rule);
  write("build", `collapser ${version} (commit ${commit}) on Deno ${deno}`);
}

/** @param {"live" | "lost"} state @param {string} words */
function connectionIs(state, words) {
  set(byId("connection"), "data-state", state);
  write("connection-words", words);
  document.body.classList.toggle("stale", state === "lost");
}

/** @param {string} id @param {string} text */
function write(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} id */
function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no #${id}`);
  return element;
}
