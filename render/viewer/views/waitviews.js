// SPDX-License-Identifier: GPL-3.0-or-later
// What the page tells of waits beside the picture: the row of classes above it, which filters, the legend of their
// colours, and what the inspector knows of a frame.

import { sourceOf } from '../model/bottleneck.js';
import { css } from '../drawing/colour.js';
import { h, renew } from '../common/dom.js';
import { amount, count, listName, measureOf } from '../common/format.js';
import { partFigures, partOf } from '../model/figures.js';
import { outermost } from '../model/lazy.js';
import { classSums, isLeftOut, knownOf, lockName, placeOf } from '../model/waiting.js';
import { showsOneClass, withClassOnly, withClassToggled } from '../model/waiting.js';
import { button, swatch } from '../common/widgets.js';

/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('./controls.js').Controlled} Controlled */
/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/decode.js').Releases} Releases */
/** @typedef {import('../model/waiting.js').WaitFunction} WaitFunction */

/** How many locks and functions that ended waits are listed. */
const MOST_LISTED = 6;

/** Numbers of classes with time on a side, the longest first. @param {ArrayLike<number>} sums */
const byTime = (sums) =>
  Array.from(sums, (_, one) => one)
    .filter((one) => sums[one] > 0)
    .sort((a, b) => sums[b] - sums[a]);

/**
 * A class in the row: a click leaves it out, or shows it again; beside it, a button shows nothing else.
 * @param {Controlled} controlled @param {WaitFunction} wait @param {string} share
 */
function classChip({ model, state, set }, { f, one }, share) {
  const { colour, words: word } = model.waitClasses[one];
  const waits = model.waitFunctions;
  const off = isLeftOut(state.filters, waits, f);
  const toggle = {
    title: `a click leaves out the waits of class ${word}, or shows them again`,
    'aria-pressed': !off,
    onclick: () => set({ filters: withClassToggled(state.filters, waits, f) }),
  };
  const only = {
    title: `show only waits of class ${word}`,
    'aria-label': `only ${word}`,
    'aria-pressed': !off && waits.every((other) => other.one === one || isLeftOut(state.filters, waits, other.f)),
    onclick: () => set({ filters: withClassOnly(state.filters, waits, f) }),
  };
  return h(
    'span.wait',
    {},
    button('button.chip', toggle, swatch(colour), `${word} ${off ? '(off)' : share}`),
    button('button.only', only, 'only'),
  );
}

/**
 * Makes the row of the classes of waits, with their shares of all that the metric measures, where it measures waits.
 * @param {HTMLElement} row @param {Controlled} controlled
 */
export function drawWaitRow(row, controlled) {
  const { model, set, state } = controlled;
  const sums = model.waitSums[model.side];
  const order = sums ? byTime(sums) : [];
  if (!order.some((one) => one > 0)) {
    renew(row, []);
    return;
  }
  const figures = partFigures(model, model.waitSums);
  const share = (/** @type {number} */ one) => figures[one].share(model.side);
  const cpuText = `${model.waitClasses[0].words} ${showsOneClass(state.filters, model.waitFunctions) ? '(off)' : share(0)}`;
  const wait = (/** @type {number} */ one) =>
    /** @type {WaitFunction} */ (model.waitFunctions.find((other) => other.one === one));
  const items = order.map((one) =>
    one ? classChip(controlled, wait(one), share(one)) : h('span.chip', {}, cpuText),
  );
  const idle = model.waitClasses.findIndex(({ isIdle }) => isIdle);
  if (wait(idle) && !sums[idle] && model.shownMetric.name !== 'idle') {
    const title = 'threads that wait for work are in the idle time alone: a click shows that metric';
    items.push(button('button.chip.idle', { title, onclick: () => set({ metric: 'idle' }) }, `${model.waitClasses[idle].words} (off)`));
  }
  const measure = measureOf(model.shownMetric);
  renew(row, [h('span.dim', {}, `Of all ${measure}:`), ...items]);
}

/** What the colours of waits mean, with their shares of what is shown. @param {Model} model @param {Colours} colours */
export function waitLegend(model, colours) {
  const { callTree, classes, side, waitClasses } = model;
  if (!classes) return [h('span.dim', {}, 'Colour: this report has no waits, so no frame has a colour.')];
  const sums = classSums(callTree, classes);
  const figures = partFigures(model, sums);
  const entry = (/** @type {string} */ colour, /** @type {number} */ one) =>
    h('span.key', {}, swatch(colour), waitClasses[one].words, h('span.dim', {}, ` ${figures[one].share(side)}`));
  const listed = byTime(sums[side]).filter((one) => one > 0);
  const hint =
    'a frame has the colour of what is waited for longest below it, the paler the more of its time is CPU time';
  return [
    entry(css(colours.neutral()), 0),
    ...listed.map((one) => entry(waitClasses[one].colour, one)),
    h('span.dim', { title: hint }, 'what is waited for longest; paler: more CPU time'),
  ];
}

/** The colours of waits in the lanes of threads, which show all of them whatever the metric is. @param {Model} model */
export const laneLegend = ({ waitClasses, waitFunctions }) =>
  [...waitFunctions]
    .sort((a, b) => a.one - b.one)
    .map(({ one }) => h('span.key', {}, swatch(waitClasses[one].colour), `waits: ${waitClasses[one].words}`));

/* ---- The inspector ---- */

/**
 * The nodes of the call tree whose waits are those of a frame: its own where the call tree is drawn, else those of its
 * function.
 * @param {Model} model @param {number} node
 */
function framesOf(model, node) {
  const func = model.tree.func[node];
  return model.turned && func >= 0 ? outermost(model.callTree, func) : Int32Array.of(node);
}

/** Time [base, head] by class below nodes of the call tree, as measured. @param {Model} model @param {number} node */
function sumsBelow(model, node) {
  const { callTree, classes } = model;
  const sums = classSums(callTree, /** @type {Uint8Array} */ (classes), 0, 0);
  for (const at of framesOf(model, node)) {
    const own = classSums(callTree, /** @type {Uint8Array} */ (classes), at, callTree.end[at]);
    own.forEach((side, i) => side.forEach((value, one) => (sums[i][one] += value)));
  }
  return sums;
}

/** The waits by class. @param {Model} model @param {Float64Array[]} sums [base, head] */
function classTable(model, sums) {
  const { sides, waitClasses } = model;
  const figures = partFigures(model, sums);
  const greatest = figures.map(({ pair }) => Math.max(...pair));
  const order = byTime(greatest).filter((one) => one > 0);
  if (!order.length) return null;
  const most = Math.max(...order.map((one) => greatest[one]));
  const rows = order.map((one) => {
    const figure = figures[one];
    const bar = h('td.barred', {}, sides === 1 ? figure.amount(1) : figure.span);
    bar.style.setProperty('--bar', String(figure.pair[1] / most));
    const share = sides === 1 ? figure.share(1) : `${figure.share(0)} → ${figure.share(1)}`;
    const name = h('th', { scope: 'row' }, swatch(waitClasses[one].colour), waitClasses[one].words);
    return h('tr', {}, name, bar, h('td', {}, h('small', {}, share)));
  });
  return h('table.waits', {}, h('tbody', {}, ...rows));
}

/**
 * The nodes of the report whose waits are those of a frame, and whether they are those of its function.
 * @param {Model} model @param {number} node @returns {{nodes: ArrayLike<number>, isWhole: boolean}}
 */
function reportNodes(model, node) {
  const source = sourceOf(model, node);
  if (source >= 0) return { nodes: [source], isWhole: false };
  const func = model.tree.func[node];
  return func < 0 ? { nodes: [0], isWhole: false } : { nodes: outermost(model.tables.tree, func), isWhole: true };
}

/**
 * A lock, or a function that ended waits, with their time [base, head].
 * @typedef {{title: string, hint: string, func: number, ns: number[]}} Released
 */

/**
 * Adds up entries of both sides by what they are, the longest first.
 * @param {Map<string, Released>} all @param {string} key @param {number} side @param {number} ns
 * @param {() => Omit<Released, 'ns'>} make
 */
function addReleased(all, key, side, ns, make) {
  const one = all.get(key) || { ...make(), ns: [0, 0] };
  one.ns[side] += ns;
  all.set(key, one);
}

/** Those of a list, the longest first. @param {Map<string, Released>} all */
const longest = (all) => [...all.values()].sort((a, b) => Math.max(...b.ns) - Math.max(...a.ns)).slice(0, MOST_LISTED);

/**
 * What is known of the locks and of what ended the waits of a frame, on each side. Locks of base and head are one where
 * they have one name.
 * @param {Model} model @param {number} node @param {(func: number) => void} pick @returns {Child[]}
 */
function releaseLists(model, node, pick) {
  const { classes, functions, sides, tables } = model;
  const { tree } = tables;
  const { nodes, isWhole } = reportNodes(model, node);
  const isIn = (/** @type {number} */ inner) => Array.prototype.some.call(nodes, (at) => tree.holds(at, inner));
  /** @type {Map<string, Released>} */ const locks = new Map();
  /** @type {Map<string, Released>} */ const releasers = new Map();
  const all = [0, 0];
  let rest = 0;
  for (let side = 2 - sides; side < 2; side++) {
    const releases = tables.releases?.[side];
    if (!releases || !classes) continue;
    const known = knownOf(releases, isIn, (inner) => placeOf(tree, functions, classes, inner));
    all[side] = known.all;
    rest += releases.rest;
    const where = sides === 2 ? ` in ${side ? 'head' : 'base'}` : '';
    for (const { lock, ns, places } of known.locks) {
      const { name, ordinal } = releases.locks[lock];
      const hint = places === 1 ? 'one function waits for it' : `${count(places)} functions wait for it`;
      const title = `${lockName({ name, ordinal })}${name ? '' : where}`;
      addReleased(locks, title, side, ns, () => ({ title, hint, func: -1 }));
    }
    for (const { releaser, ns } of known.releasers) {
      const { func, name } = releases.releasers[releaser];
      addReleased(releasers, func < 0 ? name : String(func), side, ns, () => ({ title: name, hint: name, func }));
    }
  }
  if (!all[0] && !all[1]) return [];
  const figure = (/** @type {number[]} */ ns) => partOf(ns, all, 'nanoseconds');
  const amounts = (/** @type {number[]} */ ns) => (sides === 1 ? figure(ns).amount(1) : figure(ns).span);
  const share = (/** @type {number[]} */ ns) => (sides === 1 ? figure(ns).share(1) : amounts(ns));
  const lockItems = longest(locks).map(({ title, hint, ns }) => {
    const text = h('span', { title: hint }, h('bdi', {}, title), h('span.dim', {}, ` · ${hint}`));
    return h('li', {}, text, h('span', {}, share(ns)));
  });
  const items = longest(releasers).map(({ title, hint, func, ns }) => {
    const goTo = { title: hint, onclick: () => pick(func) };
    const who = func >= 0 ? button('button.link', goTo, listName(title)) : h('bdi', {}, listName(title));
    return h('li', {}, who, h('span', {}, sides === 1 ? `${amounts(ns)} ${share(ns)}` : amounts(ns)));
  });
  const list = (/** @type {string} */ title, /** @type {HTMLElement[]} */ items) =>
    items.length ? [h('h3', {}, title), h('ul.neighbours', {}, ...items)] : [];
  const notes = [
    isWhole && 'of the function in all its frames',
    rest > 0 && `shorter waits of ${amount(rest, 'nanoseconds')} together are not listed`,
  ].filter(Boolean);
  const hint = `Where the lock or what ended the wait is known: ${amounts(all)}`;
  return [
    ...list('Waits for', lockItems),
    ...list('Released by', items),
    h('p.dim', {}, [`${hint}, as measured, without filters`, ...notes].join('; '), '.'),
  ];
}

/**
 * What the inspector tells of the waits of a frame; null where it has none.
 * @param {Model} model @param {number} node @param {(func: number) => void} pick chooses a function
 */
export function waitSection(model, node, pick) {
  if (!model.classes || node < 0) return null;
  const table = classTable(model, sumsBelow(model, node));
  const lists = releaseLists(model, node, pick);
  if (!table && !lists.length) return null;
  return h('section', {}, h('h3', {}, model.turned ? 'Waits of the function' : 'Waits'), table, ...lists);
}
