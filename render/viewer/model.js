// SPDX-License-Identifier: GPL-3.0-or-later
// From the page's data and the state to what is drawn. No browser in here.

import { around, inverted, outermost } from './lazy.js';
import { countRemoved, depthBelow, removedWidths, sideOf, walkWide } from './layout.js';
import { matchAll, patternOf } from './pattern.js';
import { nodeAt } from './state.js';
import { hasInterrupts, hashOf, INTERRUPTS, provenIn, STATES, SYSTEM } from './symbols.js';
import { splicerOf } from './system.js';
import { covered, filteredSelf, functionSums, hasCaller, largestChange, placesByFunction, withoutInterrupts } from './tree.js';

/** Below this part of the width nothing is looked for in a tree that is made while it is looked at. */
const LEAST_PART = 1 / 4000;
const MOST_NODES = 20000;
/** Trees of fewer nodes are made anew at once. */
const LARGE = 200000;

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./layout.js').AnyTree} AnyTree */
/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./state.js').State} State */

export class Model {
  /** @param {{meta: any, functions: Func[], tree: Tree, samples: any[]}} page */
  constructor(page) {
    this.page = page;
    this.meta = page.meta;
    this.functions = page.functions;
    this.factor = page.meta.factor || 1;
    this.sides = page.meta.sides;
    /** Whether anything interrupted the threads. */ this.hasInterrupts = hasInterrupts(page.functions);
    /** @type {any[]} */ this.timelines = [null, null];
    this.hidden = [0, 0];
    this.shownBefore = [0, 0];
    this.removedCount = 0;
    /** @type {AnyTree} what is drawn */ this.tree = page.tree;
    /** @type {Tree} before turning it around */ this.callTree = page.tree;
    /** Which side's values are the widths. */
    this.side = 1;
    /** @type {Float64Array|null} widths of what is gone, where that is drawn */ this.gone = null;
    this.width = (/** @type {number} */ node) => (this.gone ? this.gone[node] : this.tree.total[this.side][node]);
    this.zoom = 0;
    this.selected = -1;
    this.most = 0.5;
    this.metric = this.testedMetric();
    /** @type {Map<string, any[]>} what each derived thing was last made from */ this.madeFrom = new Map();
    /** @type {{self: Float64Array[], total: Float64Array[]}|null} */ this.sumsMade = null;
    /** @type {{starts: Int32Array, nodes: Int32Array}|null} */ this.placesMade = null;
    /** @type {((node: number) => boolean)|null} */ this.matches = null;
    /** @type {Uint8Array} which functions a search finds */ this.functionHits = new Uint8Array(0);
    this.searchError = '';
    /** @type {((pattern: any, done: (hits: Uint8Array|null, error: string) => void) => void)|null} what can be stopped */ this.searchApart =
      null;
    /** @type {{text: string, hits: Uint8Array|null, error: string}|null} what was searched there */ this.foundApart = null;
    /** @type {Map<string, Func>|null} */ this.byHash = null;
    this.deepest = 0;
    this.found = { sum: [0, 0], nodes: /** @type {number[]} */ ([]) };
    /** @type {{from: any[], splicer: ReturnType<typeof splicerOf>}|null} the call tree that is being made */ this.coming = null;
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

  /** Place of the metric that the evidence is about. */
  testedMetric() {
    return Math.max(
      0,
      (this.meta.metrics || []).findIndex((/** @type {any} */ m) => m.tested),
    );
  }

  /** The value type that everything shows. @returns {{name: string, unit: string, tested: boolean}} */
  get shownMetric() {
    return this.meta.metrics?.[this.metric] || { name: this.meta.metric, unit: this.meta.unit, tested: true };
  }

  get unit() {
    return this.shownMetric.unit;
  }

  /** What must be read before a state can be shown: samples, for what is filtered or of another metric. @param {State} state */
  needsSamples(state) {
    return !!state.thread || !!state.range || this.metricOf(state) !== this.testedMetric();
  }

  /** @param {State} state */
  metricOf(state) {
    const at = (this.meta.metrics || []).findIndex((/** @type {any} */ m) => m.name === state.metric);
    return at < 0 ? this.testedMetric() : at;
  }

  /** Recomputes what a change of state touches, and no more. @param {State} state */
  update(state) {
    const { callers, callees } = state;
    this.metric = this.metricOf(state);
    if (this.isNew('calls', ...this.sourcesOf(state))) this.rebuild(state);
    if (this.isNew('tree', this.callTree, state.inverted, callers, callees)) this.turn(state);
    this.draws(state);
    this.zoom = nodeAt(this.tree, this.functions, state.zoom);
    if (!(this.width(this.zoom) > 0) || this.zoom <= this.tree.twin) this.zoom = 0;
    this.selected = state.selected ? nodeAt(this.tree, this.functions, state.selected) : -1;
    if (
      this.isNew('search', this.tree, this.metric, this.side, this.gone, state.search, state.picked, state.origins, state.states)
    )
      this.search(state);
  }

  /** Whether something was last made from other things than these. @param {string} what @param {...any} from */
  isNew(what, ...from) {
    if (same(this.madeFrom.get(what), from)) return false;
    this.madeFrom.set(what, from);
    return true;
  }

  /** What the call tree is made from. @param {State} state */
  sourcesOf(state) {
    const samples = this.needsSamples(state) ? this.page.samples : null;
    return [state.system, state.interrupts, state.thread, state.range, this.metricOf(state), samples, this.timelines];
  }

  /** What takes long before a state can be shown, to be done step by step; null: nothing does. @param {State} state */
  ahead(state) {
    const from = this.sourcesOf(state);
    if (!same(this.coming?.from, from)) this.coming = null;
    if (!this.splices(state) || this.page.tree.count < LARGE || same(this.madeFrom.get('calls'), from)) return null;
    return this.splicing(state, from);
  }

  /** Whether frames are taken out of the tree. @param {State} state */
  splices({ system, interrupts }) {
    return system !== 'show' || (interrupts === 'fold' && this.hasInterrupts);
  }

  /** The removal of system frames, or of interrupts alone, as far as it has come. @param {State} state @param {any[]} from */
  splicing(state, from) {
    const mode = state.system === 'hide' ? 'hide' : 'fold';
    const least = state.system === 'show' ? INTERRUPTS : SYSTEM;
    if (!same(this.coming?.from, from))
      this.coming = { from, splicer: splicerOf(this.filteredTree(state), this.functions, mode, least) };
    return this.coming && this.coming.splicer;
  }

  /** The page's tree under the filters. @param {State} state */
  filteredTree(state) {
    const { tree } = this.page;
    const ids = state.thread ? this.threadNames().get(state.thread) : null;
    const hasTimes = this.meta.recordings.every((/** @type {any} */ r) => r.hasTimeline);
    const range = hasTimes ? state.range : null;
    const metric = this.metricOf(state);
    if (!ids && !range && metric === this.testedMetric()) return tree;
    const keepThread = ids ? (/** @type {number} */ side, /** @type {number} */ thread) => ids[side].has(thread) : undefined;
    return tree.withSelf(filteredSelf(tree, this.page.samples, this.timelines, { keepThread, range, metric }));
  }

  /** The call tree that is shown. @param {State} state */
  rebuild(state) {
    const splicer = this.splices(state) ? this.splicing(state, this.sourcesOf(state)) : null;
    const whole = splicer ? splicer.tree : this.filteredTree(state);
    splicer?.run();
    this.coming = null;
    const { tree, hidden } = splicer ? splicer.result() : { tree: whole, hidden: [0, 0] };
    this.hidden = hidden;
    this.shownBefore = [whole.total[0][0], whole.total[1][0]];
    tree.own = this.hasInterrupts ? withoutInterrupts(tree) : null;
    this.callTree = tree;
    this.sumsMade = null;
    this.placesMade = null;
  }

  /** From the call tree to the one that is drawn. @param {State} state */
  turn(state) {
    const callee = this.functionOf(state.callers);
    const caller = this.functionOf(state.callees);
    const both = callee && caller && callee === caller;
    const only = callee || caller;
    if (only) this.tree = around(this.callTree, this.functions, only.id, { callers: !!callee, callees: both || !callee });
    else this.tree = state.inverted ? inverted(this.callTree, this.functions) : this.callTree;
    this.removedCount = this.sides === 2 && this.tree === this.callTree ? countRemoved(this.callTree) : 0;
    this.most = this.largestPoints();
  }

  /** Whose widths are drawn. @param {State} state */
  draws({ view, reversed, removed }) {
    this.side = this.sides === 1 ? 1 : sideOf({ view, reversed });
    const showsGone = removed && view === 'diff' && this.removedCount > 0;
    if (this.isNew('gone', this.tree, showsGone)) this.gone = showsGone ? removedWidths(this.callTree) : null;
  }

  /** What is drawn as wide as it is, by node; null for a tree that is made while it is looked at. */
  get widths() {
    return this.tree.isLazy ? null : this.gone || this.tree.total[this.side];
  }

  /** Percent of [base, head] that the system frames' toggle hides. */
  hiddenShares() {
    return this.hidden.map((value, side) => (this.shownBefore[side] ? (100 * value) / this.shownBefore[side] : 0));
  }

  /** Whether what is shown is not what was tested. */
  get filtered() {
    return this.callTree !== this.page.tree;
  }

  /** Whether it is a part of what was tested. */
  get isNarrowed() {
    return this.sides === 2 && this.filtered && this.shownMetric.tested;
  }

  /** Self and total of every function under the filters. */
  get sums() {
    return (this.sumsMade ||= functionSums(this.callTree, this.functions.length));
  }

  /** The call tree's frames of a function. @param {number} func @returns {Int32Array} */
  framesOf(func) {
    const { starts, nodes } = (this.placesMade ||= placesByFunction(this.callTree, this.functions.length));
    return nodes.subarray(starts[func], starts[func + 1]);
  }

  /**
   * Proven changes, the largest first: in the functions themselves where there are such, else in what they call, too.
   * @returns {{f: Func, e: import('./symbols.js').Estimate, own: boolean}[]}
   */
  provenChanges() {
    if (this.sides === 1) return [];
    const own = provenIn(this.functions, 'self');
    return own.length ? own : provenIn(this.functions, 'total');
  }

  /** The same of what filters leave, with the figures under them. @returns {ReturnType<Model['provenChanges']>} */
  shownChanges() {
    if (!this.isNarrowed) return this.provenChanges();
    const left = (/** @type {'self'|'total'} */ part) => {
      const [sums0, sums1] = this.sums[part];
      const list = provenIn(this.functions, part).map(({ f, e, own }) => {
        const base = sums0[f.id];
        const head = sums1[f.id] * this.factor;
        return { f, e: { ...e, base, head, delta: head - base }, own };
      });
      return list.filter(({ e }) => e.base || e.head).sort((a, b) => Math.abs(b.e.delta) - Math.abs(a.e.delta));
    };
    const own = left('self');
    return own.length ? own : left('total');
  }

  /**
   * Scaled totals [base, head] of all that is shown, without interrupts: the whole, also where the picture is of what lies around one
   * function.
   */
  totals() {
    const [base, head] = this.callTree.figures;
    return [base[0], head[0] * this.factor];
  }

  /** The length of a point on both sides. */
  scaleTotal() {
    return Math.max(...this.totals()) || 1;
  }

  /** Scaled [base, head] of a node, without the interrupts below it unless it is one itself. @param {number} node */
  valueOf(node) {
    const [base, head] = this.tree.figures;
    // Of callers below callees the root alone holds interrupts beside other time.
    if (node === 0 && this.tree.isLazy && !/** @type {import('./lazy.js').LazyTree} */ (this.tree).around) return this.totals();
    return [base[node], head[node] * this.factor];
  }

  /** The interrupts below a node that is none itself, scaled; what makes its box wider than its figures say. @param {number} node */
  interruptsOf(node) {
    const own = this.valueOf(node);
    return [this.tree.total[0][node] - own[0], this.tree.total[1][node] * this.factor - own[1]];
  }

  /** Whether a function is one of what the machine did in the threads. @param {number} func */
  isInterrupt(func) {
    return this.hasInterrupts && func >= 0 && this.functions[func].origin === INTERRUPTS;
  }

  /** @param {number} node */
  selfOf(node) {
    // What is made when it is looked at knows its own part only then.
    this.tree.first(node);
    return [this.tree.self[0][node], this.tree.self[1][node] * this.factor];
  }

  /** @param {number} node */
  pointsOf(node) {
    const [base, head] = this.tree.figures;
    return (100 * (head[node] * this.factor - base[node])) / this.scaleTotal();
  }

  /** @param {number} node */
  stateOf(node) {
    return this.shownMetric.tested ? STATES[this.tree.state[node]] : 'unproven';
  }

  /** The interval of a node's difference, or null. @param {number} node */
  intervalOf(node) {
    return this.tree === this.page.tree ? this.page.tree.intervals?.get(node) || null : null;
  }

  /** The deepest row below the zoomed node that has something to draw, and the highest. */
  rowRange() {
    const { tree } = this;
    if (tree.isLazy) return [/** @type {any} */ (tree).highestRow, /** @type {any} */ (tree).lowestRow];
    const widths = this.gone || tree.total[this.side];
    if (this.isNew('deepest', widths, this.zoom)) this.deepest = depthBelow(this.callTree, widths, this.zoom);
    return [0, this.deepest];
  }

  largestPoints() {
    const { tree } = this;
    let most = 0.5;
    if (this.sides === 1 || !this.shownMetric.tested) return most;
    const see = (/** @type {number} */ node) => {
      const state = tree.state[node];
      if (state === 2 || state === 3) most = Math.max(most, Math.abs(this.pointsOf(node)));
    };
    // Around a function a frame keeps the colour that it has in the call tree.
    if (tree.isLazy && /** @type {import('./lazy.js').LazyTree} */ (tree).around)
      return Math.max(most, (100 * largestChange(this.callTree, this.factor)) / this.scaleTotal());
    // Of callers only the functions themselves were tested.
    if (tree.isLazy) for (let i = tree.first(0); i >= 0; i = tree.next(i)) see(i);
    else for (let i = 1; i < this.callTree.count; i++) see(i);
    return most;
  }

  /** @param {State} state */
  search({ search, picked, origins, states }) {
    this.matches = null;
    this.searchError = '';
    this.found = { sum: [0, 0], nodes: [] };
    const only = this.functionOf(picked);
    if (!search && !only && !origins && !states) return;
    const hits = this.namesFound(search);
    for (const f of this.functions) if ((only && f !== only) || (origins && !origins.includes(String(f.origin)))) hits[f.id] = 0;
    this.functionHits = hits;
    const { tree } = this;
    const wanted = STATES.map((_, i) => !states || (this.shownMetric.tested && states.includes(String(i))));
    this.matches = (node) => node > 0 && hits[tree.func[node]] === 1 && wanted[tree.state[node]];
    if (tree.isLazy) this.findIn(states ? null : hits);
    else this.found = covered(this.callTree, hits, states ? wanted : null, this.gone || tree.total[this.side]);
  }

  /** Which functions a text finds, by id; the ones found so far none while that is tried apart. @param {string} text */
  namesFound(text) {
    const all = new Uint8Array(this.functions.length);
    if (!text) return all.fill(1);
    const pattern = patternOf(text);
    this.searchError = pattern.error;
    const hits = matchAll(pattern, this.functions);
    if (hits) return hits;
    if (this.foundApart?.text === text) {
      this.searchError = this.foundApart.error;
      return this.foundApart.hits?.slice() || all;
    }
    this.searchError = 'searching…';
    this.searchApart?.(pattern, (found, error) => (this.foundApart = { text, hits: found, error }));
    return all;
  }

  /** What matches in a tree that is made while it is looked at. @param {Uint8Array|null} hits functions; null: by state too */
  findIn(hits) {
    const { tree } = this;
    const [base, head] = tree.figures;
    const matches = /** @type {(node: number) => boolean} */ (this.matches);
    const sum = [0, 0];
    /** @type {number[]} */ const nodes = [];
    walkWide(tree, this.width, this.width(0) * LEAST_PART, MOST_NODES, (node) => {
      if (!matches(node)) return true;
      // The function between callers and callees is met twice.
      if (tree.twin && node === 1) return true;
      nodes.push(node === tree.twin ? 1 : node);
      sum[0] += base[node];
      sum[1] += head[node];
      return false;
    });
    this.found = { sum: hits ? this.coveredAround(hits) : sum, nodes };
  }

  /** The time of stacks with a matching frame, of those that are drawn. @param {Uint8Array} hits */
  coveredAround(hits) {
    const { callTree, tree } = this;
    const [base, head] = callTree.figures;
    const func = tree.first(0) < 0 ? -1 : tree.func[tree.first(0)];
    const turned = /** @type {import('./lazy.js').LazyTree} */ (tree);
    if (!turned.around) return covered(callTree, hits, null, null).sum;
    const sum = [0, 0];
    for (const node of func < 0 ? [] : outermost(callTree, func)) {
      const own = hits[func] || (turned.around.callers && hasCaller(callTree, node, hits));
      const part = own
        ? [base[node], head[node]]
        : turned.around.callees
          ? covered(callTree, hits, null, null, node).sum
          : [0, 0];
      sum[0] += part[0];
      sum[1] += part[1];
    }
    return sum;
  }

  /** The function that the state tells by its hash; undefined: this report has none. @param {string} hash @returns {Func|undefined} */
  functionOf(hash) {
    if (!hash) return undefined;
    this.byHash ||= new Map([...this.functions].reverse().map((f) => [hashOf(f), f]));
    return this.byHash.get(hash);
  }

  /** @param {number} node */
  nameOf(node) {
    const func = this.tree.func[node];
    return func < 0 ? 'all' : this.functions[func].name;
  }

  /** The widest node of a function in what is drawn, or -1. @param {number} func */
  widestOf(func) {
    let best = -1;
    const see = (/** @type {number} */ node) => {
      if (this.width(node) > 0 && (best < 0 || this.width(node) > this.width(best))) best = node;
    };
    if (!this.tree.isLazy) this.framesOf(func).forEach(see);
    else
      walkWide(this.tree, this.width, this.width(0) * LEAST_PART, MOST_NODES, (node) => {
        if (this.tree.func[node] === func) see(node);
        return true;
      });
    return best;
  }
}

/** @param {any[]|undefined} before @param {any[]} now */
function same(before, now) {
  return !!before && before.every((value, i) => value === now[i]);
}
