// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a history: its overview, and the diff of both sides of one point at a time as a report of its own. The
// address says which point is open.

import { pointName, readAddress, writeAddress } from './address.js';
import { h } from '../common/dom.js';
import { count } from '../common/format.js';
import { factOf, keyed, lineOf, nameOf } from './lines.js';
import { Overview } from './overview.js';
import { Parts } from '../app/parts.js';
import { openPoints, rowsOf, sinceText } from './rows.js';
import { sparkline } from './sparkline.js';
import { button } from '../common/widgets.js';

/** @typedef {import('./address.js').Shown} Shown */
/** @typedef {import('../data/history.js').HistoryTable} HistoryTable */
/** @typedef {import('./rows.js').Row} Row */

/** @type {[string, string][]} */
const KEYS = [
  ['a', 'back to the history'],
  ['[ ]', 'the point before in time, the next one'],
];

export class History {
  /** @param {HTMLElement} root @param {HistoryTable} table */
  constructor(root, table) {
    this.table = table;
    this.overview = new Overview(table, {
      set: (change, isStep) => this.#set(change, isStep),
      open: (point, of) => this.#go(this.#at(point, of)),
      hrefOf: (point, of) => `#${writeAddress(this.#at(point, of), table)}`,
      switchTheme: () => this.parts.switchTheme(),
    });
    /** @type {Shown} */ this.shown = readAddress(location.hash, table);
    /** The point that is open; -1: none. */ this.open = -1;
    this.parts = new Parts(root, this.overview, { bar: 'History', tools: 'Point' });
    // These come before those of a report, which is taken off the page when another one is to be shown.
    window.addEventListener('popstate', () => this.#addressChanged());
    window.addEventListener('hashchange', () => this.#addressChanged());
    document.addEventListener('keydown', (event) => this.#key(event));
    this.#show();
  }

  get series() {
    return this.table.series[this.shown.series];
  }

  /** What is shown when a point is open. @param {number} point @param {string} of @returns {Shown} */
  #at(point, of) {
    return { ...this.shown, since: pointName(this.series, point), of };
  }

  /** What is shown when none is open. @returns {Shown} */
  get #closed() {
    return { ...this.shown, since: '', of: '' };
  }

  /** @param {Shown} shown */
  #go(shown) {
    location.hash = writeAddress(shown, this.table);
  }

  /** Changes what the overview shows. @param {Partial<Shown>} change @param {boolean} [isStep] of the window's history */
  #set(change, isStep = false) {
    const shown = { ...this.shown, ...change };
    if (isStep) {
      this.#go(shown);
      return;
    }
    this.shown = shown;
    history.replaceState(null, '', `#${writeAddress(shown, this.table)}`);
    this.overview.show(shown);
  }

  /** Shows what the address says, where that is not shown already. */
  #addressChanged() {
    const said = readAddress(location.hash, this.table);
    // While a point is open, the address says nothing of the chart, which stays as it was.
    const { of, series, since } = said;
    const before = this.shown;
    const isSame = this.open >= 0 && since === before.since && of === before.of && series === before.series;
    if (isSame) return;
    this.shown = since ? { ...before, ...(series === before.series ? {} : { added: [] }), of, series, since } : said;
    this.#show(before);
  }

  /** Shows the point that is meant, or the overview. @param {Shown} [before] what was shown */
  #show(before) {
    const { since } = this.shown;
    const point = this.#pointOf(since);
    if (point >= 0) {
      this.#showReport(point);
      return;
    }
    if (this.open >= 0 || !before) this.#showOverview(before);
    else this.overview.show(this.shown);
    if (since) this.overview.sayMissing(since);
  }

  /** The point behind which a profile is the first, if it can be opened; else -1. @param {string} since */
  #pointOf(since) {
    const points = this.series?.points || [];
    return since ? points.findIndex(({ part }, i) => part !== null && pointName(this.series, i) === since) : -1;
  }

  /** @param {Shown} [before] what was open */
  #showOverview(before) {
    const { open, overview } = this;
    this.open = -1;
    overview.show(this.shown);
    this.parts.showFirst(`${overview.title} – Kelvin`);
    if (open < 0 || !before) return;
    if (before.series === this.shown.series) overview.reveal(open, before.of);
    // Keys go on where they were.
    overview.list.grid.body.focus({ preventScroll: true });
  }

  /** @param {number} point */
  #showReport(point) {
    const { series, shown } = this;
    const { part } = series.points[point];
    if (part === null) return;
    this.open = point;
    const row = this.#rowOf(point);
    const name = row ? `${row.f.name} since ${row.since}` : `since ${sinceText(series, series.points[point].at)}`;
    const of = keyed(series, shown.of);
    const func = of && of.func !== null ? series.functions[of.func] : undefined;
    const first = func && { name: func.shown, module: func.module };
    this.parts.showPart(part, this.#bar(point, row), { kept: writeAddress(shown, this.table), name, keys: KEYS, first });
  }

  /** The change that is open, where it is one. @param {number} point @returns {Row|undefined} */
  #rowOf(point) {
    return rowsOf(this.series).find((row) => row.point === point && row.line === this.shown.of);
  }

  /** What stands above a report: what it is of, and the ways to others. @param {number} point @param {Row|undefined} row */
  #bar(point, row) {
    const { series } = this;
    const { at } = series.points[point];
    const fact = factOf(series.points[point]);
    const steps = openPoints(series);
    const since = h('span', {}, h('span.dim', {}, 'since '), `${sinceText(series, at)}`);
    const place = `${count(steps.indexOf(point) + 1)} of ${count(steps.length)}`;
    const back = `#${writeAddress(this.#closed, this.table)}`;
    return [
      h('a.entry.back', { href: back, title: 'the chart and the list of changes (a)' }, '‹ History'),
      ...(row ? this.#change(row) : [h('b', { title: fact }, fact || 'a change')]),
      since,
      ...(row && fact ? [h('span.dim', {}, fact)] : []),
      h('span.steps', {}, this.#step(point, -1), h('span.dim', {}, place), this.#step(point, 1)),
    ];
  }

  /** A change in the bar. @param {Row} row @returns {Node[]} */
  #change(row) {
    const { func, isSelf } = keyed(this.series, row.line) || { func: null, isSelf: false };
    const name = h('b', { title: nameOf(this.series, func) }, h('bdi', {}, row.f.name));
    const state = row.state && h('span', { className: `badge ${row.state}` }, row.state);
    const figures = h('span.figures', {}, `${row.values}, ${row.delta}${row.interval && ` (${row.interval})`}`);
    return [...(state ? [state] : []), name, figures, sparkline(lineOf(this.series, func, isSelf))];
  }

  /** The point before or after another one that can be opened; -1: there is none. @param {number} point @param {number} by */
  #beside(point, by) {
    const steps = openPoints(this.series);
    return steps[steps.indexOf(point) + by] ?? -1;
  }

  /** @param {number} point @param {number} by */
  #step(point, by) {
    const beside = this.#beside(point, by);
    const label = by < 0 ? 'the point before in time ([)' : 'the next point in time (])';
    const props = { title: label, 'aria-label': label, disabled: beside < 0, onclick: () => this.#openBeside(by) };
    return button('button', props, by < 0 ? '‹' : '›');
  }

  /** @param {number} by */
  #openBeside(by) {
    const beside = this.#beside(this.open, by);
    if (beside >= 0) this.#go(this.#at(beside, ''));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.open < 0) {
      this.overview.onKey(event);
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog, .menu')) return;
    if (event.key === 'a') this.#go(this.#closed);
    else if (event.key === '[') this.#openBeside(-1);
    else if (event.key === ']') this.#openBeside(1);
    else return;
    event.preventDefault();
  }
}
