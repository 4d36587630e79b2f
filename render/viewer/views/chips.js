// SPDX-License-Identifier: GPL-3.0-or-later
// The row of what is left out, kept and marked: one chip for each, with its share of the time, which takes it away.

import { BOTTLENECKS } from '../model/bottleneck.js';
import { GONE, NEW, OF_FUNCTION, ORIGINS, STATES } from '../data/codes.js';
import { h, renew } from '../common/dom.js';
import { hasExpression, withoutFilter } from '../model/filters.js';
import { hiddenFigure, measuredPart } from '../model/figures.js';
import { NO_MARKS, OTHER_ROOT, OTHER_TREE } from '../model/state.js';
import { count, listName, measureOf, moduleName } from '../common/format.js';
import { rangeText } from '../common/timerange.js';
import { button, select } from '../common/widgets.js';

/** @typedef {import('./controls.js').Controlled} Controlled */
/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/filters.js').Kind} Kind */
/** @typedef {import('../model/filters.js').Meant} Meant */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../common/widgets.js').Options} Options */

/** What is said of a filter: before and after its name, and before its share. @type {Record<Kind, string[]>} */
const WORDS = {
  only: ['only stacks with ', '', ''],
  focus: ['only stacks with “', '”', ''],
  without: ['without stacks of ', '', 'left out: '],
  merge: ['', ' merged into its callers', 'its own: '],
  hide: ['frames of “', '” left out', 'merged into callers: '],
  module: ['only stacks through ', '', ''],
  line: ['only stacks through ', '', ''],
  process: ['only process ', '', ''],
  user: ['only user code', '', 'merged into callers: '],
  library: ['only library code', '', 'merged into callers: '],
  system: ['only system code', '', 'merged into callers: '],
  recursion: ['recursion folded', '', 'in '],
};
/** What a function, a module or a process is called that a report does not have. @type {Record<string, string>} */
const LACKING = { module: 'a module', line: 'a line', process: 'a process' };

/** So much of an expression stands in a chip; its tooltip has all. */
const LONGEST_EXPRESSION = 60;

/** The rule for verdicts under filters, in words. */
const PART_HINT =
  'Verdicts were tested for the whole recordings. Under filters a frame or a function keeps its verdict only where ' +
  'the filters leave all of it; everything else has figures, but no verdict.';

/** The words of what the legend marks in a chip, by digit. @type {Record<string, string>} */
const MARK_WORDS = { [NEW]: 'new', [GONE]: 'gone', [OF_FUNCTION]: 'proven of the function' };

/**
 * A chip that takes something away.
 * @param {string} text @param {() => void} onclick takes it away @param {string} [before] stands before the text
 * @param {string} [after] stands after it @param {string} [title]
 */
function chip(text, onclick, before = '', after = '', title = '') {
  const words = `${before}${text}${after}`;
  const hint = title || `${words}: a click removes this filter`;
  const parts = [h('span', {}, `✕ ${before}`), h('bdi', {}, text), h('span', {}, after)];
  return button('button.chip', { title: hint, onclick }, ...parts);
}

/**
 * A share of the time of everything, on the side that is shown.
 * @param {Model} model @param {number[]} part @param {number[]} all
 */
function shareText(model, part, all) {
  const { side, sides } = model;
  const whole = sides === 1 ? `all ${measureOf(model.shownMetric)}` : side ? 'head' : 'base';
  return `${measuredPart(model, part, all).share(side)} of ${whole}`;
}

/** @param {string} expression */
const shortened = (expression) =>
  expression.length > LONGEST_EXPRESSION ? `${expression.slice(0, LONGEST_EXPRESSION)}…` : expression;

/** What a filter is about, as a reader knows it. @param {Meant} meant */
function nameOf({ filter, func, subject = '' }) {
  if (hasExpression(filter)) return shortened(filter.hash);
  if (filter.kind === 'line') return `${subject} in ${listName(func?.name || '')}`;
  if (filter.kind === 'module') return moduleName(subject);
  return filter.kind === 'process' ? subject : listName(subject);
}

/**
 * The chips of the filters by function, module and process.
 * @param {Controlled} controlled @param {number[][]} times @param {number[]} all
 */
function functionChips({ model, state, set }, times, all) {
  return model.meant.map((meant, i) => {
    const { kind, hash } = meant.filter;
    // The row of classes shows those of waits.
    if (meant.func && model.classes?.[meant.func.id]) return null;
    const remove = () => set({ filters: withoutFilter(state.filters, kind, hash) });
    const [before, after, share] = WORDS[kind];
    if (meant.subject === undefined && hasExpression(meant.filter))
      return chip(shortened(hash), remove, before, `${after} · ${meant.error || 'no function is called so'} · not obeyed`);
    if (meant.subject === undefined)
      return chip(`${LACKING[kind] || 'a function'} that this report lacks`, remove, before, `${after} · not obeyed`);
    const figures = `${after} · ${share}${shareText(model, times[i], all)}`;
    const title = hasExpression(meant.filter) ? `${before}${hash}${figures}: a click removes this filter` : '';
    return chip(nameOf(meant), remove, before, figures, title);
  });
}

/** The chip of the frames that the legend marks. @param {Controlled} controlled @returns {Child[]} */
function markedChips({ model, state, set }) {
  const { origins, states, bottlenecks } = state;
  if (!origins && !states && !bottlenecks) return [];
  const measure = measureOf(model.shownMetric);
  const words = [
    ...[...origins].map((digit) => ORIGINS[Number(digit)]),
    ...[...states].map((digit) => MARK_WORDS[digit] || `${STATES[Number(digit)]} ${measure}`),
    ...[...bottlenecks].map((digit) => `bottleneck ${BOTTLENECKS[Number(digit)]}`),
  ];
  const title = 'only these frames keep their colour, and only their functions are listed: a click shows all again';
  return [chip(words.join(', '), () => set(NO_MARKS), 'highlighted: ', '', title)];
}

/** The chips of thread and time. @param {Controlled} controlled @param {ReturnType<Model['filterTimes']>} times */
function sampleChips({ model, state, set }, { all, range, thread }) {
  const out = [];
  const share = (/** @type {number[]} */ part) => ` · ${shareText(model, part, all)}`;
  if (thread) out.push(chip(model.narrowing.threadText(state.thread), () => set({ thread: '' }), 'only thread ', share(thread)));
  if (state.range) {
    out.push(chip(rangeText(state.range), () => set({ range: null }), '', range ? share(range) : ''));
  }
  return out;
}

/** The chip of the row of processes that was taken away. @param {Controlled} controlled @returns {Child[]} */
function processChips({ model, state, set }) {
  if (state.processes || model.narrowing.processes.length < 2) return [];
  const title = 'a click shows processes as the first row again (p)';
  return [chip('all processes mixed', () => set({ processes: true }), '', '', title)];
}

/** How much several filters leave together. @param {Model} model @param {number[]} all @param {number} chips */
function leftText(model, all, chips) {
  if (!model.isPart) return null;
  const [base, head] = model.callTree.figures;
  const left = [base[0], head[0]];
  const title = model.sides === 2 ? PART_HINT : '';
  if (!left[model.side]) return h('span.chip.nothing', { title }, 'nothing passes these filters');
  const verdicts = model.sides === 2 && model.shownMetric.tested ? 'only whole frames have verdicts' : '';
  const shares = chips > 1 && `together ${shareText(model, left, all)}`;
  const text = [shares, verdicts].filter(Boolean).join(' · ');
  return !!text && h('span.dim.rule', { title }, text);
}

/**
 * The functions around which something is shown, and the one that is marked.
 * @param {Controlled} controlled @returns {Child[]}
 */
function focusChips({ model, state, set }) {
  const out = [];
  const caller = model.functionOf(state.callees);
  const callee = model.functionOf(state.callers);
  const only = callee || caller;
  if (only) {
    const what = callee && callee === caller ? 'callers and callees' : callee ? 'callers' : 'callees';
    out.push(chip(`${what} of ${listName(only.name)}`, () => set(OTHER_ROOT)));
  }
  const picked = model.functionOf(state.picked);
  if (picked) {
    const places = model.framesOf(picked.id).length;
    const where = places === 1 ? 'outlined: ' : `outlined in ${count(places)} places: `;
    const leave = () => set({ picked: '', selected: '' });
    out.push(chip(listName(picked.name), leave, `Esc · ${where}`, '', 'Esc leaves the function'));
  }
  return out;
}

/**
 * What the controls of system frames and interrupts have done.
 * @param {Controlled} controlled @returns {Child[]}
 */
function leftOut({ model, state, set }) {
  const measure = measureOf(model.shownMetric);
  if (state.system === 'show')
    return [
      state.interrupts !== 'show' &&
        model.hasInterrupts &&
        h('span.chip', {}, `interrupts: their ${measure} counts as that of the frame they hit`),
    ];
  /** @type {Options} */
  const ways = [
    ['hide', `hidden with their ${measure}`],
    ['fold', 'folded into their caller'],
  ];
  const way = select('System frames are', ways, state.system, (system) => set({ system, ...OTHER_TREE }), true);
  return [way, h('span.chip', {}, hiddenText(model, state.system === 'fold', measure))];
}

/** What becomes of the time of system frames. @param {Model} model @param {boolean} folded @param {string} measure */
function hiddenText(model, folded, measure) {
  if (folded) return `their ${measure} counts as their caller's`;
  const hidden = hiddenFigure(model);
  if (model.sides === 1) return `hidden: ${hidden.share(1)} of all ${measure}`;
  return `hidden: ${hidden.share(0)} of base, ${hidden.share(1)} of head`;
}

/**
 * Makes the row of what is marked, left out, or kept by thread and time. It stands in a place of its own, so that
 * nothing moves when one comes or goes. Filters by function, module and process have a row below it, which is there
 * while there are some: their names and shares need the room.
 * @param {HTMLElement} row @param {HTMLElement} filterRow @param {Controlled} controlled
 */
export function drawChips(row, filterRow, controlled) {
  const { model, state } = controlled;
  const isFiltered = !!(model.meant.length || state.thread || state.range);
  const times = isFiltered ? model.filterTimes(state) : null;
  const filters = times ? functionChips(controlled, times.filters, times.all) : [];
  const samples = times ? sampleChips(controlled, times) : [];
  const left = times && leftText(model, times.all, filters.length + samples.length);
  const above = filters.some(Boolean) ? samples : [...samples, left];
  const others = [...markedChips(controlled), ...processChips(controlled), ...leftOut(controlled)];
  renew(row, [...focusChips(controlled), ...above, ...others]);
  const hadFocus = filterRow.contains(document.activeElement);
  renew(filterRow, filters.some(Boolean) ? [...filters, left] : []);
  // Where the chip that had the focus is gone, the next key is for the one that is left.
  if (hadFocus && !filterRow.contains(document.activeElement)) filterRow.querySelector('button')?.focus();
}
