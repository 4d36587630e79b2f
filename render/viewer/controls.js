// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the picture, and the controls in the upper right corner. Both are made again when what they show has
// changed.

import { h, renew } from './dom.js';
import { amount, count, digits, listName, measureOf, percent } from './format.js';
import { button, select, signButton, toggle } from './widgets.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./widgets.js').Options} Options */

/**
 * What the bar shows and changes.
 * @typedef {object} Controlled
 * @property {Model} model
 * @property {State} state
 * @property {(change: Change) => void} set changes the state
 */

/**
 * What the corner shows and does besides.
 * @typedef {object} CornerActions
 * @property {boolean} dark whether the page is dark
 * @property {() => void} switchTheme
 * @property {() => void} showHelp
 */

/** What a choice resets, because a path into another tree means nothing. */
const OTHER_TREE = { zoom: '', selected: '' };
const OTHER_ROOT = { ...OTHER_TREE, callers: '', callees: '' };

/** A group of buttons, one of which is pressed. @param {string} label @param {Child[]} buttons */
const group = (label, buttons) => h('span.choice', { role: 'group', 'aria-label': label }, ...buttons);

/** @param {string} text @param {boolean} pressed @param {string} title @param {() => void} onclick */
const pressable = (text, pressed, title, onclick) =>
  button('button', { 'aria-pressed': pressed, title, onclick }, text);

/**
 * System frames: shown, hidden with their time, or folded into their caller.
 * @param {Controlled} controlled @returns {Child[]}
 */
function systemCalls({ state, set }) {
  const shown = toggle(
    'System calls',
    'frames of the kernel and the low-level runtime (s)',
    state.system === 'show',
    (checked) => set({ system: checked ? 'show' : 'hide', ...OTHER_TREE }),
  );
  return [shown];
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
  const [base, head] = model.hiddenShares().map((share) => `${digits(share)} %`);
  return model.sides === 2 ? `hidden: ${base} of base, ${head} of head` : `hidden: ${head} of all ${measure}`;
}

/**
 * Interrupts in their own frames, or as time of the frames that they hit. Without system frames there are none.
 * @param {Controlled} controlled @returns {Child[]}
 */
function interrupts({ model, state, set }) {
  if (!model.hasInterrupts || state.system !== 'show') return [];
  const hint = "the machine's work in the threads: interrupts and preemption (t)";
  const shown = toggle('Interrupts', hint, state.interrupts === 'show', (checked) =>
    set({ interrupts: checked ? 'show' : 'fold' }),
  );
  return [shown];
}

/**
 * A filter without a control of its own.
 * @param {string} text @param {() => void} onclick removes the filter @param {string} [before] stands before the text
 * @param {string} [title]
 */
function chip(text, onclick, before = '', title = 'remove this filter') {
  return button('button.chip', { title, onclick }, `✕ ${before}`, h('bdi', {}, text));
}

/** The filters that have no controls of their own. @param {Controlled} controlled @returns {Child[]} */
function filters({ model, state, set }) {
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
    out.push(chip(listName(picked.name), leave, `Esc · ${where}`, 'Esc leaves the function'));
  }
  if (state.range) {
    const times = state.range.map((us) => (us / 1e6).toFixed(2)).join('–');
    out.push(chip(`${times} s`, () => set({ range: null })));
  }
  return out;
}

/**
 * The metrics to choose from. An empty value stands for the tested one, so that addresses leave it out.
 * @param {Model} model
 */
function metricOptions({ meta, sides }) {
  /** @param {import('./report.js').Metric} metric @returns {[string, string]} */
  const option = ({ name, tested }) => [tested ? '' : name, tested || sides === 1 ? name : `${name}, untested`];
  return (meta.metrics || []).map(option);
}

/** What colours can say. @type {Options} */
const COLOURS = [
  ['diff', 'difference'],
  ['origin', 'origin'],
  ['function', 'function'],
];

/**
 * What the switch of removed stacks says, and its hint: how much of base is gone.
 * @param {Model} model @returns {[string, string]}
 */
function removedText(model) {
  const { count: stacks, base } = model.removed || { count: 0, base: 0 };
  const share = percent(base, model.totals()[0]);
  const what = stacks === 1 ? '1 stack is' : `${count(stacks)} stacks are`;
  const hint = `${what} proven to be gone: ${amount(base, model.unit)}, ${share} of base; shown in base widths (e)`;
  return [`Removed (${share})`, hint];
}

/** Controls of the flame graph. @param {Controlled} controlled @returns {Child[]} */
function flameControls({ model, state, set }) {
  if (state.tab !== 'flame') return [];
  const direction = {
    title: 'whose widths are drawn (r); colours keep their meaning',
    onclick: () => set({ reversed: !state.reversed }),
  };
  return [
    model.sides === 2 &&
      state.view === 'diff' &&
      button('button', direction, state.reversed ? 'After → Before' : 'Before → After'),
    model.canShowRemoved(state) &&
      toggle(
        ...removedText(model),
        state.removed,
        (removed) => set({ removed }),
      ),
    toggle('Invert', 'callers below callees (i)', state.inverted, (inverted) => set({ inverted, ...OTHER_ROOT })),
  ];
}

/** Makes the bar above the picture. @param {HTMLElement} bar @param {Controlled} controlled */
export function drawControls(bar, controlled) {
  const { model, state, set } = controlled;
  const metrics = metricOptions(model);
  const colours = model.sides === 2 ? COLOURS : COLOURS.slice(1);
  const threads = [...model.threadNames().keys()].sort();
  const threadOptions = [['', 'all'], ...threads.map((name) => [name, name])];
  renew(bar, [
    metrics.length > 1 && select('Metric', metrics, state.metric, (metric) => set({ metric })),
    select('Colour', colours, state.colour, (colour) => set({ colour })),
    ...systemCalls(controlled),
    ...interrupts(controlled),
    ...flameControls(controlled),
    threads.length > 1 &&
      select('Thread', /** @type {Options} */ (threadOptions), state.thread, (thread) => set({ thread, zoom: '' })),
  ]);
}

/**
 * Makes the row of what is left out and filtered. It stands in a place of its own, so that nothing moves when one
 * comes or goes.
 * @param {HTMLElement} row @param {Controlled} controlled
 */
export function drawChips(row, controlled) {
  renew(row, [...filters(controlled), ...leftOut(controlled)]);
}

/** The choice of the recording and of the view. @param {Controlled} controlled @returns {Child[]} */
function views({ model, state, set }) {
  const recordings = ['Base', 'Head', 'Diff'].map((text) => {
    const view = text.toLowerCase();
    return pressable(text, state.view === view, view[0], () => set({ view }));
  });
  const tabs = ['Flame', ...(model.hasTimeline ? ['Timeline'] : []), 'Functions'].map((text) => {
    const tab = text.toLowerCase();
    return pressable(text, state.tab === tab, '', () => set({ tab }));
  });
  return [model.sides === 2 && group('Recording', recordings), group('View', tabs)];
}

/**
 * Makes the controls in the upper right corner, which concern the page and not the picture.
 * @param {HTMLElement} corner @param {Controlled} controlled @param {CornerActions} actions
 */
export function drawCorner(corner, controlled, { dark, switchTheme, showHelp }) {
  renew(corner, [
    ...views(controlled),
    h('span.tool', {}, controlled.model.meta.tool),
    signButton(dark ? '☀' : '☾', 'Switch between light and dark', 'light or dark', switchTheme),
    signButton('?', 'Help', 'keys (?)', showHelp),
  ]);
}
