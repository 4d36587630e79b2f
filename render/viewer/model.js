// SPDX-License-Identifier: GPL-3.0-or-later
// From the page's data and the state to what is drawn. No browser in here.

import { STATES, sumTree } from './decode.js';
import { widthsOf, leftEdges, countRemoved } from './layout.js';
import { coveredBy, filteredSelf, functionSums, inverted, withoutSystem } from './tree.js';
import { nodeAt, shortHash } from './state.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./decode.js').Func} Func */
/** @typedef {import('./state.js').State} State */

export class Model {
  /** @param {{meta: any, functions: Func[], tree: Tree, samples: any[]}} page */
  constructor(page) {
    this.page = page;
    this.meta = page.meta;
    this.functions = page.functions;
    this.factor = page.meta.factor || 1;
    this.sides = page.meta.sides;
    /** @type {any[]} */ this.timelines = [null, null];
    this.hidden = [0, 0];
    this.removedCount = 0;
    /** @type {Tree & {from?: Int32Array}} */ this.tree = page.tree;
    /** @type {Tree & {placed?: Int32Array}} before inverting */ this.callTree = page.tree;
    this.widths = new Float64Array(0);
    this.left = new Float64Array(0);
    this.zoom = 0;
    this.selected = -1;
    this.most = 0.5;
    this.treeKey = '';
    this.sums = { self: [new Float64Array(0), new Float64Array(0)], total: [new Float64Array(0), new Float64Array(0)] };
    /** @type {((func: number) => boolean)|null} */ this.matches = null;
    this.searchError = '';
    this.found = { sum: [0, 0], nodes: /** @type {number[]} */ ([]) };
  }

  /** Threads by name, over both sides. */
  threadNames() {
    const names = new Map();
    this.meta.recordings.forEach((/** @type {any} */ r, /** @type {number} */ i) => {
      const side = this.sides === 1 ? 1 : i;
      r.threads.forEach((/** @type {any[]} */ t, /** @type {number} */ id) => {
        const name = t[4] || t[3] || `thread ${t[2]}`;
        if (!names.has(name)) names.set(name, [new Set(), new Set()]);
        names.get(name)[side].add(id);
      });
    });
    return names;
  }

  /** @param {State} state */
  update(state) {
    const key = JSON.stringify([state.system, state.inverted, state.callers, state.thread, state.range]);
    if (key !== this.treeKey) this.rebuild(state);
    this.treeKey = key;
    this.removedCount = this.sides === 2 && !state.inverted && !state.callers ? countRemoved(this.tree) : 0;
    this.widths = widthsOf(this.tree, { view: this.sides === 1 ? 'head' : state.view, reversed: state.reversed, removed: state.removed && this.removedCount > 0, factor: this.factor });
    this.left = leftEdges(this.tree, this.widths);
    this.zoom = nodeAt(this.tree, this.functions, state.zoom);
    if (!(this.widths[this.zoom] > 0)) this.zoom = 0;
    this.selected = state.selected ? nodeAt(this.tree, this.functions, state.selected) : -1;
    this.most = this.largestPoints();
    this.search(state.search, state.origins);
  }

  /** @param {State} state */
  rebuild(state) {
    /** @type {Tree} */ let tree = this.page.tree;
    const ids = state.thread ? this.threadNames().get(state.thread) : null;
    const self = filteredSelf(tree, this.page.samples, this.timelines, {
      keepThread: ids ? (/** @type {number} */ side, /** @type {number} */ thread) => ids[side].has(thread) : undefined,
      range: state.range,
    });
    if (self) {
      tree = { ...tree, self, total: [new Float64Array(tree.count), new Float64Array(tree.count)] };
      sumTree(tree);
    }
    this.hidden = [0, 0];
    this.shownBefore = [tree.total[0][0], tree.total[1][0]];
    if (state.system !== 'show') {
      const spliced = withoutSystem(tree, this.functions, state.system === 'fold' ? 'fold' : 'hide');
      tree = spliced.tree;
      this.hidden = spliced.hidden;
    }
    this.callTree = tree;
    this.sums = functionSums(tree, this.functions.length);
    if (state.callers) tree = inverted(tree, this.functions, (f) => shortHash(this.functions[f].key) === state.callers);
    else if (state.inverted) tree = inverted(tree, this.functions);
    this.tree = tree;
  }

  /** Scaled totals [base, head] of what is shown. */
  totals() {
    return [this.tree.total[0][0], this.tree.total[1][0] * this.factor];
  }

  /** The length of a point on both sides. */
  scaleTotal() {
    return Math.max(...this.totals()) || 1;
  }

  /** Scaled [base, head] of a node. @param {number} node */
  valueOf(node) {
    return [this.tree.total[0][node], this.tree.total[1][node] * this.factor];
  }

  /** @param {number} node */
  selfOf(node) {
    return [this.tree.self[0][node], this.tree.self[1][node] * this.factor];
  }

  /** @param {number} node */
  pointsOf(node) {
    const [base, head] = this.valueOf(node);
    return (100 * (head - base)) / this.scaleTotal();
  }

  /** @param {number} node */
  stateOf(node) {
    return STATES[this.tree.state[node]];
  }

  /** The interval of a node's difference, or null. @param {number} node */
  intervalOf(node) {
    return this.tree === this.page.tree ? this.page.tree.intervals?.get(node) || null : null;
  }

  largestPoints() {
    let most = 0.5;
    for (let i = 1; i < this.tree.count; i++) {
      const state = this.tree.state[i];
      if (state === 2 || state === 3) most = Math.max(most, Math.abs(this.pointsOf(i)));
    }
    return most;
  }

  /** @param {string} text @param {string} origins */
  search(text, origins) {
    this.searchError = '';
    /** @type {RegExp|null} */ let pattern = null;
    if (text) {
      try {
        pattern = new RegExp(text, /[A-Z]/.test(text) ? '' : 'i');
      } catch {
        this.searchError = 'not a regular expression: searched as plain text';
        pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
      }
    }
    if (!pattern && !origins) {
      this.matches = null;
      this.found = { sum: [0, 0], nodes: [] };
      return;
    }
    const hits = this.functions.map((f) => (!pattern || pattern.test(f.name)) && (!origins || origins.includes(String(f.origin))));
    this.matches = (func) => func >= 0 && hits[func];
    this.found = coveredBy(this.tree, this.matches);
  }

  /** @param {number} node */
  nameOf(node) {
    const func = this.tree.func[node];
    return func < 0 ? 'all' : this.functions[func].name;
  }
}
