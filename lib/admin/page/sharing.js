import { count, NONE, percent, rate, time } from "./format.js";
import { make, Table } from "./tables.js";

/** Rows shown until somebody wants all. */
const FIRST_METHODS = 10;

/** How long a button says that it has copied. */
const COPIED_MS = 3_000;

/** What a mode means for who calls. */
const MODES = {
  off: "off: nothing is shared",
  shadow: "shadow: callers have their own answers, nothing is shared yet",
  verify: "verify: answers are shared, and a sample is asked once more",
  collapse: "collapse: answers are shared",
};

/** What a method that verify has taken out is marked with. @param {any} row */
export function badgeOf({ off }) {
  return off ? "taken out by verify" : "";
}

/** In what callers differed whose answers did, by name. @param {any} row */
export function offWords({ off }) {
  return off.length === 0
    ? "Answers depend on who asks, though no metadata differed."
    : `Answers depend on who asks: callers differed in ${off.join(", ")}.`;
}

/** What sharing saves, or would save, method by method; and what a person can do about it. */
export class Sharing {
  /** @type {Table<any>} */ #table;
  /** @type {HTMLElement} */ #said;
  /** @type {HTMLInputElement} */ #token;
  /** @type {any[]} */ #report = [];
  /** @type {any[]} */ #methods = [];
  #copied = "";
  #isAsking = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #forget;
  /** @type {() => void} */ #changed;

  /**
   * @param {{ table: HTMLElement, said: HTMLElement, token: HTMLInputElement, changed: () => void }} parts `said` has
   * what came of a click; `changed` is called when a method was put back.
   */
  constructor({ table, said, token, changed }) {
    this.#said = said;
    this.#token = token;
    this.#changed = changed;
    this.#table = this.#makeTable(table);
    token.addEventListener("input", () => this.#show());
  }

  /** @param {any} report What `/api/report` says. */
  showReport({ methods }) {
    this.#report = methods;
    this.#show();
  }

  /** @param {any} status What is in force now: mode and badge are not to be late. */
  showStatus({ methods }) {
    this.#methods = methods;
    this.#show();
  }

  #show() {
    const now = new Map(this.#methods.map((row) => [row.method, row]));
    this.#table.show(this.#report.map((row) => {
      const { mode, off } = now.get(row.method) ?? {};
      return { ...row, mode: mode ?? row.mode, off: off ?? null };
    }));
  }

  /** @param {HTMLElement} into @returns {Table<any>} */
  #makeTable(into) {
    return new Table(into, {
      caption: "Methods: what sharing saves or would save, how that was found, and what to do",
      key: ({ method }) => method,
      empty: "No method has shared an answer yet, or was in shadow.",
      noun: "methods",
      sort: 1,
      limit: FIRST_METHODS,
      columns: [
        {
          label: "Method",
          code: true,
          text: ({ method }) => method,
          badge: badgeOf,
          note: (row) => row.off ? offWords(row) : modeWords(row),
          action: (row) => this.#putBackOf(row),
        },
        {
          label: "Calls",
          number: true,
          text: ({ calls }) => count(calls),
          by: ({ calls }) => calls,
        },
        {
          label: "Saved",
          hint: "Share of its calls that cost the backend nothing, or would",
          number: true,
          text: savedWords,
          by: ({ share }) => share,
          share: ({ share }) => share,
        },
        {
          label: "Backend",
          hint: "Backend calls and seconds, each second, that sharing saves or would save",
          number: true,
          text: ({ savedCallsPerS }) => `${rate(savedCallsPerS)} calls/s`,
          by: ({ savedCallsPerS }) => savedCallsPerS,
          note: ({ savedSecondsPerS }) => `${rate(savedSecondsPerS)} s/s`,
        },
        {
          label: "Callers wait",
          hint: "On average: without sharing, and with it",
          number: true,
          text: ({ waitNowMs, waitThenMs }) => `${time(waitNowMs)} → ${time(waitThenMs)}`,
          by: ({ waitNowMs, waitThenMs }) => waitNowMs - waitThenMs,
        },
        {
          label: "Keys",
          hint: "Different questions, and most calls with one answer",
          number: true,
          text: ({ keys }) => keys === null ? NONE : count(keys),
          by: ({ keys }) => keys ?? 0,
          note: ({ largestGroup }) =>
            largestGroup === null ? "" : `largest group ${count(largestGroup)}`,
        },
        {
          label: "Compared",
          hint: "Shared answers set beside the caller's own",
          number: true,
          text: ({ compared }) => count(total(compared)),
          by: ({ compared }) => total(compared),
          mark: ({ compared }) => compared.mismatch > 0 ? "bad" : "",
          note: ({ compared }) => comparedWords(compared),
        },
        {
          label: "Kept apart by",
          hint: "Metadata that alone keeps equal calls apart",
          code: true,
          text: ({ keptApartBy }) => keptApartBy.join(", ") || NONE,
        },
        {
          label: "Advice",
          text: ({ recommendation }) => recommendation,
          note: ({ recommendation }) =>
            recommendation === "too early" ? "fewer than 1,000 calls, or less than an hour" : "",
          action: (row) => this.#copyOf(row),
        },
      ],
    });
  }

  /** @param {any} row */
  #copyOf({ method, policy }) {
    if (policy === undefined) return undefined;
    return {
      label: this.#copied === method ? "Copied" : "Copy policy",
      run: () => void this.#copy(method, `${JSON.stringify(policy, null, 2)}\n`),
    };
  }

  /** @param {string} method @param {string} text */
  async #copy(method, text) {
    if (!await copied(text)) {
      return this.#say("The browser lets no page copy here: the policy is in /api/report.");
    }
    this.#say(`Copied the policy of ${method}: it goes into the file that COLLAPSER_CONFIG names.`);
    this.#copied = method;
    clearTimeout(this.#forget);
    this.#forget = setTimeout(() => {
      this.#copied = "";
      this.#show();
    }, COPIED_MS);
    this.#show();
  }

  /** Only with a token: without one the call does not exist, or is refused. @param {any} row */
  #putBackOf({ method, off }) {
    if (!off || this.#token.value === "") return undefined;
    return { label: "Put back on trial", run: () => void this.#putBack(method) };
  }

  /** @param {string} method */
  async #putBack(method) {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const answer = await fetch(`api/methods/on?method=${encodeURIComponent(method)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${this.#token.value}` },
      });
      this.#say(answer.ok ? `${method} is on trial again.` : refusedWords(method, answer.status));
      if (answer.ok) this.#changed();
    } catch (error) {
      this.#say(`${method} was not put back: ${error}`);
    } finally {
      this.#isAsking = false;
    }
  }

  /** @param {string} words */
  #say(words) {
    this.#said.textContent = words;
  }
}

/** @param {any} row */
function modeWords({ mode }) {
  return MODES[/** @type {keyof typeof MODES} */ (mode)] ?? "";
}

/** In shadow nothing is saved yet, and of a method that is out or off nothing any more. @param {any} row */
function savedWords({ mode, off, share }) {
  if (mode === "shadow") return `would save ${percent(share)}`;
  return off || mode === "off" ? `saved ${percent(share)}` : `saves ${percent(share)}`;
}

/** @param {Record<string, number>} compared */
function comparedWords(compared) {
  return Object.entries(compared).filter(([, times]) => times > 0)
    .map(([result, times]) => `${count(times)} ${result}`).join(", ");
}

/** @param {Record<string, number>} compared */
function total(compared) {
  return Object.values(compared).reduce((all, times) => all + times, 0);
}

/** @param {string} method @param {number} status */
function refusedWords(method, status) {
  const why = {
    401: "the token is wrong",
    404: "it was not out any more",
    429: "too many tries, wait a little",
  }[status];
  return `${method} was not put back: ${why ?? `the sidecar answered ${status}`}.`;
}

/**
 * Puts a text on the clipboard. A page that came over plain HTTP from another machine has the old way alone.
 * @param {string} text
 */
async function copied(text) {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed: the old way may be.
    }
  }
  const focused = document.activeElement;
  const field = make("textarea", "unseen", { readonly: "", "aria-label": "Policy" });
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
