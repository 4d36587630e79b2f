// SPDX-License-Identifier: GPL-3.0-or-later
// The keyboard. Shortcuts with Ctrl, Alt and Meta belong to the browser.

import { isMenuKey } from '../common/menu.js';
import { below, shownAs } from '../model/trunks.js';
import { NO_MARKS, OTHER_ROOT, OTHER_TREE } from '../model/state.js';
import { COLOURS, hasColour } from '../views/controls.js';

/** @typedef {import('../model/filters.js').Kind} Kind */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/**
 * What keys read and do.
 * @typedef {object} KeyActions
 * @property {Model} model
 * @property {() => State} state the state that is shown
 * @property {(change: Change) => void} set changes the state
 * @property {() => void} back returns to the state before this one
 * @property {(node: number) => void} select selects a frame
 * @property {(node: number) => void} zoom zooms to a frame
 * @property {() => void} home shows the whole picture from its beginning
 * @property {(factor: number) => void} magnify makes the picture wider or narrower
 * @property {(func: number, which: 'both') => void} around shows callers and callees of a function
 * @property {() => void} search moves the focus to the search field
 * @property {(step: number) => void} match shows the next or the previous match
 * @property {(step: 1|-1) => void} change shows the next or the previous proven change
 * @property {() => void} copy copies the stack of the frame that is selected or pointed at
 * @property {() => void} lines opens the lines of the function that is selected or pointed at, and closes them
 * @property {() => void} list folds the function list, or opens it
 * @property {(kind: Kind) => void} filter filters by the frame that is selected or pointed at, or no longer
 * @property {(kind: 'focus'|'hide') => void} filterFound filters by what the search has found, or no longer
 * @property {() => void} removeFilter takes away the filter that was added last
 * @property {() => void} processes shows processes as the first row, or not
 * @property {() => void} range lets a range of time be typed
 * @property {() => void} menu opens the menu of the selected frame
 * @property {() => void} handOver opens the menu of the ways to give to somebody what is seen
 * @property {() => void} help
 * @property {() => boolean} isHelpOpen
 */

/** So many times as wide a key makes the picture. */
const MAGNIFIED = 1.5;

/** The widest frame in the row below that of a node, or -1. @param {Model} model @param {number} node */
function widestChild({ tree, width }, node) {
  let best = -1;
  for (const child of below(tree, node)) if (width(child) > 0 && (best < 0 || width(child) > width(best))) best = child;
  return best;
}

/** The frame beside a node, below the same box, or -1. @param {Model} model @param {number} node @param {boolean} after */
function sibling({ tree, width }, node, after) {
  const parent = tree.parent[node];
  let before = -1;
  for (const child of parent < 0 ? [] : below(tree, parent)) {
    if (!(width(child) > 0)) continue;
    if (!after && child === node) return before;
    if (after && before === node) return child;
    before = child;
  }
  return -1;
}

/**
 * The frame in the row before or after that of a node, or -1.
 * @param {Model} model @param {number} node @param {boolean} down
 */
function vertical(model, node, down) {
  const { tree } = model;
  if (tree.twin && node === 1 && !down) return widestChild(model, tree.twin);
  if (tree.upward(node) !== down) return widestChild(model, node);
  const parent = tree.parent[node];
  return parent < 0 ? parent : shownAs(tree, parent);
}

/** The frame that an arrow leads to, or -1. @param {KeyActions} actions @param {string} key */
function target({ model, state }, key) {
  const node = shownAs(model.tree, model.selected >= 0 ? model.selected : model.zoom);
  const { flipped } = state();
  if (key === 'ArrowUp' || key === 'ArrowDown') return vertical(model, node, (key === 'ArrowDown') !== flipped);
  return sibling(model, node, key === 'ArrowRight');
}

/** Shows callers and callees of the selected function, or the whole tree again. @param {KeyActions} actions */
function switchAround({ model, state, set, around }) {
  const { callers, callees } = state();
  if (callers || callees) set(OTHER_ROOT);
  else if (model.selected > 0) around(model.tree.func[model.selected], 'both');
}

/** Sorts siblings in the next way. @param {KeyActions} actions */
function nextOrder({ model, state, set }) {
  const { orders } = model;
  set({ order: orders[(orders.indexOf(model.orderOf(state())) + 1) % orders.length] });
}

/** @param {KeyActions} actions */
function switchInterrupts({ model, state, set }) {
  const { system, interrupts } = state();
  if (model.hasInterrupts && system === 'show') set({ interrupts: interrupts === 'show' ? 'fold' : 'show' });
}

/** @param {KeyActions} actions */
function switchInterpreter({ model, state, set }) {
  const { interpreter, system } = state();
  if (model.hasInterpreters && system === 'show')
    set({ interpreter: interpreter === 'function' ? 'apart' : 'function' });
}

/** Whether the selected frame is a process. @param {KeyActions} actions */
const isProcess = ({ model }) => !!model.functions[model.tree.func[model.selected]]?.isProcess;

/** A key that changes the state of comparisons alone. @param {(state: State) => Change} change */
const compared = (change) => (/** @type {KeyActions} */ to) => to.model.sides === 2 && to.set(change(to.state()));

/** @type {Record<string, (to: KeyActions) => void>} */
const KEYS = {
  Enter: (to) => to.model.selected >= 0 && to.zoom(to.model.selected),
  Backspace: (to) => to.back(),
  0: (to) => to.home(),
  '+': (to) => to.magnify(MAGNIFIED),
  '=': (to) => to.magnify(MAGNIFIED),
  '-': (to) => to.magnify(1 / MAGNIFIED),
  '/': (to) => to.search(),
  n: (to) => to.match(1),
  N: (to) => to.match(-1),
  '.': (to) => to.change(1),
  ',': (to) => to.change(-1),
  b: compared(() => ({ view: 'base' })),
  h: compared(() => ({ view: 'head' })),
  d: compared(() => ({ view: 'diff' })),
  r: compared(({ reversed }) => ({ reversed: !reversed })),
  ...Object.fromEntries(COLOURS.map(([colour], i) => [i + 1, (to) => hasColour(to.model, colour) && to.set({ colour })])),
  s: (to) => to.set({ system: to.state().system === 'show' ? 'hide' : 'show', ...OTHER_TREE }),
  t: switchInterrupts,
  y: switchInterpreter,
  e: (to) => to.model.canShowRemoved(to.state()) && to.set({ removed: !to.state().removed }),
  i: (to) => to.set({ inverted: !to.state().inverted, ...OTHER_TREE }),
  o: nextOrder,
  g: (to) => to.set({ trunks: !to.state().trunks }),
  f: (to) => to.set({ flipped: !to.state().flipped }),
  x: switchAround,
  k: (to) => to.filter(isProcess(to) ? 'process' : 'only'),
  K: (to) => to.filter('module'),
  w: (to) => to.filter('without'),
  m: (to) => to.filter('merge'),
  u: (to) => to.filter('user'),
  F: (to) => to.filterFound('focus'),
  H: (to) => to.filterFound('hide'),
  R: (to) => to.filter('recursion'),
  p: (to) => to.processes(),
  T: (to) => to.range(),
  Delete: (to) => to.removeFilter(),
  c: (to) => to.copy(),
  l: (to) => to.lines(),
  L: (to) => to.list(),
  E: (to) => to.handOver(),
  '?': (to) => to.help(),
  Escape: (to) => to.set({ selected: '', search: '', picked: '', ...NO_MARKS }),
};

/** Whether a key belongs to the element that has the focus. @param {HTMLElement} element @param {string} key */
function isElementKey(element, key) {
  const isBox = element instanceof HTMLInputElement && element.type === 'checkbox';
  if (!isBox && /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName)) {
    if (key === 'Escape') element.blur();
    return true;
  }
  return (isBox || element.tagName === 'BUTTON') && (key === 'Enter' || key === ' ');
}

/** Does what a key means. @param {KeyboardEvent} event @param {KeyActions} actions */
export function onKey(event, actions) {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || actions.isHelpOpen()) return;
  if (isElementKey(/** @type {HTMLElement} */ (event.target), key)) return;
  if (isMenuKey(event)) actions.menu();
  else if (key.startsWith('Arrow')) {
    const node = target(actions, key);
    if (node >= 0) actions.select(node);
  } else if (KEYS[key]) KEYS[key](actions);
  else return;
  event.preventDefault();
}
