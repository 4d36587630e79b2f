// SPDX-License-Identifier: GPL-3.0-or-later
// A grid that keeps only the visible rows in the page. Rows are about functions, which select marks.

import { h } from './dom.js';
import { fitting } from './fitting.js';
import { isMenuKey } from './menu.js';
import { roving } from './toolbar.js';

/** How high a row is for a mouse, and for a finger, in pixels. */
const ROW_HEIGHT = 24;
const FINGER_HEIGHT = 44;
/** How wide a text that may be cut off is at most, and to what it is cut off at least, in em. */
const WIDEST_TEXT = 14;
const LEAST_TEXT = 8;

/**
 * What rows are sorted by; of two lists the first numbers that differ decide.
 * @typedef {number|string|number[]} Value
 */

/** Which of two values is less: below 0 the first one. @param {Value} a @param {Value} b */
export function compareValues(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((part, i) => part !== b[i]);
    return at < 0 ? 0 : a[at] - b[at];
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The classes of a cell. @param {boolean|undefined} left whether its text begins at the left */
const cellClass = (left) => `cell ${left ? 'text' : ''}`;

/** A row of any grid: `f` is the function that it is about. @typedef {{f: {id: number, name: string}}} Row */

/**
 * @template {Row} R
 * @typedef {object} Column
 * @property {string} id
 * @property {string} title
 * @property {() => Node} [head] what stands above the column in place of its title
 * @property {string} [hint]
 * @property {boolean} [left]
 * @property {string} [width] a track of the grid; where it is missing, the column is as wide as its content
 * @property {number} [rank] where not all columns have room, that with the greatest goes first; without one it stays
 * @property {number} [most] of a text, how wide it needs to be at most, in em; it takes what others leave
 * @property {(row: R) => string} text
 * @property {(row: R) => string} [full] more than fits, for the tooltip
 * @property {(row: R) => Value} value what it is sorted by
 * @property {(row: R) => number} [bar] the part of the cell that a bar below the text takes, up to 1
 * @property {(row: R) => string} [className]
 * @property {(row: R) => Node} [node] what stands in the cell in place of the text
 */

/** @type {CanvasRenderingContext2D|null} */
let ruler = null;

/** How wide a text is, in pixels. @param {string} text @param {string} font */
function widthOf(text, font) {
  ruler ||= h('canvas').getContext('2d');
  if (!ruler) return text.length * 8;
  ruler.font = font;
  // All digits of the list are as wide as this one.
  return Math.ceil(ruler.measureText(text.replace(/\d/g, '0')).width) + 1;
}

/**
 * How wide the widest text of a column is, in pixels.
 * @template {Row} R
 * @param {Column<R>} column @param {R[]} rows @param {string} font
 */
const widestOf = ({ text }, rows, font) => rows.reduce((most, row) => Math.max(most, widthOf(text(row), font)), 0);

/** @template {Row} R */
export class Grid {
  /**
   * @param {HTMLElement} root @param {(row: R) => void} onSelect
   * @param {(row: R, place: {x: number, y: number}) => void} onMenu opens the menu of a row
   */
  constructor(root, onSelect, onMenu) {
    this.root = root;
    this.rowHeight = matchMedia('(pointer: coarse)').matches ? FINGER_HEIGHT : ROW_HEIGHT;
    this.onSelect = onSelect;
    this.onMenu = onMenu;
    /** @type {((row: R) => void)|null} opens a row that is clicked, or selected when Enter is pressed */
    this.onOpen = null;
    /** @type {Column<R>[]} */ this.columns = [];
    /** @type {R[]} */ this.rows = [];
    this.sortBy = '';
    this.descending = true;
    /** @type {number|null} id of a function */ this.selected = null;
    /** The row that the arrow keys start from. */ this.active = 0;
    /** The rows that stand in the page. */
    this.painted = { rows: /** @type {R[]} */ ([]), first: 0, last: 0 };
    /** @type {boolean[]} which columns have room */ this.shown = [];
    /** @type {number[]} how wide the content of each column was so far, in pixels */ this.natural = [];
    /** The font that it was measured in. */ this.font = '';
    /** @type {(hidden: number) => void} told how many columns have no room when that changes */
    this.onFit = () => {};
    const id = root.getAttribute('aria-label') || '';
    this.head = roving(h('div.grid-head', { role: 'row', id: `${id}-titles`, 'aria-rowindex': 1 }));
    this.space = h('div.grid-space', { role: 'presentation' });
    const listeners = { onscroll: () => this.paint(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e) };
    // What scrolls has the focus, so that it is the grid; the titles stand above it.
    const grid = { tabIndex: 0, role: 'grid', 'aria-label': id, 'aria-owns': this.head.id, ...listeners };
    this.body = h('div.grid-body', grid, this.space);
    root.removeAttribute('aria-label');
    root.style.setProperty('--row', `${this.rowHeight}px`);
    root.append(this.head, this.body);
    new ResizeObserver(() => this.paint()).observe(this.body);
  }

  /** @param {Column<R>[]} columns @param {string} sortBy the column that sorts until somebody chooses one */
  setColumns(columns, sortBy) {
    this.columns = columns;
    if (!columns.some((c) => c.id === this.sortBy)) this.sortBy = sortBy;
    this.font = '';
    this.shown = columns.map(() => true);
    this.#showColumns();
  }

  /** Shows the columns that have room. */
  #showColumns() {
    const columns = this.#visible;
    this.head.replaceChildren(...columns.map((column) => this.#title(column)));
    this.#markSorted();
    this.painted.last = -1;
  }

  get #visible() {
    return this.columns.filter((_, i) => this.shown[i]);
  }

  /** Makes columns wide enough for rows, and takes away those that have no room then. @param {R[]} rows */
  #fit(rows) {
    const { columns, body } = this;
    const { columnGap, font, fontFamily, fontSize, paddingLeft } = getComputedStyle(this.head);
    const [em, gap, padding] = [fontSize, columnGap, paddingLeft].map((text) => parseFloat(text) || 0);
    const room = body.clientWidth - 2 * padding;
    if (room <= 0) return;
    if (font !== this.font) {
      this.font = font;
      this.natural = columns.map(({ title }) => widthOf(`${title} ↓`, `${fontSize} ${fontFamily}`));
    }
    const bold = `600 ${fontSize} ${fontFamily}`;
    columns.forEach((column, i) => {
      if (!column.width) this.natural[i] = Math.max(this.natural[i], widestOf(column, rows, bold));
    });
    const measured = columns.map(({ left, most = WIDEST_TEXT, width, rank = 0 }, i) => {
      const natural = width ? LEAST_TEXT * em : left ? Math.min(this.natural[i], most * em) : this.natural[i];
      return { natural, least: left ? Math.min(natural, LEAST_TEXT * em) : natural, rank };
    });
    this.#showFitting(fitting(measured, room, gap));
    const tracks = columns.map(({ left, most, width }, i) => {
      const { least, natural } = measured[i];
      return width || (left ? `minmax(${least}px,${most ? '1fr' : `${natural}px`})` : `${natural}px`);
    });
    this.root.style.setProperty('--columns', tracks.filter((_, i) => this.shown[i]).join(' '));
  }

  /** @param {boolean[]} shown whether each column is shown */
  #showFitting(shown) {
    if (shown.every((is, i) => is === this.shown[i])) return;
    this.shown = shown;
    this.#showColumns();
    this.onFit(shown.filter((is) => !is).length);
  }

  /** The title of a column, which sorts by it. @param {Column<R>} column */
  #title({ id, left, title, head, hint }) {
    const onclick = () => {
      this.descending = this.sortBy === id ? !this.descending : !left;
      this.sortBy = id;
      this.sort();
    };
    const onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      onclick();
      event.preventDefault();
      event.stopPropagation();
    };
    const props = { className: cellClass(left), role: 'columnheader', ...(hint && { title: hint }), onclick, onkeydown };
    return h('div', { ...props, ...(head && { 'aria-label': title }) }, head ? head() : title);
  }

  /** @param {R[]} rows @param {number|null} selected id of a function */
  setRows(rows, selected) {
    this.rows = rows;
    this.selected = null;
    this.#order();
    this.select(selected);
  }

  sort() {
    this.#order();
    this.paint();
  }

  #order() {
    const column = this.columns.find((c) => c.id === this.sortBy) || this.columns[0];
    if (!column) return;
    const sign = this.descending ? -1 : 1;
    const keyed = this.rows.map((row) => ({ row, value: column.value(row) }));
    keyed.sort((a, b) => sign * compareValues(a.value, b.value) || (a.row.f.name < b.row.f.name ? -1 : 1));
    this.rows = keyed.map(({ row }) => row);
    this.#markSorted();
    this.body.setAttribute('aria-rowcount', String(this.rows.length + 1));
    this.space.style.height = `${this.rows.length * this.rowHeight}px`;
  }

  #markSorted() {
    const direction = this.descending ? 'descending' : 'ascending';
    this.#visible.forEach(({ id }, i) => this.head.children[i].setAttribute('aria-sort', id === this.sortBy ? direction : 'none'));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = this.rows[this.active];
    if (isMenuKey(event) && row) {
      const { left, bottom } = (this.space.querySelector('.selected') || this.body).getBoundingClientRect();
      event.preventDefault();
      event.stopPropagation();
      this.#menuOf(row, { x: left, y: bottom });
      return;
    }
    if (event.key === 'Enter' && row && this.onOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.onOpen(row);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!step || !this.rows.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + step));
    const top = this.active * this.rowHeight;
    if (top < this.body.scrollTop) this.body.scrollTop = top;
    if (top + this.rowHeight > this.body.scrollTop + this.body.clientHeight)
      this.body.scrollTop = top + this.rowHeight - this.body.clientHeight;
    this.onSelect(this.rows[this.active]);
  }

  /** Marks the row of a function, and brings it into view when the function has changed. @param {number|null} id */
  select(id) {
    if (id !== this.selected) this.#reveal(id);
    this.selected = id;
    this.paint();
  }

  /** @param {number|null} id */
  #reveal(id) {
    const at = id === null ? -1 : this.rows.findIndex((row) => row.f.id === id);
    if (at < 0) return;
    this.active = at;
    const { scrollTop, clientHeight } = this.body;
    const top = at * this.rowHeight;
    if (top < scrollTop || top + this.rowHeight > scrollTop + clientHeight)
      this.body.scrollTop = Math.max(0, top - Math.floor(clientHeight / 3));
  }

  /** Makes the visible rows; the ones that stand in the page already are only marked again. */
  paint() {
    const first = Math.max(0, Math.floor(this.body.scrollTop / this.rowHeight) - 4);
    const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / this.rowHeight) + 4);
    this.#fit(this.rows.slice(first, last));
    if (this.painted.rows !== this.rows || this.painted.first !== first || this.painted.last !== last) {
      this.painted = { rows: this.rows, first, last };
      const out = [];
      for (let i = first; i < last; i++) out.push(this.#line(i));
      this.space.replaceChildren(...out);
    }
    for (let i = first; i < last; i++) this.#mark(this.space.children[i - first], this.rows[i]);
  }

  /** Opens the menu of a row. @param {R} row @param {{x: number, y: number}} place */
  #menuOf(row, place) {
    this.onSelect(row);
    this.onMenu(row, place);
  }

  /** Marks a row where it is about the selected function. @param {Element} line @param {R} row */
  #mark(line, row) {
    const selected = row.f.id === this.selected;
    line.classList.toggle('selected', selected);
    line.setAttribute('aria-selected', String(selected));
    if (selected) this.body.setAttribute('aria-activedescendant', line.id);
  }

  /** @param {Column<R>} column @param {R} row */
  #cell({ id, left, className, text, full, bar, node }, row) {
    const shown = text(row);
    const title = full ? full(row) : left && shown;
    const classes = `${cellClass(left)} ${bar ? 'barred' : ''} ${className?.(row) || ''}`;
    const props = { className: classes, role: 'gridcell', 'data-column': id, ...(title && { title }) };
    const cell = h('span', props, node ? node(row) : shown);
    if (bar) cell.style.setProperty('--bar', String(Math.min(1, bar(row)) || 0));
    return cell;
  }

  /** @param {number} i */
  #line(i) {
    const row = this.rows[i];
    const cells = this.#visible.map((column) => this.#cell(column, row));
    const onclick = () => {
      this.active = i;
      this.onSelect(row);
      this.onOpen?.(row);
    };
    const oncontextmenu = (/** @type {MouseEvent} */ e) => {
      e.preventDefault();
      this.active = i;
      this.#menuOf(row, { x: e.clientX, y: e.clientY });
    };
    const place = { id: `${this.head.id}-${i}`, 'aria-rowindex': i + 2 };
    const line = h('div.grid-row', { role: 'row', ...place, onclick, oncontextmenu }, ...cells);
    line.style.top = `${i * this.rowHeight}px`;
    return line;
  }
}
