// SPDX-License-Identifier: GPL-3.0-or-later
// The keyboard. The browser's own find and shortcuts with Ctrl stay its own.

import { h } from './dom.js';
import { pathOf } from './state.js';

/** @typedef {import('./app.js').App} App */

const KEYS = [
  ['← → ↑ ↓', 'sibling, parent, child'],
  ['Enter', 'zoom to the selected frame'],
  ['Backspace, Alt ← →', 'back, forward'],
  ['0', 'reset zoom'],
  ['/', 'search; Enter goes to the first match, n and N to the next and the previous one'],
  ['b h d', 'base, head, difference'],
  ['r', 'before → after, after → before'],
  ['1 2 3 4', 'colour by difference, origin, function, bottleneck'],
  ['s', 'system calls on and off'],
  ['e', 'removed stacks'],
  ['i', 'invert'],
  ['c', 'copy the stack'],
  ['Escape', 'let go of the selection and the search'],
];

export function helpDialog() {
  const dialog = h(
    'dialog',
    { 'aria-label': 'Help' },
    h('h2', {}, 'Reading it'),
    h(
      'p',
      {},
      'Each box is a function; boxes below it are what it called. Width is time. Only a change that noise cannot explain is coloured: orange takes more time, blue takes less, hatched is new or gone.',
    ),
    h('table', {}, h('tbody', {}, ...KEYS.map(([key, what]) => h('tr', {}, h('th', {}, h('kbd', {}, key)), h('td', {}, what))))),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  );
  return dialog;
}

/** Moves the selection. @param {App} app @param {string} key */
function move(app, key) {
  const { model } = app;
  const { tree, widths } = model;
  const node = model.selected >= 0 ? model.selected : model.zoom;
  let to = -1;
  if (key === 'ArrowUp') {
    to = tree.parent[node];
  } else if (key === 'ArrowDown') {
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
      if (widths[child] > 0 && (to < 0 || widths[child] > widths[to])) to = child;
  } else {
    const parent = tree.parent[node];
    let before = -1;
    for (let child = parent + 1; parent >= 0 && child < tree.end[parent]; child = tree.end[child]) {
      if (!(widths[child] > 0)) continue;
      if (key === 'ArrowLeft' && child === node) to = before;
      if (key === 'ArrowRight' && before === node) to = child;
      before = child;
    }
  }
  if (to >= 0) app.selectNode(to);
}

/** @type {Record<string, (app: App) => void>} */
const ACTIONS = {
  Enter: (app) => app.model.selected >= 0 && app.set({ zoom: pathOf(app.model.tree, app.model.functions, app.model.selected) }),
  Backspace: () => history.back(),
  0: (app) => app.set({ zoom: '' }),
  '/': (app) => app.search.focus(),
  n: (app) => app.nextMatch(1),
  N: (app) => app.nextMatch(-1),
  b: (app) => app.model.sides === 2 && app.set({ view: 'base' }),
  h: (app) => app.model.sides === 2 && app.set({ view: 'head' }),
  d: (app) => app.model.sides === 2 && app.set({ view: 'diff' }),
  r: (app) => app.model.sides === 2 && app.set({ reversed: !app.state.reversed }),
  1: (app) => app.model.sides === 2 && app.set({ colour: 'diff' }),
  2: (app) => app.set({ colour: 'origin' }),
  3: (app) => app.set({ colour: 'function' }),
  4: (app) => app.set({ colour: 'bottleneck' }),
  s: (app) => app.set({ system: app.state.system === 'show' ? 'hide' : 'show', zoom: '', selected: '' }),
  e: (app) => app.canShowRemoved() && app.set({ removed: !app.state.removed }),
  i: (app) => app.set({ inverted: !app.state.inverted, zoom: '', selected: '' }),
  c: (app) => app.copySelection(),
  '?': (app) => app.help.showModal(),
  Escape: (app) => app.set({ selected: '', search: '', picked: '', origins: '', states: '' }),
};

/** @param {App} app @param {KeyboardEvent} event */
export function onKey(app, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || app.help.open) return;
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
