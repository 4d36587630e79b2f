// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all functions under the picture.

import { h } from './dom.js';
import { amount, change, count, interval, listName, measureOf, percent, signedAmount } from './format.js';
import { ASKS_FOR_MORE, INTERRUPT_WORDS, leavesOutZero, stateText } from './inspector.js';
import { INTERRUPTS, ORIGINS } from './symbols.js';
import { Grid } from './table.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./table.js').Column} Column */

/** The verdicts, proven ones first: how the list is sorted until somebody sorts it. */
/** @type {Record<string, number>} */
const RANK = { new: 2, gone: 2, more: 2, less: 2, moved: 1, unproven: 0, same: 0 };
const ORIGIN_NAMES = ['user', 'library', 'system', 'interrupts', 'unknown'];
const STATES = ['more', 'less', 'new', 'gone', 'moved', 'unproven', 'same'];

/** @param {number[]} pair */
function difference(pair) {
  return pair[1] - pair[0];
}

/** What runs in interrupts, too, stands in the list twice. @param {Func} f */
const titleOf = (f) => (f.origin === INTERRUPTS ? `${f.name} (interrupt)` : f.name);

/** @type {Column[]} */
const NAMES = [
  {
    id: 'name',
    title: 'function',
    left: true,
    width: 'minmax(12em,1fr)',
    text: (r) => (r.f.origin === INTERRUPTS ? `${listName(r.f.name)} (interrupt)` : listName(r.f.name)),
    full: (r) => titleOf(r.f),
    value: (r) => titleOf(r.f),
  },
  { id: 'module', title: 'module', left: true, width: '6.5em', text: (r) => r.f.module, value: (r) => r.f.module },
];

/** @param {Model} model @returns {Column[]} */
function singleColumns(model) {
  /** @param {'self'|'total'} id @returns {Column[]} */
  const pair = (id) => [
    { id, title: id, width: '6em', text: (r) => amount(r[id][1], model.unit), value: (r) => r[id][1] },
    {
      id: `${id}-share`,
      title: `${id} %`,
      width: '5em',
      text: (r) => percent(r[id][1], model.totals()[1]),
      value: (r) => r[id][1],
    },
  ];
  return [...NAMES, ...pair('self'), ...pair('total')];
}

/** @param {Model} model @param {any} r */
function intervalOf(model, r) {
  if (model.filtered || r.e?.low == null) return '–';
  return interval(r.e.low, r.e.high, model.unit);
}

/** A verdict in full. @param {Model} model @param {any} r */
function verdictText(model, r) {
  if (!model.shownMetric.tested) return '';
  if (r.f.origin === INTERRUPTS) return INTERRUPT_WORDS;
  if (r.e?.state === 'unproven' && r.e.low != null && leavesOutZero(r.e.low, r.e.high)) return ASKS_FOR_MORE;
  return stateText(r.e?.state || '', measureOf(model.shownMetric));
}

/** Interrupts are the last: nothing of them is proven. @param {any} r */
function rankOf(r) {
  return r.f.origin === INTERRUPTS ? -1 : RANK[r.e?.state] || 0;
}

/** How much of base the difference is, and how sure. @param {Model} model @returns {Column[]} */
function provenColumns(model) {
  return [
    {
      id: 'percent',
      title: 'change',
      hint: 'head against base',
      width: '5em',
      text: (r) => change(r.total[0], r.total[1]),
      value: (r) => (r.total[0] ? Math.abs(r.total[1] / r.total[0] - 1) : Infinity),
    },
    {
      id: 'interval',
      title: '95 % interval of Δ',
      hint: 'of the difference in total; tested without filters, over the whole recordings',
      width: '9.6em',
      text: (r) => intervalOf(model, r),
      value: (r) => r.e?.low ?? -Infinity,
    },
    {
      id: 'state',
      title: 'verdict',
      hint: 'proven changes first, the largest on top',
      left: true,
      width: '5.2em',
      text: (r) => (model.shownMetric.tested && r.f.origin !== INTERRUPTS ? r.e?.state || '' : '–'),
      full: (r) => verdictText(model, r),
      value: (r) => rankOf(r) * 1e18 + Math.abs(difference(r.total)),
      className: (r) => `s-${r.e?.state}`,
    },
  ];
}

/** @param {Model} model @returns {Column[]} */
function diffColumns(model) {
  /** @param {number} side */
  const share = (side) => (/** @type {any} */ r) =>
    `${amount(r.total[side], model.unit)}, ${percent(r.total[side], model.totals()[side])} of ${side ? 'head' : 'base'}`;
  return [
    ...NAMES,
    {
      id: 'base',
      title: 'base',
      hint: `total ${measureOf(model.shownMetric)} in base`,
      width: '4.4em',
      text: (r) => amount(r.total[0], model.unit),
      full: share(0),
      value: (r) => r.total[0],
    },
    {
      id: 'head',
      title: 'head',
      hint: `total ${measureOf(model.shownMetric)} in head, scaled`,
      width: '4.4em',
      text: (r) => amount(r.total[1], model.unit),
      full: share(1),
      value: (r) => r.total[1],
    },
    {
      id: 'self',
      title: 'Δ self',
      width: '5em',
      text: (r) => signedAmount(difference(r.self), model.unit),
      value: (r) => Math.abs(difference(r.self)),
    },
    {
      id: 'delta',
      title: 'Δ total',
      width: '5em',
      text: (r) => signedAmount(difference(r.total), model.unit),
      value: (r) => Math.abs(difference(r.total)),
    },
    ...provenColumns(model),
  ];
}

export class FunctionList {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = h('section.functions', { 'aria-label': 'Functions' });
    /** @type {Grid|null} made when it is filled for the first time */ this.grid = null;
  }

  /** The list's own controls, and the grid. */
  make() {
    const { app } = this;
    const two = app.model.sides === 2;
    const refill = () => this.fill();
    this.text = h('input', {
      type: 'search',
      placeholder: 'filter functions',
      'aria-label': 'Filter functions',
      oninput: refill,
    });
    const choice = (/** @type {string} */ what, /** @type {string[]} */ list) =>
      h(
        'select',
        { 'aria-label': `Filter by ${what}`, onchange: refill },
        h('option', { value: '' }, `every ${what}`),
        ...list.map((s) => h('option', { value: s }, s)),
      );
    this.origin = choice(
      'origin',
      ORIGIN_NAMES.filter((name) => name !== ORIGINS[INTERRUPTS] || app.model.hasInterrupts),
    );
    this.state = choice('verdict', STATES);
    this.count = h('span.dim', { 'aria-live': 'polite' });
    const host = h(two ? 'div.grid.two' : 'div.grid', { 'aria-label': 'Functions' });
    const grid = new Grid(host, (row) => app.pickFunction(row.f.id));
    grid.setColumns(two ? diffColumns(app.model) : singleColumns(app.model), two ? 'state' : 'self');
    this.element.append(h('div.bar', {}, h('h3', {}, 'Functions'), this.text, this.origin, two && this.state, this.count), host);
    return grid;
  }

  fill() {
    const { model, state } = this.app;
    const grid = (this.grid ||= this.make());
    const text = this.text.value.toLowerCase();
    const wanted = this.state.value;
    const origin = ORIGINS.indexOf(this.origin.value);
    const selected = model.selected > 0 ? model.tree.func[model.selected] : null;
    if (!model.isNew('list', model.sums, model.tree, text, wanted, origin, state.origins)) {
      grid.select(selected);
      return;
    }
    const { self, total } = model.sums;
    const rows = [];
    for (const f of model.functions) {
      const totals = [total[0][f.id], total[1][f.id] * model.factor];
      if (!totals[0] && !totals[1]) continue;
      if (text && !f.name.toLowerCase().includes(text) && !f.module.toLowerCase().includes(text)) continue;
      const e = f.total;
      if (wanted && (e?.state !== wanted || f.origin === INTERRUPTS)) continue;
      if (origin >= 0 && f.origin !== origin) continue;
      if (state.origins && !state.origins.includes(String(f.origin))) continue;
      rows.push({ f, e, total: totals, self: [self[0][f.id], self[1][f.id] * model.factor] });
    }
    this.count.textContent = `${count(rows.length)} of ${count(model.functions.length)}`;
    grid.setRows(rows, selected);
  }
}
