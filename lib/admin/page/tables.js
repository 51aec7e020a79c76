/**
 * Tables that are kept up to date: rows are found again by their key, and only text that changed is written, so that
 * neither focus nor selection is lost. Everything is set as text: nothing that a caller chose can become markup.
 */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} label
 * @property {string} [hint] What it means, where the label is too short to say.
 * @property {boolean} [number] Aligned by its digits; sorted from the highest down at first.
 * @property {(row: Row) => string} text
 * @property {(row: Row) => number | string} [by] What it is sorted by; its text when left out. Null: it is not sorted.
 * @property {(row: Row) => string} [note] A second line, of less weight.
 * @property {(row: Row) => string} [mark] A state, which colours the cell: good, warn, bad, quiet, or "".
 * @property {(row: Row) => number} [share] 0 to 1: drawn as a bar under the text.
 * @property {(row: Row) => string} [badge] A word that stands out beside the text, or "".
 * @property {(row: Row) => { label: string, run: () => void } | undefined} [action] A button under it all.
 * @property {boolean} [code] In the font of code.
 */

/**
 * @template Row
 * @typedef {object} TableOptions
 * @property {string} caption For those who do not see what stands around it.
 * @property {readonly Column<Row>[]} columns The first one names the row.
 * @property {(row: Row) => string} key
 * @property {string} empty What is said when there are no rows.
 * @property {number} [sort] The column it is sorted by at first; rows stay in their order when left out.
 * @property {number} [limit] Rows shown until somebody wants all.
 * @property {string} [noun] What the rows are, in the plural.
 */

/** @template Row */
export class Table {
  /** @type {TableOptions<Row>} */ #options;
  /** @type {number | undefined} */ #sort;
  #descending = true;
  #showsAll = false;
  /** @type {readonly Row[]} */ #rows = [];
  /** @type {Map<string, HTMLTableRowElement>} */ #known = new Map();
  /** @type {HTMLTableElement} */ #table;
  /** @type {HTMLTableSectionElement} */ #body;
  /** @type {HTMLParagraphElement} */ #empty;
  /** @type {HTMLButtonElement} */ #more;
  /** @type {HTMLTableCellElement[]} */ #heads = [];

  /** @param {HTMLElement} into @param {TableOptions<Row>} options */
  constructor(into, options) {
    this.#options = options;
    this.#sort = options.sort;
    this.#descending = options.sort === undefined || !!options.columns[options.sort]?.number;
    this.#table = make("table", "", { role: "table" });
    this.#table.append(make("caption", "hidden", {}, options.caption), this.#makeHead());
    this.#body = make("tbody", "", { role: "rowgroup" });
    this.#table.append(this.#body);
    this.#empty = make("p", "empty", {}, options.empty);
    this.#more = make("button", "more", { type: "button" });
    this.#more.addEventListener("click", () => {
      this.#showsAll = !this.#showsAll;
      this.#draw();
    });
    into.replaceChildren(this.#table, this.#empty, this.#more);
    this.#draw();
  }

  /** @param {readonly Row[]} rows */
  show(rows) {
    this.#rows = rows;
    this.#draw();
  }

  #makeHead() {
    const head = make("thead", "", { role: "rowgroup" });
    const row = make("tr", "", { role: "row" });
    this.#options.columns.forEach((column, index) => {
      const cell = make("th", column.number ? "number" : "", {
        scope: "col",
        role: "columnheader",
      });
      if (this.#sort === undefined) {
        cell.textContent = column.label;
      } else {
        const button = make("button", "sort", { type: "button" }, column.label);
        if (column.hint) button.title = column.hint;
        button.addEventListener("click", () => this.#sortBy(index));
        cell.append(button);
      }
      this.#heads.push(cell);
      row.append(cell);
    });
    head.append(row);
    return head;
  }

  /** @param {number} index */
  #sortBy(index) {
    const isSame = this.#sort === index;
    this.#descending = isSame ? !this.#descending : !!this.#options.columns[index]?.number;
    this.#sort = index;
    this.#draw();
  }

  #draw() {
    const { limit = Infinity, noun = "rows", key, columns } = this.#options;
    const sorted = this.#sorted();
    const shown = this.#showsAll ? sorted : sorted.slice(0, limit);
    const gone = new Set(this.#known.keys());
    let place = this.#body.firstElementChild;
    for (const row of shown) {
      const name = key(row);
      gone.delete(name);
      const element = this.#known.get(name) ?? this.#makeRow(name);
      if (element === place) place = place.nextElementSibling;
      else this.#body.insertBefore(element, place);
      columns.forEach((column, index) => fill(element.cells[index], column, row));
    }
    for (const name of gone) {
      this.#known.get(name)?.remove();
      this.#known.delete(name);
    }
    this.#heads.forEach((cell, index) => {
      if (this.#sort === undefined) return;
      const order = this.#descending ? "descending" : "ascending";
      set(cell, "aria-sort", index === this.#sort ? order : "none");
    });
    this.#table.hidden = shown.length === 0;
    this.#empty.hidden = shown.length > 0;
    this.#more.hidden = sorted.length <= limit;
    const words = this.#showsAll ? `Show ${limit}` : `Show all ${sorted.length} ${noun}`;
    if (this.#more.textContent !== words) this.#more.textContent = words;
    set(this.#more, "aria-expanded", String(this.#showsAll));
  }

  #sorted() {
    const column = this.#sort === undefined ? undefined : this.#options.columns[this.#sort];
    if (column === undefined) return this.#rows;
    const by = column.by ?? column.text;
    const sign = this.#descending ? -1 : 1;
    return [...this.#rows].sort((a, b) => {
      const [left, right] = [by(a), by(b)];
      return left < right ? -sign : left > right ? sign : 0;
    });
  }

  /** @param {string} name */
  #makeRow(name) {
    const row = make("tr", "", { role: "row" });
    this.#options.columns.forEach((column, index) => {
      const cell = index === 0
        ? make("th", "", { scope: "row", role: "rowheader" })
        : make("td", "", { role: "cell" });
      if (column.number) cell.classList.add("number");
      cell.dataset.label = column.label;
      cell.append(make("span", column.code ? "text code" : "text"));
      row.append(cell);
    });
    this.#known.set(name, row);
    return row;
  }
}

/**
 * @template Row
 * @param {HTMLTableCellElement | undefined} cell @param {Column<Row>} column @param {Row} row
 */
function fill(cell, { text, note, mark, share, badge, action }, row) {
  if (cell === undefined) return;
  const value = text(row);
  const span = cell.firstElementChild;
  if (span !== null && span.textContent !== value) span.textContent = value;
  if (mark !== undefined) set(cell, "data-mark", mark(row));
  if (badge !== undefined) fillBadge(cell, badge(row));
  if (note !== undefined) fillNote(cell, note(row));
  if (share !== undefined) fillBar(cell, share(row));
  if (action !== undefined) fillAction(cell, action(row));
}

/** @param {HTMLElement} cell @param {string} words */
function fillBadge(cell, words) {
  const badge = cell.querySelector(".badge");
  if (words === "") return badge?.remove();
  if (badge === null) cell.firstElementChild?.after(" ", make("span", "badge", {}, words));
  else if (badge.textContent !== words) badge.textContent = words;
}

/** What a button does by now: it stays, and so does the focus on it. @type {WeakMap<Element, () => void>} */
const runs = new WeakMap();

/** @param {HTMLElement} cell @param {{ label: string, run: () => void } | undefined} action */
function fillAction(cell, action) {
  let button = cell.querySelector(".action");
  if (action === undefined) return button?.remove();
  if (button === null) {
    const made = button = make("button", "action", { type: "button" });
    made.addEventListener("click", () => runs.get(made)?.());
    cell.append(made);
  }
  if (button.textContent !== action.label) button.textContent = action.label;
  runs.set(button, action.run);
}

/** @param {HTMLElement} cell @param {string} words */
function fillNote(cell, words) {
  let note = cell.querySelector(".note");
  if (note === null) cell.append(note = make("span", "note"));
  if (note.textContent !== words) note.textContent = words;
}

/** @param {HTMLElement} cell @param {number} share */
function fillBar(cell, share) {
  let bar = cell.querySelector(".bar");
  if (bar === null) {
    bar = make("span", "bar", { "aria-hidden": "true" });
    bar.append(make("span"));
    cell.append(bar);
  }
  const filled = /** @type {HTMLElement} */ (bar.firstElementChild);
  filled.style.width = `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%`;
}

/** @param {Element} element @param {string} name @param {string} value */
export function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {string} [classes] @param {Readonly<Record<string, string>>} [attributes]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, classes = "", attributes = {}, text = "") {
  const element = document.createElement(name);
  if (classes !== "") element.className = classes;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== "") element.textContent = text;
  return element;
}
