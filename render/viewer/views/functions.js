// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all functions under the picture.

import { functionBottleneck } from '../model/bottleneck.js';
import { bottleneckColumn } from './bottleneckviews.js';
import { COMPILATION, INTERRUPTS, LISTED_ORIGINS, ORIGINS } from '../data/codes.js';
import { h } from '../common/dom.js';
import { count, interval, listName, measureOf, moduleName } from '../common/format.js';
import { functionFigures, partOfSide } from '../model/figures.js';
import { Memo } from '../common/memo.js';
import { remember, remembered } from '../common/storage.js';
import { isProven, isWhole } from '../data/symbols.js';
import { Grid } from '../common/table.js';
import { placeText, wholePlace } from './places.js';
import { functionWords, isExact, besideWords, partText } from './verdict.js';
import { CLASSES, functionClasses, mostOf } from '../model/waiting.js';
import { button } from '../common/widgets.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../data/symbols.js').Estimate} Estimate */
/** @typedef {import('../model/figures.js').Figure} Figure */
/** @typedef {import('../data/symbols.js').Func} Func */

/**
 * A function in the list: what was tested of it, and its time under the filters.
 * @typedef {object} FunctionRow
 * @property {Func} f
 * @property {Estimate|undefined} e what its verdict is about
 * @property {boolean} own whether that is its own time
 * @property {Figure} self
 * @property {Figure} total
 */

/**
 * What the list needs of the page around it.
 * @typedef {object} ListHost
 * @property {(func: number) => void} pick chooses a function
 * @property {(func: number, place: {x: number, y: number}) => void} menu opens the menu of a function
 * @property {(func: number) => void} lines shows the lines of a function
 */

/** @typedef {import('../common/table.js').Column<FunctionRow>} FunctionColumn */
/** @typedef {import('../model/figures.js').Part} Part */

/** Proven verdicts come first in the list until somebody sorts it. @type {Record<string, number>} */
const RANK = { new: 2, gone: 2, more: 2, less: 2, moved: 1 };
/** The change of such a function is that of the program, which the top of the page tells. */
const RANK_WHOLE = -1;
/** Nothing is proven of interrupts. */
const RANK_INTERRUPT = -2;
/** Where it is remembered that somebody wants to see the list under the picture. */
const LIST = 'kelvin-list';
/** What the list can be narrowed to. */
const WAYS = [
  ['', 'All'],
  ['more', 'Increases'],
  ['less', 'Decreases'],
];
const STATES = ['more', 'less', 'new', 'gone', 'moved', 'unproven', 'same'];

/** What tells a function beside the program from the same one in it. @param {Func} f */
const suffixOf = (f) => (f.origin < INTERRUPTS ? '' : f.origin === COMPILATION ? ' (compiler)' : ' (interrupt)');

/** The name of a function; one that also runs in interrupts stands in the list twice. @param {Func} f */
const titleOf = (f) => f.name + suffixOf(f);

/** @type {FunctionColumn} */
const NAME = {
  id: 'name',
  title: 'function',
  left: true,
  most: 24,
  text: (r) => listName(r.f.name) + suffixOf(r.f),
  full: (r) => [titleOf(r.f), wholePlace(r.f)].filter(Boolean).join('\n'),
  value: (r) => titleOf(r.f),
};

/**
 * Where a function is, which leads to its lines where the page has some.
 * @param {Model} model @param {ListHost['lines']} lines @returns {FunctionColumn}
 */
function placeColumn({ meta }, lines) {
  const show = (/** @type {Func} */ f) => (/** @type {Event} */ event) => {
    event.stopPropagation();
    lines(f.id);
  };
  return {
    id: 'module',
    title: 'where',
    hint: `the file and the line, and the module${meta.hasLines ? '; a click shows the lines' : ''}`,
    left: true,
    rank: 3,
    text: (r) => placeText(r.f),
    full: (r) => wholePlace(r.f),
    value: (r) => placeText(r.f),
    // Keys open the lines of the row (l): the list is one stop of the keyboard.
    ...(meta.hasLines && { node: (r) => button('button.link', { tabIndex: -1, onclick: show(r.f) }, placeText(r.f)) }),
  };
}

/**
 * What a function waits for, and for how much of its time, where there are waits.
 * @param {Model} model @returns {FunctionColumn[]}
 */
function waitColumn(model) {
  if (!model.hasWaits) return [];
  const memo = new Memo();
  let made = new Float64Array(0);
  const sumsOf = () => {
    const { callTree, classes, side } = model;
    if (classes && memo.isNew('sums', callTree, side)) made = functionClasses(callTree, classes, side);
    return made;
  };
  const most = (/** @type {FunctionRow} */ r) => {
    const sums = sumsOf();
    const one = mostOf(sums, r.f.id * CLASSES);
    return { one, ns: one && sums[r.f.id * CLASSES + one] };
  };
  const shareOf = (/** @type {FunctionRow} */ r) => {
    const { side } = model;
    const [base, head] = r.total.pair;
    return partOfSide(model, most(r).ns, side ? head / model.factor : base).share(side);
  };
  return [
    {
      id: 'waits',
      title: 'waits for',
      hint: 'what is waited for longest in the function and what it calls, and the part of its time that this takes',
      left: true,
      rank: 2,
      text: (r) => (most(r).one ? `${model.waitClasses[most(r).one].words} ${shareOf(r)}` : '–'),
      value: (r) => [most(r).one ? CLASSES - most(r).one : CLASSES, -most(r).ns],
    },
  ];
}

/** The columns of a report of one recording. @param {Model} model @param {ListHost['lines']} lines @returns {FunctionColumn[]} */
function singleColumns(model, lines) {
  /** @param {Part} id @returns {FunctionColumn[]} */
  const pair = (id) => [
    { id, title: id, text: (r) => r[id].amount(1), value: (r) => r[id].pair[1] },
    {
      id: `${id}-share`,
      title: `${id} %`,
      rank: 1,
      text: (r) => r[id].share(1),
      value: (r) => r[id].pair[1],
    },
  ];
  return [NAME, placeColumn(model, lines), ...bottleneckColumn(model), ...waitColumn(model), ...pair('self'), ...pair('total')];
}

/** The interval of a difference. @param {Model} model @param {FunctionRow} r */
function intervalOf(model, { e }) {
  if (model.filtered || !e || e.low === null || e.high === null) return '–';
  return interval(e.low, e.high, model.unit);
}

/** A verdict in full. @param {Model} model @param {FunctionRow} r */
function verdictText(model, r) {
  if (!model.shownMetric.tested) return '';
  if (r.f.origin >= INTERRUPTS) return besideWords(r.f);
  return r.e ? functionWords({ e: r.e, own: r.own }, measureOf(model.shownMetric)) : '';
}

/** A verdict in short, with what it is about. @param {FunctionRow} r */
function verdictWord({ e, own }) {
  if (!e) return '';
  return isProven(e.state) ? `${e.state} ${partText(own)}` : e.state;
}

/** What the verdict is about. @param {FunctionRow} r */
const verdictFigure = (r) => (r.own ? r.self : r.total);

/** The place of a verdict in the list. @param {Model} model @param {FunctionRow} r */
function rankOf(model, r) {
  if (r.f.origin >= INTERRUPTS) return RANK_INTERRUPT;
  if (!r.own && (model.isOwned(r.f) || isWhole(r.total.pair, model.totals()))) return RANK_WHOLE;
  return RANK[r.e?.state || ''] || 0;
}

/** The verdict, and the difference that it is about. @param {Model} model @param {() => number} largest @returns {FunctionColumn[]} */
function verdictColumns(model, largest) {
  return [
    {
      id: 'state',
      title: 'verdict',
      hint: 'and what it is about; proven changes first, the largest on top; functions that run all the time come last',
      left: true,
      rank: 0,
      text: (r) => (model.shownMetric.tested && r.f.origin < INTERRUPTS ? verdictWord(r) : '–'),
      full: (r) => verdictText(model, r),
      value: (r) => [rankOf(model, r), Math.abs(verdictFigure(r).delta)],
      className: (r) => `s-${r.e?.state}`,
    },
    { ...differenceColumn('delta', 'Δ', 'what the verdict is about', verdictFigure, largest), rank: 0 },
    {
      id: 'change',
      title: 'change',
      hint: 'head against base, of what the verdict is about',
      rank: 1,
      text: (r) => verdictFigure(r).change,
      value: (r) => (verdictFigure(r).pair[0] ? verdictFigure(r).delta / verdictFigure(r).pair[0] : Infinity),
    },
  ];
}

/** The interval of what the verdict is about. @param {Model} model @returns {FunctionColumn[]} */
function intervalColumn(model) {
  if (isExact(model.meta)) return [];
  return [
    {
      id: 'interval',
      title: '95 % interval of Δ',
      hint: 'of the Δ that the verdict is about; tested without filters, over the whole recordings',
      rank: 5,
      text: (r) => intervalOf(model, r),
      value: (r) => r.e?.low ?? -Infinity,
    },
  ];
}

/** A column of one side of a part. @param {Model} model @param {Part} part @param {number} side @returns {FunctionColumn} */
function sideColumn(model, part, side) {
  const name = side ? 'head' : 'base';
  const what = part === 'self' ? 'in the function itself' : 'with all it calls';
  return {
    id: `${part}-${name}`,
    title: `${part} ${name}`,
    hint: `${measureOf(model.shownMetric)} in ${name}${side ? ', scaled' : ''}, ${what}`,
    rank: part === 'self' ? 1 : 2,
    text: (r) => r[part].amount(side),
    full: (r) => `${r[part].share(side)} of ${name}`,
    value: (r) => r[part].pair[side],
  };
}

/**
 * A column of differences, with bars beside the largest of the list.
 * @param {string} id @param {string} title @param {string} what @param {(r: FunctionRow) => Figure} figureOf
 * @param {() => number} largest @returns {FunctionColumn}
 */
function differenceColumn(id, title, what, figureOf, largest) {
  return {
    id,
    title,
    hint: `the difference of ${what}, head against base`,
    text: (r) => figureOf(r).difference,
    full: (r) => figureOf(r).ofTotal,
    value: (r) => figureOf(r).delta,
    bar: (r) => Math.abs(figureOf(r).delta) / largest(),
    className: (r) => (figureOf(r) === verdictFigure(r) && isProven(r.e?.state || '') ? `s-${r.e?.state}` : ''),
  };
}

/**
 * The columns of a comparison.
 * @param {Model} model @param {() => number} largest @param {ListHost['lines']} lines @returns {FunctionColumn[]}
 */
function diffColumns(model, largest, lines) {
  /** @param {Part} part */
  const sides = (part) => [0, 1].map((side) => sideColumn(model, part, side));
  return [
    NAME,
    ...verdictColumns(model, largest),
    ...sides('self'),
    ...sides('total'),
    placeColumn(model, lines),
    ...bottleneckColumn(model),
    ...waitColumn(model),
    { ...differenceColumn('self', 'Δ self', 'the function itself', (r) => r.self, largest), rank: 4 },
    { ...differenceColumn('total', 'Δ total', 'the function with all it calls', (r) => r.total, largest), rank: 4 },
    ...intervalColumn(model),
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
 * The choice of what is listed: everything, or what takes more or less. The pressed button has its value.
 * @param {() => void} onchange
 */
function ways(onchange) {
  const choose = (/** @type {Event} */ { currentTarget }) => {
    for (const one of buttons) one.setAttribute('aria-pressed', String(one === currentTarget));
    onchange();
  };
  const buttons = WAYS.map(([value, text], i) =>
    button('button', { value, 'aria-pressed': i === 0, onclick: choose }, text),
  );
  return h('span.choice', { role: 'group', 'aria-label': 'Direction of the change' }, ...buttons);
}

/**
 * The controls of the list, and its grid.
 * @param {Model} model @param {HTMLElement} title @param {ListHost} host
 * @param {() => void} refill
 * @param {() => number} largest the difference whose bar is the longest
 */
function partsOf(model, title, { pick, menu, lines }, refill, largest) {
  const two = model.sides === 2;
  const label = { placeholder: 'filter functions', 'aria-label': 'Filter functions' };
  const text = h('input', { type: 'search', ...label, oninput: refill });
  const origins = LISTED_ORIGINS.filter((one) => one < INTERRUPTS || model.hasInterrupts);
  const origin = filter('origin', origins.map((one) => ORIGINS[one]), refill);
  const verdict = filter('verdict', STATES, refill);
  const way = ways(refill);
  const shown = h('span.dim', { 'aria-live': 'polite' });
  const unseen = h('span.dim.unseen');
  const host = h(two ? 'div.grid.two' : 'div.grid', { 'aria-label': 'Functions' });
  /** @type {Grid<FunctionRow>} */
  const grid = new Grid(
    host,
    (row) => pick(row.f.id),
    (row, place) => menu(row.f.id, place),
  );
  grid.onFit = (hidden) => {
    const columns = hidden === 1 ? '1 column has' : `${hidden} columns have`;
    unseen.textContent = hidden ? `${columns} no room here` : '';
  };
  grid.setColumns(two ? diffColumns(model, largest, lines) : singleColumns(model, lines), two ? 'state' : 'self');
  const bar = h('div.bar', {}, h('h2', {}, title), two && way, text, origin, two && verdict, shown, unseen);
  return { text, origin, verdict, way, shown, grid, elements: [bar, host] };
}

export class FunctionList {
  /** @param {Model} model @param {ListHost} host */
  constructor(model, host) {
    this.model = model;
    this.host = host;
    this.memo = new Memo();
    /** @type {State|null} the state that the list was last filled for */ this.state = null;
    /** The difference whose bar is the longest. */ this.largest = 1;
    this.element = h('section.functions', { 'aria-label': 'Functions' });
    const hint = { title: 'opens the list under the picture, and folds it (L)', onclick: () => this.toggle() };
    this.title = button('button.fold', hint, 'Functions');
    this.#fold(remembered(LIST) !== 'open');
    /** @type {ReturnType<typeof partsOf>|null} made when the list is filled for the first time */ this.parts = null;
  }

  /** @param {boolean} isFolded */
  #fold(isFolded) {
    this.isFolded = isFolded;
    this.element.classList.toggle('folded', isFolded);
    this.title.ariaExpanded = String(!isFolded);
  }

  /** Folds the list under the picture to its title, or opens it. */
  toggle() {
    this.#fold(!this.isFolded);
    remember(LIST, this.isFolded ? 'folded' : 'open');
    if (this.state) this.fill(this.state);
  }

  /** Gives the focus to the rows. */
  focus() {
    this.parts?.grid.body.focus();
  }

  /** @param {State} state */
  fill(state) {
    this.state = state;
    this.parts ||= this.#make();
    if (!this.isFolded || state.tab === 'functions') this.#fill(state, this.parts);
  }

  /**
   * What the list shows, or would show where it is folded: its columns, its rows in their order, and what its controls
   * leave, in words; empty for all.
   * @param {State} state
   */
  listed(state) {
    const parts = (this.parts ||= this.#make());
    this.#fill(state, parts);
    const { text, origin, verdict, way, grid } = parts;
    const pressed = way.querySelector('[aria-pressed=true]');
    const narrowed = [text.value, origin.value, verdict.value, pressed?.getAttribute('value') && pressed.textContent];
    return { columns: grid.columns, rows: grid.rows, narrowed: narrowed.filter(Boolean).join(', ') };
  }

  /** @param {State} state @param {ReturnType<typeof partsOf>} parts */
  #fill(state, { grid, shown, ...controls }) {
    const { model } = this;
    const text = controls.text.value.toLowerCase();
    const wanted = controls.verdict.value;
    const origin = ORIGINS.indexOf(controls.origin.value);
    const way = controls.way.querySelector('[aria-pressed=true]')?.getAttribute('value') || '';
    const selected = model.selected > 0 ? model.tree.func[model.selected] : null;
    const side = (model.hasWaits || model.meta.hasBottlenecks) && model.side;
    const marks = [state.origins, state.states, state.bottlenecks, model.tables.bottlenecks];
    if (!this.memo.isNew('rows', model.sums, model.tree, text, wanted, origin, way, ...marks, side)) {
      grid.select(selected);
      return;
    }
    const marked = state.states ? model.verdicts.functionsWith(state.states) : null;
    const isShown = (/** @type {Func} */ f) =>
      (!text || [f.name, f.fullName, moduleName(f.module), f.file].some((part) => part.toLowerCase().includes(text))) &&
      (!wanted || (model.verdictOn(f)?.e.state === wanted && f.origin < INTERRUPTS)) &&
      (origin < 0 || f.origin === origin) &&
      (!state.origins || state.origins.includes(String(f.origin))) &&
      (!state.bottlenecks || state.bottlenecks.includes(String(functionBottleneck(model, f.id)))) &&
      (!marked || marked[f.id] === 1);
    const sign = way === 'more' ? 1 : -1;
    const rows = this.#rows(isShown).filter((r) => !way || verdictFigure(r).delta * sign > 0);
    const changes = model.sides === 2 && model.shownMetric.tested ? model.changesAmong(rows.map(({ f }) => f)) : -1;
    const provenText = changes < 0 ? '' : `, ${count(changes)} proven change${changes === 1 ? '' : 's'}`;
    const mixed = model.isNarrowed ? '; figures of what is shown, verdicts of the whole' : '';
    shown.textContent = `${count(rows.length)} of ${count(model.narrowing.functionCount)}${provenText}${mixed}`;
    this.largest = this.#largestOf(rows);
    grid.setRows(rows, selected);
  }

  /** The largest difference of functions that are not the whole program. @param {FunctionRow[]} rows */
  #largestOf(rows) {
    const totals = this.model.totals();
    let largest = Number.MIN_VALUE;
    for (const { self, total } of rows) {
      largest = Math.max(largest, Math.abs(self.delta));
      if (!isWhole(total.pair, totals)) largest = Math.max(largest, Math.abs(total.delta));
    }
    return largest;
  }

  /** Makes the parts of the list. */
  #make() {
    const refill = () => this.state && this.fill(this.state);
    const parts = partsOf(this.model, this.title, this.host, refill, () => this.largest);
    this.element.append(...parts.elements);
    return parts;
  }

  /** The functions that have time under the filters. @param {(f: Func) => boolean} isShown @returns {FunctionRow[]} */
  #rows(isShown) {
    const { model } = this;
    const rows = [];
    for (const f of model.functions) {
      if (f.isProcess) continue;
      const { self, total } = functionFigures(model, f.id);
      if (total.isNothing || !isShown(f)) continue;
      const { e, own = false } = model.verdictOn(f) || {};
      rows.push({ f, e, own, self, total });
    }
    return rows;
  }
}
