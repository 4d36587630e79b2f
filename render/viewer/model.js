// SPDX-License-Identifier: GPL-3.0-or-later
// From the page's data and the state to what is drawn. No browser in here.

import { STATES, sumTree } from './decode.js';
import { countRemoved, depthBelow, leftEdges, widthsOf } from './layout.js';
import { calleesOf, coveredBy, filteredSelf, functionSums, inverted, withoutSystem } from './tree.js';
import { nodeAt, shortHash } from './state.js';

const PROVEN = ['more', 'less', 'new', 'gone'];

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
    this.shownBefore = [0, 0];
    this.removedCount = 0;
    /** @type {Tree} */ this.tree = page.tree;
    /** @type {Tree} before inverting */ this.callTree = page.tree;
    /** @type {Float64Array} */ this.widths = new Float64Array(0);
    this.left = new Float64Array(0);
    this.zoom = 0;
    this.selected = -1;
    this.most = 0.5;
    /** @type {Map<string, any[]>} what each derived thing was last made from */ this.madeFrom = new Map();
    this.deepest = 0;
    this.sums = { self: [new Float64Array(0), new Float64Array(0)], total: [new Float64Array(0), new Float64Array(0)] };
    /** @type {((node: number) => boolean)|null} */ this.matches = null;
    /** @type {boolean[]} which functions a search finds */ this.functionHits = [];
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

  /** Recomputes what a change of state touches, and no more. @param {State} state */
  update(state) {
    const { view, reversed, removed, zoom, selected } = state;
    if (
      this.isNew('tree', state.system, state.inverted, state.callers, state.callees, state.thread, state.range, this.timelines)
    ) {
      this.rebuild(state);
      this.removedCount = this.sides === 2 && !state.inverted && !state.callers && !state.callees ? countRemoved(this.tree) : 0;
      this.most = this.largestPoints();
    }
    if (this.isNew('widths', this.tree, view, reversed, removed)) {
      this.widths = widthsOf(this.tree, {
        view: this.sides === 1 ? 'head' : view,
        reversed,
        removed: removed && view === 'diff' && this.removedCount > 0,
        factor: this.factor,
      });
      this.left = leftEdges(this.tree, this.widths);
    }
    this.zoom = nodeAt(this.tree, this.functions, zoom);
    if (!(this.widths[this.zoom] > 0)) this.zoom = 0;
    this.selected = selected ? nodeAt(this.tree, this.functions, selected) : -1;
    if (this.isNew('deepest', this.widths, this.zoom)) this.deepest = depthBelow(this.tree, this.widths, this.zoom);
    if (this.isNew('search', this.widths, state.search, state.picked, state.origins, state.states)) this.search(state);
  }

  /** Whether something was last made from other things than these. @param {string} what @param {...any} from */
  isNew(what, ...from) {
    const before = this.madeFrom.get(what);
    if (before && before.every((value, i) => value === from[i])) return false;
    this.madeFrom.set(what, from);
    return true;
  }

  /** @param {State} state */
  rebuild(state) {
    /** @type {Tree} */ let tree = this.page.tree;
    const ids = state.thread ? this.threadNames().get(state.thread) : null;
    const self = filteredSelf(tree, this.page.samples, this.timelines, {
      keepThread: ids ? (/** @type {number} */ side, /** @type {number} */ thread) => ids[side].has(thread) : undefined,
      range: this.meta.recordings.every((/** @type {any} */ r) => r.hasTimeline) ? state.range : null,
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
    const caller = this.functionOf(state.callees);
    const callee = this.functionOf(state.callers);
    if (callee) tree = inverted(tree, this.functions, (f) => f === callee.id);
    else if (caller) tree = calleesOf(tree, this.functions, (f) => f === caller.id);
    else if (state.inverted) tree = inverted(tree, this.functions);
    this.tree = tree;
  }

  /** Percent of [base, head] that the system frames' toggle hides. */
  hiddenShares() {
    return this.hidden.map((value, side) => (this.shownBefore[side] ? (100 * value) / this.shownBefore[side] : 0));
  }

  /** Whether what is shown is less than what was tested. */
  get filtered() {
    return this.callTree !== this.page.tree;
  }

  /** Functions whose change is proven, the largest change first; `own`: in the function itself, not in what it calls. @param {boolean} own */
  provenFunctions(own) {
    const part = own ? 'self' : 'total';
    const proven = this.functions.filter((f) => f[part] && PROVEN.includes(f[part].state));
    return proven.sort((a, b) => Math.abs(b[part].delta) - Math.abs(a[part].delta));
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

  /** The text as a regular expression; null for none. Small letters match both cases. @param {string} text */
  pattern(text) {
    this.searchError = '';
    if (!text) return null;
    const flags = /[A-Z]/.test(text) ? '' : 'i';
    try {
      return new RegExp(text, flags);
    } catch {
      this.searchError = 'not a regular expression: searched as plain text';
      return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
    }
  }

  /** @param {State} state */
  search({ search, picked, origins, states }) {
    const pattern = this.pattern(search);
    this.matches = null;
    this.found = { sum: [0, 0], nodes: [] };
    const only = this.functionOf(picked);
    if (!pattern && !only && !origins && !states) return;
    const hits = this.functions.map(
      (f) => (!pattern || pattern.test(f.name)) && (!only || f === only) && (!origins || origins.includes(String(f.origin))),
    );
    this.functionHits = hits;
    const { func, state } = this.tree;
    this.matches = (node) => node > 0 && hits[func[node]] && (!states || states.includes(String(state[node])));
    this.found = coveredBy(this.tree, this.matches);
    this.found.nodes = this.found.nodes.filter((node) => this.widths[node] > 0);
  }

  /** The function that the state tells by its hash; undefined: this report has none. @param {string} hash */
  functionOf(hash) {
    return hash ? this.functions.find((f) => shortHash(f.key) === hash) : undefined;
  }

  /** @param {number} node */
  nameOf(node) {
    const func = this.tree.func[node];
    return func < 0 ? 'all' : this.functions[func].name;
  }
}
