// SPDX-License-Identifier: GPL-3.0-or-later
// The ways to filter by what is on the screen: the entries of its menu, and what its keys do.

import { hasFilter, ORIGIN_WORDS, withFilter, withoutFilter, withoutLast } from '../model/filters.js';
import { listName, moduleName } from '../common/format.js';
import { hashOf, shortHash } from '../data/hash.js';
import { NO_MARKS } from '../model/state.js';

/** @typedef {import('../model/filters.js').Kind} Kind */
/** @typedef {import('../common/menu.js').Item} Item */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../data/symbols.js').Func} Func */

/**
 * What filtering needs of the page around it.
 * @typedef {object} FilteringHost
 * @property {Model} model
 * @property {() => State} state
 * @property {(change: Change) => void} set changes the state
 * @property {(node: number) => void} zoom
 * @property {(func: number, which: 'both') => void} around shows callers and callees of a function
 * @property {(func: number) => void} lines shows the lines of a function
 * @property {(node: number) => void} copy copies the stack of a frame
 * @property {() => void} link copies the address, which holds what is seen
 */

/** What a filter leaves nothing of to be selected. */
const TAKES_FRAMES = ['without', 'merge'];

export class Filtering {
  /** @param {FilteringHost} host */
  constructor(host) {
    this.host = host;
  }

  /**
   * Adds a filter, or takes it away where it is there. One that is about a function does nothing where there is none.
   * @param {Kind} kind @param {number} func of the frame that it is about, or -1
   */
  toggle(kind, func) {
    const { model, set, state } = this.host;
    const f = model.functions[func];
    const hash = this.#hashFor(kind, f);
    if (hash === null) return;
    const { filters } = state();
    const isOn = hasFilter(filters, kind, hash);
    const leave = !isOn && TAKES_FRAMES.includes(kind) ? { selected: '' } : {};
    set({ filters: isOn ? withoutFilter(filters, kind, hash) : withFilter(filters, kind, hash), ...leave });
  }

  /**
   * What a filter of a kind is about; null where it can be about nothing.
   * @param {Kind} kind @param {Func|undefined} f
   */
  #hashFor(kind, f) {
    if (kind in ORIGIN_WORDS || kind === 'recursion') return '';
    if (!f) return null;
    if (kind === 'process') return f.isProcess ? shortHash(f.name) : null;
    if (f.isProcess) return null;
    if (kind === 'module') return f.module ? shortHash(f.module) : null;
    return hashOf(f);
  }

  /**
   * Filters by what the search has found, or no longer; nothing where it has found no function. What is left out is
   * searched no more.
   * @param {'focus'|'hide'} kind
   */
  toggleFound(kind) {
    const { model, set, state } = this.host;
    const { expression } = model.names;
    const { filters, search } = state();
    if (!search || !expression) return;
    const isOn = hasFilter(filters, kind, expression);
    const leave = !isOn && kind === 'hide' ? { selected: '', search: '' } : {};
    set({ filters: isOn ? withoutFilter(filters, kind, expression) : withFilter(filters, kind, expression), ...leave });
  }

  /** The entries of the menu of what the search has found. @returns {Item[]} */
  foundItems() {
    const { model, state } = this.host;
    const isOn = (/** @type {Kind} */ kind) => hasFilter(state().filters, kind, model.names.expression);
    return [
      { text: 'Only stacks with these', key: 'F', checked: isOn('focus'), act: () => this.toggleFound('focus') },
      { text: 'Leave these frames out', key: 'H', checked: isOn('hide'), act: () => this.toggleFound('hide') },
    ];
  }

  /** Takes away the filter that was added last. */
  removeLast() {
    const { set, state } = this.host;
    const { filters, thread, range } = state();
    if (filters) set({ filters: withoutLast(filters) });
    else if (range) set({ range: null });
    else if (thread) set({ thread: '' });
  }

  /** Takes away every filter. */
  #removeAll() {
    this.host.set({ filters: '', thread: '', range: null, ...NO_MARKS });
  }

  /** Shows processes as the first row, or not. */
  switchProcesses() {
    const { model, set, state } = this.host;
    if (model.narrowing.processes.length > 1) set({ processes: !state().processes });
  }

  /**
   * The entries of the menu of a function, and of one of its frames.
   * @param {number} func or -1 @param {number} node or -1 @returns {(Item|null)[]}
   */
  items(func, node) {
    const { link, model, state } = this.host;
    const { filters, thread, range, origins, states, bottlenecks } = state();
    const f = model.functions[func];
    const toggles = (/** @type {Kind} */ kind) => () => this.toggle(kind, func);
    const any = !!(filters || thread || range || origins || states || bottlenecks);
    return [
      ...(f ? [...this.#functionItems(f, toggles), null] : []),
      ...this.#originItems(toggles),
      { text: 'Fold recursion', key: 'R', checked: hasFilter(filters, 'recursion'), act: toggles('recursion') },
      ...this.#trunkItems(),
      ...this.#processItems(),
      ...(f ? [null, ...this.#frameItems(f, node)] : []),
      null,
      { text: 'Copy link to this view', act: link },
      ...(any ? [null, { text: 'Remove all filters', act: () => this.#removeAll() }] : []),
    ];
  }

  /** The entries that leave the code of one origin. @param {(kind: Kind) => () => void} toggles @returns {Item[]} */
  #originItems(toggles) {
    const { filters } = this.host.state();
    return Object.entries(ORIGIN_WORDS).map(([name, text]) => {
      const kind = /** @type {Kind} */ (name);
      return { text, ...(kind === 'user' && { key: 'u' }), checked: hasFilter(filters, kind), act: toggles(kind) };
    });
  }

  /** @param {Func} f @param {(kind: Kind) => () => void} toggles @returns {Item[]} */
  #functionItems(f, toggles) {
    if (f.isProcess) return [{ text: `Only process ${f.name}`, key: 'k', act: toggles('process') }];
    const name = listName(f.name);
    const module = { text: `Only stacks through ${moduleName(f.module)}`, key: 'K', act: toggles('module') };
    return [
      { text: `Only stacks with ${name}`, key: 'k', act: toggles('only') },
      { text: `Without stacks of ${name}`, key: 'w', act: toggles('without') },
      { text: `Merge ${name} into its callers`, key: 'm', act: toggles('merge') },
      ...(f.module ? [module] : []),
    ];
  }

  /** @returns {Item[]} */
  #trunkItems() {
    const { model, set, state } = this.host;
    const { trunks } = state();
    if (model.turned) return [];
    return [{ text: 'Fold runs of frames into one row', key: 'g', checked: trunks, act: () => set({ trunks: !trunks }) }];
  }

  /** @returns {Item[]} */
  #processItems() {
    const { model, state } = this.host;
    if (model.narrowing.processes.length < 2) return [];
    const act = () => this.switchProcesses();
    return [{ text: 'Processes as the first row', key: 'p', checked: state().processes, act }];
  }

  /** @param {Func} f @param {number} node or -1 @returns {Item[]} */
  #frameItems(f, node) {
    const { around, copy, lines, model, zoom } = this.host;
    /** @type {Item[]} */ const out = [];
    if (node > 0) out.push({ text: 'Zoom to this frame', key: 'Enter', act: () => zoom(node) });
    if (!f.isProcess) out.push({ text: 'Callers and callees', key: 'x', act: () => around(f.id, 'both') });
    if (!f.isProcess && model.meta.hasLines) out.push({ text: 'Lines', key: 'l', act: () => lines(f.id) });
    if (node > 0) out.push({ text: 'Copy stack', key: 'c', act: () => copy(node) });
    return out;
  }
}
