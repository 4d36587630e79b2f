// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the picture. It is built anew from the state after every change; the search field keeps its focus and its text.

import { h } from './dom.js';
import { count, digits, listName, percent } from './format.js';

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
    ['hide', 'hidden with their time'],
    ['fold', 'folded into their caller'],
  ];
  const hidden = model.hiddenShares().map((share) => `${digits(share)} %`);
  const text =
    state.system === 'fold'
      ? "their time counts as their caller's"
      : model.sides === 2
        ? `hidden: ${hidden[0]} of base, ${hidden[1]} of head`
        : `hidden: ${hidden[1]} of all time`;
  return [shown, select(app, 'system', 'System frames are', ways, true), h('span.chip', {}, text)];
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

/** @param {App} app */
function search(app) {
  const { model, state } = app;
  app.search = h('input', {
    type: 'search',
    placeholder: 'search  (/)',
    value: state.search,
    'aria-label': 'Search functions, a regular expression',
    'data-keep': 'search',
    onchange: (/** @type {any} */ e) => app.set({ search: e.target.value }),
    oninput: (/** @type {any} */ e) => app.searchSoon(e.target.value),
    onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === 'Enter' && app.searchNow(),
  });
  if (!model.matches) return [app.search];
  const { nodes, sum } = model.found;
  const [base, head] = model.totals();
  const share = sum[1] ? percent(sum[1] * model.factor, head) : percent(sum[0], base);
  const found = h(
    'span.found',
    {},
    `${nodes.length ? `${nodes.indexOf(model.selected) + 1}/` : ''}${nodes.length} · ${share}`,
    model.searchError && h('span.hint', {}, ` ${model.searchError}`),
  );
  if (!nodes.length) return [app.search, found];
  return [
    app.search,
    found,
    h(
      'button',
      { type: 'button', title: 'previous match (N)', 'aria-label': 'Previous match', onclick: () => app.nextMatch(-1) },
      '◀',
    ),
    h('button', { type: 'button', title: 'next match (n)', 'aria-label': 'Next match', onclick: () => app.nextMatch(1) }, '▶'),
  ];
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
      ['bottleneck', 'bottleneck'],
    ]),
    ...systemCalls(app),
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
    h('span.grow'),
    ...search(app),
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

/** Makes the controls of a bar anew; what had the focus has it again. @param {HTMLElement} bar @param {(Node|false|null)[]} list */
function renew(bar, list) {
  const focused = bar.contains(document.activeElement) ? document.activeElement : null;
  const label = focused ? labelOf(focused) : '';
  bar.replaceChildren(.../** @type {Node[]} */ (list.filter(Boolean)));
  if (!label) return;
  const again = [...bar.querySelectorAll('button, select, input')].find((e) => labelOf(e) === label);
  /** @type {HTMLElement|undefined} */ (again)?.focus();
}

/** @param {App} app @param {HTMLElement} bar */
export function drawControls(app, bar) {
  const typing = /** @type {any} */ (document.activeElement)?.dataset?.keep === 'search';
  renew(bar, pieces(app));
  if (!typing) return;
  app.search.focus();
  app.search.setSelectionRange(app.search.value.length, app.search.value.length);
}

/** What a control is called, to find it again after it was built anew. @param {any} element */
function labelOf(element) {
  return element.ariaLabel || element.closest('label')?.textContent || element.title || element.textContent;
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
    h('button', { type: 'button', title: 'keys (?)', 'aria-label': 'Help', onclick: () => app.help.showModal() }, '?'),
  ]);
}
