// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the picture, and the controls in the upper right corner. Both are made again when what they show has
// changed.

import { h, keepingFocus, renew } from '../common/dom.js';
import { count } from '../common/format.js';
import { figureOf } from '../model/figures.js';
import { OTHER_ROOT, OTHER_TREE } from '../model/state.js';
import { asToolbar } from '../common/toolbar.js';
import { button, select, signButton, themeButton, toggle } from '../common/widgets.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../common/widgets.js').Options} Options */

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
 * @property {() => void} handOver opens the menu of the ways to give to somebody what is seen
 * @property {() => void} showHelp
 */

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
    'system code: the kernel, and the C library with its start, threads and memory (s)',
    state.system === 'show',
    (checked) => set({ system: checked ? 'show' : 'hide', ...OTHER_TREE }),
  );
  return [shown];
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
 * Whether self time is a function's with its interpreter's. Without system frames there are none of an interpreter.
 * @param {Controlled} controlled @returns {Child[]}
 */
function interpreters({ model, state, set }) {
  if (!model.hasInterpreters || state.system !== 'show') return [];
  const hint =
    'the self time of a function that is interpreted includes that of the functions of the interpreter which do its ' +
    'work, as in verdicts (y)';
  const shown = toggle('Self with interpreter', hint, state.interpreter === 'function', (checked) =>
    set({ interpreter: checked ? 'function' : 'apart' }),
  );
  return [shown];
}

/**
 * The metrics to choose from, the tested one first. An empty value stands for that, so that addresses leave it out.
 * @param {Model} model
 */
function metricOptions({ meta, sides }) {
  /** @param {import('../data/report.js').Metric} metric @returns {[string, string]} */
  const option = ({ name, tested, words }) => [tested ? '' : name, tested || sides === 1 ? words : `${words}, untested`];
  const metrics = [...(meta.metrics || [])].sort((a, b) => Number(b.tested) - Number(a.tested));
  return metrics.map(option);
}

/** What colours can say; the keys 1 to 5 choose them. @type {Options} */
export const COLOURS = [
  ['diff', 'difference'],
  ['origin', 'origin'],
  ['function', 'function'],
  ['waiting', 'waiting'],
  ['bottleneck', 'bottleneck'],
];

/** Whether a report has what a colour tells. @param {Model} model @param {string} colour */
export function hasColour({ hasWaits, meta, sides }, colour) {
  if (colour === 'diff') return sides === 2;
  if (colour === 'waiting') return hasWaits;
  return colour !== 'bottleneck' || !!meta.hasBottlenecks;
}

/** How siblings can stand. @type {Options} */
const ORDERS = [
  ['name', 'name'],
  ['size', 'size'],
  ['change', 'change'],
];

/**
 * What the switch of removed stacks says, and its hint: how much of base is gone.
 * @param {Model} model @returns {[string, string]}
 */
function removedText(model) {
  const { count: stacks, base } = model.removed || { count: 0, base: 0 };
  const gone = figureOf(model, [base, 0]);
  const share = gone.share(0);
  const what = stacks === 1 ? '1 stack is' : `${count(stacks)} stacks are`;
  const hint = `${what} proven to be gone: ${gone.amount(0)}, ${share} of base; shown in base widths (e)`;
  return [`Removed (${share})`, hint];
}

/** Controls of the flame graph. @param {Controlled} controlled @returns {Child[]} */
function flameControls({ model, state, set }) {
  if (state.tab === 'functions') return [];
  const direction = {
    title: 'whose widths are drawn (r); colours keep their meaning',
    onclick: () => set({ reversed: !state.reversed }),
  };
  const flip = {
    title: 'the root at the bottom, or on top (f)',
    'aria-label': 'Flip',
    'aria-pressed': state.flipped,
    onclick: () => set({ flipped: !state.flipped }),
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
    toggle(
      'By function',
      'by function that runs: each of them with its time, and from there its callers (i)',
      state.inverted,
      (inverted) => set({ inverted, ...OTHER_ROOT }),
    ),
    !model.turned &&
      toggle('Fold runs', 'runs of frames with nearly the same time in one row, as one box (g)', state.trunks, (trunks) =>
        set({ trunks }),
      ),
    select('Order', ORDERS.slice(0, model.orders.length), model.orderOf(state), (order) => set({ order })),
    button('button', flip, '⇅'),
  ];
}

/**
 * The controls of the bar, the most important first: those behind them are the first that have no room in a narrow window.
 * @param {Controlled} controlled @returns {Child[]}
 */
function controlsOf(controlled) {
  const { model, state, set } = controlled;
  const metrics = metricOptions(model);
  const colours = COLOURS.filter(([value]) => hasColour(model, value));
  // The timeline has them in its own bar.
  const threads = state.tab === 'timeline' ? [] : model.narrowing.threadChoices;
  return [
    metrics.length > 1 && select('Metric', metrics, state.metric, (metric) => set({ metric })),
    select('Colour', colours, state.colour, (colour) => set({ colour })),
    ...systemCalls(controlled),
    ...flameControls(controlled),
    threads.length > 2 && select('Thread', threads, state.thread, (thread) => set({ thread, zoom: '' })),
    ...interrupts(controlled),
    ...interpreters(controlled),
  ];
}

/** The bar above the picture: one row, with what has no room in it behind a button at its end. */
export class ControlBar {
  constructor() {
    this.panel = h('div.more-controls', { popover: 'auto', id: 'more-controls', role: 'group', 'aria-label': 'More controls' });
    this.panel.addEventListener('toggle', () => this.#place());
    const opens = { title: 'controls that have no room in the bar', 'aria-haspopup': 'dialog', popoverTargetElement: this.panel };
    this.button = button('button.opens-more', opens, 'View');
    this.row = h('span.controls-row');
    this.element = asToolbar(h('div.control-bar', { 'aria-label': 'Controls' }, this.row, this.button, this.panel));
    this.element.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  /** @param {Controlled} controlled */
  draw(controlled) {
    keepingFocus(this.element, () => {
      this.panel.replaceChildren();
      this.row.replaceChildren(.../** @type {Node[]} */ (controlsOf(controlled).filter(Boolean)));
      this.#fit();
    });
  }

  /** Leaves as many controls in the row as have room there. */
  #fit() {
    const { button, element, panel, row } = this;
    const focused = /** @type {HTMLElement|null} */ (document.activeElement);
    row.append(...panel.children);
    button.hidden = false;
    const { right } = element.getBoundingClientRect();
    const own = button.offsetWidth + parseFloat(getComputedStyle(element).columnGap);
    const ends = [...row.children].map((child) => child.getBoundingClientRect().right);
    const isWhole = (ends.at(-1) ?? 0) <= right;
    button.hidden = isWhole;
    const first = isWhole ? ends.length : ends.findIndex((end) => end + own > right);
    panel.append(...[...row.children].slice(first));
    if (isWhole && panel.matches(':popover-open')) panel.hidePopover();
    if (element.contains(focused) && document.activeElement !== focused) focused?.focus();
  }

  /** Stands below its button. */
  #place() {
    const { left, bottom } = this.button.getBoundingClientRect();
    const x = Math.max(0, Math.min(left, innerWidth - this.panel.offsetWidth));
    this.panel.style.transform = `translate(${x}px, ${bottom}px)`;
  }

  /** Escape leaves the panel and nothing else. @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== 'Escape' || !this.panel.matches(':popover-open')) return;
    this.panel.hidePopover();
    this.button.focus();
    event.preventDefault();
    event.stopPropagation();
  }
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
export function drawCorner(corner, controlled, { dark, switchTheme, handOver, showHelp }) {
  renew(corner, [
    ...views(controlled),
    button('button', { title: 'picture, page, list, stack or link for somebody else (E)', 'aria-haspopup': 'menu', onclick: handOver }, 'Hand over ▾'),
    h('span.tool', {}, controlled.model.meta.tool),
    themeButton(dark, switchTheme),
    signButton('?', 'Help', 'keys (?)', showHelp),
  ]);
}
