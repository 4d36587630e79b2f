// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the picture. It is built anew when what it shows has changed.

import { h, renew } from './dom.js';
import { count, digits, listName, measureOf } from './format.js';

/** @typedef {import('./app.js').App} App */

/** What a choice takes with it: a path into another tree means nothing. */
const FORGETS = {
  inverted: { zoom: '', selected: '', callers: '', callees: '' },
  thread: { zoom: '' },
  system: { zoom: '', selected: '' },
};

/** @param {App} app @param {string} name @param {any} value */
function change(app, name, value) {
  app.set(/** @type {any} */ ({ [name]: value, .../** @type {any} */ (FORGETS)[name] }));
}

/** One pressed of several. @param {App} app @param {string} name @param {string} label @param {[string, string, string?][]} choices */
function choice(app, name, label, choices) {
  const current = /** @type {any} */ (app.state)[name];
  const buttons = choices.map(([value, text, key]) =>
    h(
      'button',
      { type: 'button', 'aria-pressed': current === value, title: key || '', onclick: () => change(app, name, value) },
      text,
    ),
  );
  return h('span.choice', { role: 'group', 'aria-label': label }, ...buttons);
}

/** @param {App} app @param {string} name @param {string} label @param {[string, string][]} options @param {boolean} [silent] */
export function select(app, name, label, options, silent = false) {
  const current = /** @type {any} */ (app.state)[name];
  const list = h(
    'select',
    { 'aria-label': label, onchange: (/** @type {any} */ e) => change(app, name, e.target.value) },
    ...options.map(([value, text]) => h('option', { value, selected: value === current }, text)),
  );
  return h('label', {}, !silent && `${label} `, list);
}

/** @param {App} app @param {string} name @param {string} label @param {string} hint */
function toggle(app, name, label, hint) {
  const checked = /** @type {any} */ (app.state)[name];
  const box = h('input', { type: 'checkbox', checked, onchange: (/** @type {any} */ e) => change(app, name, e.target.checked) });
  return h('label.toggle', { title: hint }, box, label);
}

/** @param {App} app */
function systemCalls(app) {
  const { model, state } = app;
  const box = h('input', {
    type: 'checkbox',
    checked: state.system === 'show',
    onchange: (/** @type {any} */ e) => change(app, 'system', e.target.checked ? 'show' : 'hide'),
  });
  const shown = h('label.toggle', { title: 'frames of the kernel and the low-level runtime (s)' }, box, 'System calls');
  if (state.system === 'show') return [shown];
  /** @type {[string, string][]} */
  const ways = [
    ['hide', `hidden with their ${measureOf(model.shownMetric)}`],
    ['fold', 'folded into their caller'],
  ];
  const hidden = model.hiddenShares().map((share) => `${digits(share)} %`);
  const text =
    state.system === 'fold'
      ? `their ${measureOf(model.shownMetric)} counts as their caller's`
      : model.sides === 2
        ? `hidden: ${hidden[0]} of base, ${hidden[1]} of head`
        : `hidden: ${hidden[1]} of all ${measureOf(model.shownMetric)}`;
  return [shown, select(app, 'system', 'System frames are', ways, true), h('span.chip', {}, text)];
}

/** Interrupts in their own frames, or as time of the frames that they hit. @param {App} app */
function interrupts(app) {
  const { model, state } = app;
  // Where system frames are not shown, these are not either.
  if (!model.hasInterrupts || state.system !== 'show') return [];
  const box = h('input', {
    type: 'checkbox',
    checked: state.interrupts === 'show',
    onchange: (/** @type {any} */ e) => change(app, 'interrupts', e.target.checked ? 'show' : 'fold'),
  });
  const shown = h('label.toggle', { title: "the machine's work in the threads: interrupts and preemption (t)" }, box, 'Interrupts');
  if (state.interrupts === 'show') return [shown];
  return [shown, h('span.chip', {}, `their ${measureOf(model.shownMetric)} counts as that of the frame they hit`)];
}

/** @param {App} app @param {string} text @param {object} reset */
function chip(app, text, reset) {
  return h(
    'button.chip',
    { type: 'button', title: 'remove this filter', onclick: () => app.set(reset) },
    '✕ ',
    h('bdi', {}, text),
  );
}

/** What is set but has no control of its own. @param {App} app */
function filters(app) {
  const { state } = app;
  const out = [];
  const name = (/** @type {string} */ hash) => listName(app.model.functionOf(hash)?.name || '');
  const caller = app.model.functionOf(state.callees);
  const callee = app.model.functionOf(state.callers);
  const only = callee || caller;
  if (only) {
    const what = callee && callee === caller ? 'callers and callees' : callee ? 'callers' : 'callees';
    out.push(chip(app, `${what} of ${listName(only.name)}`, { callers: '', callees: '', zoom: '', selected: '' }));
  }
  if (app.model.functionOf(state.picked)) out.push(chip(app, name(state.picked), { picked: '', selected: '' }));
  if (state.range) out.push(chip(app, state.range.map((us) => (us / 1e6).toFixed(2)).join('–') + ' s', { range: null }));
  return out;
}

/** The value types that everything can show; the tested one is what the address leaves out. @param {App} app @returns {[string, string][]} */
function metricChoices({ model }) {
  return (model.meta.metrics || []).map((/** @type {any} */ m) => [
    m.tested ? '' : m.name,
    m.tested || model.sides === 1 ? m.name : `${m.name}, untested`,
  ]);
}

/** @param {App} app @returns {(Node|false|null)[]} */
function pieces(app) {
  const { model, state } = app;
  const two = model.sides === 2;
  const threads = [...model.threadNames().keys()].sort();
  const flame = state.tab === 'flame';
  const metrics = metricChoices(app);
  return [
    metrics.length > 1 && select(app, 'metric', 'Metric', metrics),
    select(app, 'colour', 'Colour', [
      ...(two ? [/** @type {[string, string]} */ (['diff', 'difference'])] : []),
      ['origin', 'origin'],
      ['function', 'function'],
    ]),
    ...systemCalls(app),
    ...interrupts(app),
    two &&
      flame &&
      state.view === 'diff' &&
      h(
        'button',
        {
          type: 'button',
          title: 'whose widths are drawn (r); colours keep their meaning',
          onclick: () => app.set({ reversed: !state.reversed }),
        },
        state.reversed ? 'After → Before' : 'Before → After',
      ),
    flame &&
      app.canShowRemoved() &&
      toggle(app, 'removed', `Removed (${count(model.removedCount)})`, 'stacks that only base has, in base widths (e)'),
    flame && toggle(app, 'inverted', 'Invert', 'callers below callees (i)'),
    threads.length > 1 &&
      select(app, 'thread', 'Thread', [['', 'all'], ...threads.map((t) => /** @type {[string, string]} */ ([t, t]))]),
    ...filters(app),
  ];
}

/** Which recording is shown, and how. @param {App} app */
function views(app) {
  return [
    app.model.sides === 2 &&
      choice(app, 'view', 'Recording', [
        ['base', 'Base', 'b'],
        ['head', 'Head', 'h'],
        ['diff', 'Diff', 'd'],
      ]),
    choice(app, 'tab', 'View', [
      ['flame', 'Flame'],
      ...(app.hasTimeline() ? [/** @type {[string, string]} */ (['timeline', 'Timeline'])] : []),
      ['functions', 'Functions'],
    ]),
  ];
}

/** @param {App} app @param {HTMLElement} bar */
export function drawControls(app, bar) {
  renew(bar, pieces(app));
}

/** What concerns the page, not the picture. @param {App} app @param {HTMLElement} corner */
export function drawCorner(app, corner) {
  const dark = app.colours.dark;
  renew(corner, [
    ...views(app),
    h('span.tool', {}, app.model.meta.tool),
    h(
      'button',
      { type: 'button', title: 'light or dark', 'aria-label': 'Switch between light and dark', onclick: () => app.switchTheme() },
      dark ? '☀' : '☾',
    ),
    h('button', { type: 'button', title: 'keys (?)', 'aria-label': 'Help', onclick: () => app.showHelp() }, '?'),
  ]);
}
