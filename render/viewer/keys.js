// SPDX-License-Identifier: GPL-3.0-or-later
// The keyboard. The browser's own find and shortcuts with Ctrl stay its own.

import { h } from './dom.js';
import { pathOf } from './state.js';

/** @typedef {import('./app.js').App} App */

const WORDS = [
  ['base, head', 'the recording before the change, and the one after it'],
  ['scaled', "head's figures are multiplied by one factor, so that both sides compare although one was recorded longer or had more load"],
  ['points', 'percentage points of the total: from 3 % to 5 % is +2 points'],
  ['self, total', 'time in the function itself; time in the function and all it calls'],
  ['not proven', 'noise can explain the difference; record longer, or several runs on each side'],
  ['moved', 'the same code under another name or another caller'],
  ['user, library, system', 'the program itself; code that others wrote; the kernel, the C library, language runtimes'],
  ['interrupts', "the machine's work in the program's threads (interrupts and preemption): not in the total, and not compared"],
];
const KEYS = [
  ['← → ↑ ↓', 'sibling, parent, child'],
  ['Enter', 'zoom to the selected frame'],
  ['Backspace, Alt ← →', 'back, forward'],
  ['0', 'reset zoom'],
  ['/', 'search; Enter goes to the first match, n and N to the next and the previous one'],
  ['b h d', 'base, head, difference'],
  ['r', 'before → after, after → before'],
  ['1 2 3', 'colour by difference, origin, function'],
  ['s', 'system calls on and off'],
  ['t', 'interrupts shown, or folded into the frame that was hit'],
  ['e', 'removed stacks'],
  ['i', 'invert: callers below callees'],
  ['x', 'callers above and callees below the selected function; again: back'],
  ['c', 'copy the stack'],
  ['Escape', 'clear the selection and the search'],
];

export function helpDialog() {
  const dialog = h(
    'dialog',
    { 'aria-label': 'Help' },
    h('h2', {}, 'How to read it'),
    h(
      'p',
      {},
      'Each box is a function; boxes below it are what it called. Width is time. Only a change that noise cannot explain is coloured: orange takes more time, blue takes less, hatched is new or gone.',
    ),
    h('h2', {}, 'Words'),
    h('table', {}, h('tbody', {}, ...WORDS.map(([word, what]) => h('tr', {}, h('th', {}, word), h('td', {}, what))))),
    h('h2', {}, 'Keys'),
    h('table', {}, h('tbody', {}, ...KEYS.map(([key, what]) => h('tr', {}, h('th', {}, h('kbd', {}, key)), h('td', {}, what))))),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  );
  return dialog;
}

/** The widest child, or -1. @param {App} app @param {number} node */
function widestChild({ model }, node) {
  let best = -1;
  for (let child = model.tree.first(node); child >= 0; child = model.tree.next(child))
    if (model.width(child) > 0 && (best < 0 || model.width(child) > model.width(best))) best = child;
  return best;
}

/** The sibling before or behind a node, or -1. @param {App} app @param {number} node @param {boolean} behind */
function sibling({ model }, node, behind) {
  const { tree } = model;
  const parent = tree.parent[node];
  let before = -1;
  for (let child = parent < 0 ? -1 : tree.first(parent); child >= 0; child = tree.next(child)) {
    if (!(model.width(child) > 0)) continue;
    if (!behind && child === node) return before;
    if (behind && before === node) return child;
    before = child;
  }
  return -1;
}

/** The frame above or below, as it is drawn. @param {App} app @param {number} node @param {boolean} down */
function vertical(app, node, down) {
  const { tree } = app.model;
  if (tree.twin && node === 1 && !down) return widestChild(app, tree.twin);
  if (tree.upward(node) !== down) return widestChild(app, node);
  const parent = tree.parent[node];
  return tree.twin && parent === tree.twin ? 1 : parent;
}

/** Moves the selection. @param {App} app @param {string} key */
function move(app, key) {
  const { model } = app;
  const node = model.selected >= 0 ? model.selected : model.zoom;
  const to =
    key === 'ArrowUp' || key === 'ArrowDown'
      ? vertical(app, node, key === 'ArrowDown')
      : sibling(app, node, key === 'ArrowRight');
  if (to >= 0) app.picture.select(to);
}

/** @param {App} app */
function aroundSelected(app) {
  const { model, state } = app;
  if (state.callers || state.callees) app.set({ callers: '', callees: '', zoom: '', selected: '' });
  else if (model.selected > 0) app.showAround(model.tree.func[model.selected], 'both');
}

/** @param {App} app */
function switchInterrupts(app) {
  const { model, state } = app;
  if (model.hasInterrupts && state.system === 'show') app.set({ interrupts: state.interrupts === 'show' ? 'fold' : 'show' });
}

/** @type {Record<string, (app: App) => void>} */
const ACTIONS = {
  Enter: (app) => app.model.selected >= 0 && app.set({ zoom: pathOf(app.model.tree, app.model.functions, app.model.selected) }),
  Backspace: (app) => app.back(),
  0: (app) => app.set({ zoom: '' }),
  '/': (app) => app.searching.field?.focus(),
  n: (app) => app.searching.next(1),
  N: (app) => app.searching.next(-1),
  b: (app) => app.model.sides === 2 && app.set({ view: 'base' }),
  h: (app) => app.model.sides === 2 && app.set({ view: 'head' }),
  d: (app) => app.model.sides === 2 && app.set({ view: 'diff' }),
  r: (app) => app.model.sides === 2 && app.set({ reversed: !app.state.reversed }),
  1: (app) => app.model.sides === 2 && app.set({ colour: 'diff' }),
  2: (app) => app.set({ colour: 'origin' }),
  3: (app) => app.set({ colour: 'function' }),
  s: (app) => app.set({ system: app.state.system === 'show' ? 'hide' : 'show', zoom: '', selected: '' }),
  t: (app) => switchInterrupts(app),
  e: (app) => app.canShowRemoved() && app.set({ removed: !app.state.removed }),
  i: (app) => app.set({ inverted: !app.state.inverted, zoom: '', selected: '' }),
  x: (app) => aroundSelected(app),
  c: (app) => app.copySelection(),
  '?': (app) => app.showHelp(),
  Escape: (app) => app.set({ selected: '', search: '', picked: '', origins: '', states: '' }),
};

/** @param {App} app @param {KeyboardEvent} event */
export function onKey(app, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || app.help?.open) return;
  const isBox = target.tagName === 'INPUT' && /** @type {HTMLInputElement} */ (target).type === 'checkbox';
  if (!isBox && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  if ((isBox || target.tagName === 'BUTTON') && (event.key === 'Enter' || event.key === ' ')) return;
  if (event.key.startsWith('Arrow')) move(app, event.key);
  else if (ACTIONS[event.key]) ACTIONS[event.key](app);
  else return;
  event.preventDefault();
}
