// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all functions under the picture.

import { INTERRUPTS, ORIGINS } from './codes.js';
import { h } from './dom.js';
import { amount, change, count, interval, listName, measureOf, percent, signedAmount } from './format.js';
import { Memo } from './memo.js';
import { isProven, verdictOn } from './symbols.js';
import { Grid } from './table.js';
import { functionWords, INTERRUPT_WORDS, partText } from './verdict.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./symbols.js').Estimate} Estimate */
/** @typedef {import('./symbols.js').Func} Func */

/**
 * A function in the list: what was tested of it, and its time [base, head] under the filters, head scaled.
 * @typedef {object} FunctionRow
 * @property {Func} f
 * @property {Estimate|undefined} e what its verdict is about
 * @property {boolean} own whether that is its own time
 * @property {number[]} self
 * @property {number[]} total
 */

/** @typedef {import('./table.js').Column<FunctionRow>} FunctionColumn */

/** Proven verdicts come first in the list until somebody sorts it. @type {Record<string, number>} */
const RANK = { new: 2, gone: 2, more: 2, less: 2, moved: 1, unproven: 0, same: 0 };
const ORIGIN_NAMES = ['user', 'library', 'system', 'interrupts', 'unknown'];
const STATES = ['more', 'less', 'new', 'gone', 'moved', 'unproven', 'same'];

/** @param {number[]} pair [base, head] */
function difference(pair) {
  return pair[1] - pair[0];
}

/** The name of a function; one that also runs in interrupts stands in the list twice. @param {Func} f */
const titleOf = (f) => (f.origin === INTERRUPTS ? `${f.name} (interrupt)` : f.name);

/** @type {FunctionColumn[]} */
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

/** The columns of a report of one recording. @param {Model} model @returns {FunctionColumn[]} */
function singleColumns(model) {
  /** @param {'self'|'total'} id @returns {FunctionColumn[]} */
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

/** The interval of a difference. @param {Model} model @param {FunctionRow} r */
function intervalOf(model, { e }) {
  if (model.filtered || !e || e.low === null || e.high === null) return '–';
  return interval(e.low, e.high, model.unit);
}

/** A verdict in full. @param {Model} model @param {FunctionRow} r */
function verdictText(model, r) {
  if (!model.shownMetric.tested) return '';
  if (r.f.origin === INTERRUPTS) return INTERRUPT_WORDS;
  return r.e ? functionWords({ e: r.e, own: r.own }, measureOf(model.shownMetric)) : '';
}

/** A verdict in short, with what it is about. @param {FunctionRow} r */
function stateOf({ e, own }) {
  if (!e) return '';
  return isProven(e.state) ? `${e.state} ${partText(own)}` : e.state;
}

/**
 * The place of a verdict in the list. Interrupts come last, because nothing of them is proven.
 * @param {FunctionRow} r
 */
function rankOf(r) {
  return r.f.origin === INTERRUPTS ? -1 : RANK[r.e?.state || ''] || 0;
}

/**
 * The columns that tell how large a difference is beside base, and how sure.
 * @param {Model} model @returns {FunctionColumn[]}
 */
function provenColumns(model) {
  return [
    {
      id: 'percent',
      title: 'total',
      hint: 'total in head against base',
      width: '5em',
      text: (r) => change(r.total[0], r.total[1]),
      value: (r) => (r.total[0] ? Math.abs(r.total[1] / r.total[0] - 1) : Infinity),
    },
    {
      id: 'interval',
      title: '95 % interval of Δ',
      hint: 'of the Δ that the verdict is about; tested without filters, over the whole recordings',
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
      text: (r) => (model.shownMetric.tested && r.f.origin !== INTERRUPTS ? stateOf(r) : '–'),
      full: (r) => verdictText(model, r),
      value: (r) => rankOf(r) * 1e18 + Math.abs(difference(r.own ? r.self : r.total)),
      className: (r) => `s-${r.e?.state}`,
    },
  ];
}

/** The columns of a comparison. @param {Model} model @returns {FunctionColumn[]} */
function diffColumns(model) {
  /** @param {number} side */
  const share = (side) => (/** @type {FunctionRow} */ r) => {
    const part = percent(r.total[side], model.totals()[side]);
    return `${amount(r.total[side], model.unit)}, ${part} of ${side ? 'head' : 'base'}`;
  };
  return [
    ...NAMES,
    {
      id: 'base',
      title: 'total base',
      hint: `total ${measureOf(model.shownMetric)} in base`,
      width: '4.4em',
      text: (r) => amount(r.total[0], model.unit),
      full: share(0),
      value: (r) => r.total[0],
    },
    {
      id: 'head',
      title: 'total head',
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

/**
 * A list to choose a value of functions from.
 * @param {string} what @param {string[]} values @param {() => void} onchange
 */
function filter(what, values, onchange) {
  return h(
    'select',
    { 'aria-label': `Filter by ${what}`, onchange },
    h('option', { value: '' }, `every ${what}`),
    ...values.map((value) => h('option', { value }, value)),
  );
}

/**
 * The controls of the list, and its grid.
 * @param {Model} model @param {(func: number) => void} pick @param {() => void} refill
 */
function partsOf(model, pick, refill) {
  const two = model.sides === 2;
  const label = { placeholder: 'filter functions', 'aria-label': 'Filter functions' };
  const text = h('input', { type: 'search', ...label, oninput: refill });
  const origins = ORIGIN_NAMES.filter((name) => name !== ORIGINS[INTERRUPTS] || model.hasInterrupts);
  const origin = filter('origin', origins, refill);
  const verdict = filter('verdict', STATES, refill);
  const shown = h('span.dim', { 'aria-live': 'polite' });
  const host = h(two ? 'div.grid.two' : 'div.grid', { 'aria-label': 'Functions' });
  /** @type {Grid<FunctionRow>} */
  const grid = new Grid(host, (row) => pick(row.f.id));
  grid.setColumns(two ? diffColumns(model) : singleColumns(model), two ? 'state' : 'self');
  const bar = h('div.bar', {}, h('h3', {}, 'Functions'), text, origin, two && verdict, shown);
  return { text, origin, verdict, shown, grid, elements: [bar, host] };
}

export class FunctionList {
  /** @param {Model} model @param {(func: number) => void} pick chooses a function */
  constructor(model, pick) {
    this.model = model;
    this.pick = pick;
    this.memo = new Memo();
    /** @type {State|null} the state that the list was last filled for */ this.state = null;
    this.element = h('section.functions', { 'aria-label': 'Functions' });
    /** @type {ReturnType<typeof partsOf>|null} made when the list is filled for the first time */ this.parts = null;
  }

  /** @param {State} state */
  fill(state) {
    const { model } = this;
    this.state = state;
    this.parts ||= this.make();
    const { grid, shown, ...controls } = this.parts;
    const text = controls.text.value.toLowerCase();
    const wanted = controls.verdict.value;
    const origin = ORIGINS.indexOf(controls.origin.value);
    const selected = model.selected > 0 ? model.tree.func[model.selected] : null;
    if (!this.memo.isNew('rows', model.sums, model.tree, text, wanted, origin, state.origins)) {
      grid.select(selected);
      return;
    }
    const isShown = (/** @type {Func} */ f) =>
      (!text || f.name.toLowerCase().includes(text) || f.module.toLowerCase().includes(text)) &&
      (!wanted || (verdictOn(f)?.e.state === wanted && f.origin !== INTERRUPTS)) &&
      (origin < 0 || f.origin === origin) &&
      (!state.origins || state.origins.includes(String(f.origin)));
    const rows = this.rows(isShown);
    shown.textContent = `${count(rows.length)} of ${count(model.functions.length)}`;
    grid.setRows(rows, selected);
  }

  /** Makes the parts of the list. */
  make() {
    const parts = partsOf(this.model, this.pick, () => this.state && this.fill(this.state));
    this.element.append(...parts.elements);
    return parts;
  }

  /** The functions that have time under the filters. @param {(f: Func) => boolean} isShown @returns {FunctionRow[]} */
  rows(isShown) {
    const { functions, sums, factor } = this.model;
    const { self, total } = sums;
    const rows = [];
    for (const f of functions) {
      const totals = [total[0][f.id], total[1][f.id] * factor];
      if ((!totals[0] && !totals[1]) || !isShown(f)) continue;
      const { e, own = false } = verdictOn(f) || {};
      rows.push({ f, e, own, total: totals, self: [self[0][f.id], self[1][f.id] * factor] });
    }
    return rows;
  }
}
