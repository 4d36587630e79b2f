// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a suite: its list of benchmarks, and one of them at a time as a report of its own. The address says which
// one is open.

import { addressOf, lineOf, measured, openedBy, stepFrom, stepsOf } from './benchmarks.js';
import { BenchmarkList } from './benchmarklist.js';
import { h } from '../common/dom.js';
import { count } from '../common/format.js';
import { Parts } from '../app/parts.js';
import { button } from '../common/widgets.js';

/** @typedef {import('./benchmarks.js').Benchmark} Benchmark */
/** @typedef {import('./benchmarks.js').SuiteTable} SuiteTable */

/**
 * What is open: a benchmark, all of them together (null), or the list (undefined).
 * @typedef {Benchmark|null|undefined} Open
 */

/** @type {[string, string][]} */
const KEYS = [
  ['a', 'back to the list of benchmarks'],
  ['[ ]', 'the previous changed benchmark, the next one'],
];

export class Suite {
  /** @param {HTMLElement} root @param {SuiteTable} table */
  constructor(root, table) {
    this.table = table;
    this.list = new BenchmarkList(table, {
      open: (benchmark) => this.#open(benchmark),
      switchTheme: () => this.parts.switchTheme(),
    });
    /** @type {Open} */ this.open = undefined;
    this.parts = new Parts(root, this.list, { bar: 'Benchmarks', tools: 'Benchmark' });
    // These come before those of a report, which is taken off the page when another one is to be shown.
    window.addEventListener('popstate', () => this.#addressChanged());
    window.addEventListener('hashchange', () => this.#addressChanged());
    document.addEventListener('keydown', (event) => this.#key(event));
    this.#showList();
    this.#addressChanged();
  }

  /** Goes to a benchmark, to all together (null), or to the list. @param {Open} open */
  #open(open) {
    location.hash = open === undefined ? '' : addressOf(open);
  }

  /** Shows what the address says, where that is not shown already. */
  #addressChanged() {
    const said = openedBy(location.hash);
    const open = typeof said === 'string' ? this.list.benchmarks.find(({ uri }) => uri === said) : said;
    const part = open ? open.part : open === null ? this.table.all : null;
    if (part !== null) {
      if (open !== this.open) this.#showReport(open || null, part);
      return;
    }
    if (this.open !== undefined) this.#showList();
    if (open) this.list.reveal(open);
    else if (typeof said === 'string') this.list.say(`There is no benchmark "${said}" in this page.`);
  }

  #showList() {
    const { list, open } = this;
    this.open = undefined;
    this.parts.showFirst(`Benchmarks: ${list.title} – Kelvin${this.table.sides === 2 ? ' diff' : ''}`);
    if (open) list.reveal(open);
    // Keys go on where they were.
    if (open !== undefined) list.grid.body.focus({ preventScroll: true });
  }

  /** @param {Benchmark|null} open @param {number} part */
  #showReport(open, part) {
    this.open = open;
    const name = open ? open.f.name : 'All benchmarks together';
    this.parts.showPart(part, this.#bar(), { kept: addressOf(open), name, keys: KEYS });
  }

  /** What stands above the report of a benchmark: what it is, and the ways to others. */
  #bar() {
    const { list, open, table } = this;
    const steps = stepsOf(list.listed);
    const at = open ? steps.indexOf(open) : -1;
    const changes = steps.length && table.sides === 2;
    const place = at >= 0 ? `${count(at + 1)} of ${count(steps.length)}` : count(steps.length);
    return [
      h('a.entry.back', { href: '#', title: 'the list of benchmarks (a)' }, '‹ Benchmarks'),
      ...this.#names(),
      h(
        'span.steps',
        {},
        this.#step(-1, '‹', `previous ${changes ? 'changed ' : ''}benchmark ([)`),
        h('span.dim', {}, `${place}${changes ? ' changed' : ''}`),
        this.#step(1, '›', `next ${changes ? 'changed ' : ''}benchmark (])`),
      ),
    ];
  }

  /** What is open. @returns {HTMLElement[]} */
  #names() {
    const { open, table } = this;
    if (!open) return [h('b', {}, 'All benchmarks together')];
    const name = h('b', { title: open.uri }, h('bdi', {}, open.f.name));
    const line = h('span.figures', {}, h('span.dim', {}, `${measured(table)} `), lineOf(open, table));
    return table.sides === 1 ? [name, line] : [h(`span.badge.v-${open.verdict}`, {}, open.verdict), name, line];
  }

  /** The benchmark before or after the open one, or null. @param {number} by */
  #beside(by) {
    const { listed } = this.list;
    return stepFrom(listed, stepsOf(listed), this.open || null, by);
  }

  /** @param {number} by @param {string} sign @param {string} title */
  #step(by, sign, title) {
    const beside = this.#beside(by);
    const props = { title: beside ? `${beside.f.name}: ${title}` : title, 'aria-label': title, disabled: !beside };
    return button('button', { ...props, onclick: () => beside && this.#open(beside) }, sign);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.open === undefined) {
      this.list.onKey(event);
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog, .menu')) return;
    const beside = event.key === '[' ? this.#beside(-1) : event.key === ']' ? this.#beside(1) : null;
    if (event.key === 'a') this.#open(undefined);
    else if (beside) this.#open(beside);
    else return;
    event.preventDefault();
  }
}
