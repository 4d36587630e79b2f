// SPDX-License-Identifier: GPL-3.0-or-later
// From the tables of the report and the state to what is drawn. Nothing here touches the browser.

import { INTERRUPTS, LESS, MORE, STATES, SYSTEM } from './codes.js';
import { hashOf } from './hash.js';
import { around, inverted, outermost } from './lazy.js';
import { depthBelow, findRemoved, removedWidths, sideOf, walkWide } from './layout.js';
import { Memo, sameSources } from './memo.js';
import { matchAll, patternOf } from './pattern.js';
import { nodeAt, pathOf } from './state.js';
import { covered, filteredSelf, functionSums, hasCaller } from './sums.js';
import { largestChange, placesByFunction, withoutInterrupts } from './sums.js';
import { hasInterrupts, isWhole, provenIn } from './symbols.js';
import { splicerOf } from './system.js';

/**
 * Nodes that are narrower than this part of the width are not searched in a tree that is made while it is looked at.
 */
const LEAST_PART = 1 / 4000;
/** No more nodes than these are searched there. */
const MOST_NODES = 20000;
/** Frames are taken out of smaller trees at once, and out of larger ones step by step. */
const LARGE = 200000;

/** @typedef {import('./lazy.js').LazyTree} LazyTree */
/** @typedef {import('./pattern.js').Pattern} Pattern */
/** @typedef {import('./report.js').Metric} Metric */
/** @typedef {import('./report.js').Tables} Tables */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./symbols.js').Change} FunctionChange */
/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./system.js').Splicer} Splicer */
/** @typedef {import('./tree.js').FrameTree} FrameTree */
/** @typedef {import('./tree.js').Tree} Tree */

/**
 * Receives the functions that a search found, as 1 by function; null and a reason where it failed.
 * @typedef {(hits: Uint8Array|null, error: string) => void} SearchDone
 */

export class Model {
  /** @param {Tables} tables */
  constructor(tables) {
    this.tables = tables;
    this.meta = tables.meta;
    this.functions = tables.functions;
    this.factor = tables.meta.factor || 1;
    this.sides = tables.meta.sides;
    this.hasInterrupts = hasInterrupts(tables.functions);
    /** Whether every recording tells when its samples were taken. */
    this.hasTimeline = tables.meta.recordings.every((recording) => recording.hasTimeline);
    this.hidden = [0, 0];
    this.shownBefore = [0, 0];
    /** @type {import('./layout.js').Removed|null} stacks that are proven to be gone */
    this.removed = null;
    /** @type {FrameTree} the tree that is drawn */ this.tree = tables.tree;
    /** @type {Tree} the tree before it is turned around */ this.callTree = tables.tree;
    /** @type {LazyTree|null} the same as `tree` where that is turned around */ this.turned = null;
    /** The side whose values are the widths. */ this.side = 1;
    /** @type {Float64Array|null} widths of stacks that are gone, where these are drawn */ this.gone = null;
    this.width = (/** @type {number} */ node) => (this.gone ? this.gone[node] : this.tree.total[this.side][node]);
    this.zoom = 0;
    this.selected = -1;
    /** The largest proven difference, in points of the total. */ this.most = 0.5;
    this.metric = this.testedMetric();
    this.memo = new Memo();
    /** @type {{self: Float64Array[], total: Float64Array[]}|null} */ this.sumsMade = null;
    /** @type {{starts: Int32Array, nodes: Int32Array}|null} */ this.placesMade = null;
    /** @type {((node: number) => boolean)|null} whether a frame is searched for */ this.matches = null;
    /** Which functions a search finds, as 1 by function. */ this.functionHits = new Uint8Array(0);
    this.searchError = '';
    /** @type {((pattern: Pattern, done: SearchDone) => void)|null} runs a search that may never end */
    this.searchApart = null;
    /** @type {{text: string, hits: Uint8Array|null, error: string}|null} what such a search found */
    this.foundApart = null;
    /** @type {Map<string, Func>|null} */ this.byHash = null;
    this.deepest = 0;
    /** The outermost frames that a search found, and the time [base, head] that they cover. */
    this.found = { sum: [0, 0], nodes: /** @type {number[]} */ ([]) };
    /** @type {{sources: unknown[], splicer: Splicer|null}|null} the call tree that is being made */ this.coming = null;
  }

  /** The ids of threads by name, as a set for each side. @returns {Map<string, Set<number>[]>} */
  threadNames() {
    const names = new Map();
    this.meta.recordings.forEach((recording, i) => {
      const side = this.sides === 1 ? 1 : i;
      recording.threads.forEach(([, , tid, process, thread], id) => {
        const name = thread || process || `thread ${tid}`;
        if (!names.has(name)) names.set(name, [new Set(), new Set()]);
        names.get(name)[side].add(id);
      });
    });
    return names;
  }

  /** The number of the metric that the evidence is about. */
  testedMetric() {
    return Math.max(
      0,
      (this.meta.metrics || []).findIndex((metric) => metric.tested),
    );
  }

  /** The metric that everything shows. @returns {{name: string, unit: string, tested: boolean}} */
  get shownMetric() {
    return this.meta.metrics?.[this.metric] || { name: this.meta.metric, unit: this.meta.unit, tested: true };
  }

  get unit() {
    return this.shownMetric.unit;
  }

  /** Whether a state cannot be shown without samples: filters and untested metrics need them. @param {State} state */
  needsSamples(state) {
    return !!state.thread || !!state.range || this.metricOf(state) !== this.testedMetric();
  }

  /** @param {State} state */
  metricOf(state) {
    const at = (this.meta.metrics || []).findIndex((metric) => metric.name === state.metric);
    return at < 0 ? this.testedMetric() : at;
  }

  /** Makes again what a change of the state touches, and no more. @param {State} state */
  update(state) {
    const { callers, callees, search, picked, origins, states } = state;
    this.metric = this.metricOf(state);
    if (this.memo.isNew('calls', ...this.sourcesOf(state))) this.rebuild(state);
    if (this.memo.isNew('tree', this.callTree, state.inverted, callers, callees)) this.turn(state);
    this.draws(state);
    this.zoom = nodeAt(this.tree, this.functions, state.zoom);
    if (!(this.width(this.zoom) > 0) || this.zoom <= this.tree.twin) this.zoom = 0;
    this.selected = state.selected ? nodeAt(this.tree, this.functions, state.selected) : -1;
    const { tree, metric, side, gone } = this;
    if (this.memo.isNew('search', tree, metric, side, gone, search, picked, origins, states)) this.search(state);
  }

  /** What the call tree is made from. @param {State} state */
  sourcesOf(state) {
    const { samples, timelines } = this.tables;
    const needed = this.needsSamples(state) ? samples : null;
    const times = state.range ? timelines : null;
    return [state.system, state.interrupts, state.thread, state.range, this.metricOf(state), needed, times];
  }

  /** Work that takes long before a state can be shown; null for none. @param {State} state @returns {Splicer|null} */
  ahead(state) {
    const sources = this.sourcesOf(state);
    if (!sameSources(this.coming?.sources, sources)) this.coming = null;
    if (!this.splices(state) || this.tables.tree.count < LARGE || this.memo.holds('calls', sources)) return null;
    return this.splicing(state, sources);
  }

  /** Whether frames are taken out of the tree. @param {State} state */
  splices({ system, interrupts }) {
    return system !== 'show' || (interrupts === 'fold' && this.hasInterrupts);
  }

  /**
   * The removal of system frames or of interrupts, as far as it has come.
   * @param {State} state @param {unknown[]} sources
   */
  splicing(state, sources) {
    const mode = state.system === 'hide' ? 'hide' : 'fold';
    const least = state.system === 'show' ? INTERRUPTS : SYSTEM;
    if (!this.coming || !sameSources(this.coming.sources, sources))
      this.coming = { sources, splicer: splicerOf(this.filteredTree(state), this.functions, mode, least) };
    return this.coming.splicer;
  }

  /** The tree of the report under the filters. @param {State} state */
  filteredTree(state) {
    const { tree, samples, timelines } = this.tables;
    const ids = state.thread ? this.threadNames().get(state.thread) : null;
    const range = this.hasTimeline ? state.range : null;
    const metric = this.metricOf(state);
    if (!ids && !range && metric === this.testedMetric()) return tree;
    const isShown = (/** @type {number} */ side, /** @type {number} */ thread) => !!ids && ids[side].has(thread);
    const keepThread = ids ? isShown : undefined;
    return tree.withSelf(filteredSelf(tree, samples, timelines, { keepThread, range, metric }));
  }

  /** Makes the call tree that is shown. @param {State} state */
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

  /** Makes the tree that is drawn from the call tree. @param {State} state */
  turn(state) {
    const callee = this.functionOf(state.callers);
    const caller = this.functionOf(state.callees);
    const both = callee && caller && callee === caller;
    const only = callee || caller;
    const which = { callers: !!callee, callees: both || !callee };
    this.turned = null;
    if (only) this.turned = around(this.callTree, this.functions, only.id, which);
    else if (state.inverted) this.turned = inverted(this.callTree, this.functions);
    this.tree = this.turned || this.callTree;
    const known = this.sides === 2 && !this.turned && this.shownMetric.tested;
    this.removed = known ? findRemoved(this.callTree) : null;
    this.most = this.largestPoints();
  }

  /** Decides which widths are drawn. @param {State} state */
  draws({ view, reversed, removed }) {
    this.side = this.sides === 1 ? 1 : sideOf({ view, reversed });
    const showsGone = removed && this.canShowRemoved({ view });
    if (this.memo.isNew('gone', this.tree, showsGone)) this.gone = showsGone && this.removed ? removedWidths(this.callTree, this.removed) : null;
  }

  /** The widths as a column; null for a tree that is made while it is looked at. */
  get widths() {
    return this.turned ? null : this.gone || this.tree.total[this.side];
  }

  /** Percent of [base, head] that the toggle of system frames hides. */
  hiddenShares() {
    return this.hidden.map((value, side) => (this.shownBefore[side] ? (100 * value) / this.shownBefore[side] : 0));
  }

  /** Whether another tree is shown than the one that was tested. */
  get filtered() {
    return this.callTree !== this.tables.tree;
  }

  /** Whether a part of the tested tree is shown. */
  get isNarrowed() {
    return this.sides === 2 && this.filtered && this.shownMetric.tested;
  }

  /**
   * Whether there are stacks to see that are gone: they are part of the difference only.
   * @param {Pick<State, 'view'>} state
   */
  canShowRemoved({ view }) {
    return view === 'diff' && !!this.removed?.count;
  }

  /** Whether a frame is drawn as one that is gone. @param {number} node */
  isGone(node) {
    return !!this.gone && this.removed?.marks[node] === 1;
  }

  /** Self and total of every function under the filters. */
  get sums() {
    return (this.sumsMade ||= functionSums(this.callTree, this.functions.length));
  }

  /** The frames of a function in the call tree. @param {number} func @returns {Int32Array} */
  framesOf(func) {
    const { starts, nodes } = (this.placesMade ||= placesByFunction(this.callTree, this.functions.length));
    return nodes.subarray(starts[func], starts[func + 1]);
  }

  /**
   * All proven changes, the largest first; the ones that are those of the whole program come last. The header, the list
   * and the inspector show these.
   * @returns {FunctionChange[]}
   */
  provenChanges() {
    const [base, head] = this.tables.tree.figures;
    return this.sides === 1 ? [] : this.ordered(provenIn(this.functions), [base[0], head[0] * this.factor]);
  }

  /** Proven changes of what the filters leave, with the figures under them. @returns {FunctionChange[]} */
  shownChanges() {
    if (!this.isNarrowed) return this.provenChanges();
    const left = provenIn(this.functions).map(({ f, e, own }) => {
      const sums = own ? this.sums.self : this.sums.total;
      const base = sums[0][f.id];
      const head = sums[1][f.id] * this.factor;
      return { f, e: { ...e, base, head, delta: head - base }, own };
    });
    return this.ordered(
      left.filter(({ e }) => e.base || e.head),
      this.totals(),
    );
  }

  /** @param {FunctionChange[]} changes @param {number[]} totals [base, head] */
  ordered(changes, totals) {
    const last = (/** @type {FunctionChange} */ { e, own }) => Number(!own && isWhole([e.base, e.head], totals));
    return changes.sort((a, b) => last(a) - last(b) || Math.abs(b.e.delta) - Math.abs(a.e.delta));
  }

  /**
   * Scaled totals [base, head] of the call tree without interrupts, also where only the frames around one function are
   * drawn.
   */
  totals() {
    const [base, head] = this.callTree.figures;
    return [base[0], head[0] * this.factor];
  }

  /** The total that points are percent of, on both sides. */
  scaleTotal() {
    return Math.max(...this.totals()) || 1;
  }

  /** Scaled [base, head] of a node, without the interrupts below it unless it is one itself. @param {number} node */
  valueOf(node) {
    const [base, head] = this.tree.figures;
    // In a tree of callers below callees the root alone holds interrupts beside other time.
    if (node === 0 && this.turned && !this.turned.around) return this.totals();
    return [base[node], head[node] * this.factor];
  }

  /**
   * Scaled [base, head] of the interrupts below a node, which make its box wider than its figures say.
   * @param {number} node
   */
  interruptsOf(node) {
    const own = this.valueOf(node);
    return [this.tree.total[0][node] - own[0], this.tree.total[1][node] * this.factor - own[1]];
  }

  /** Whether a function is an interrupt. @param {number} func */
  isInterrupt(func) {
    return this.hasInterrupts && func >= 0 && this.functions[func].origin === INTERRUPTS;
  }

  /** Scaled self [base, head] of a node. @param {number} node */
  selfOf(node) {
    // A turned tree knows the own time of a node when its children are made.
    this.tree.first(node);
    return [this.tree.self[0][node], this.tree.self[1][node] * this.factor];
  }

  /** The difference of a node in points of the total. @param {number} node */
  pointsOf(node) {
    const [base, head] = this.tree.figures;
    return (100 * (head[node] * this.factor - base[node])) / this.scaleTotal();
  }

  /** The verdict on a node. @param {number} node */
  stateOf(node) {
    return this.shownMetric.tested ? STATES[this.tree.state[node]] : 'unproven';
  }

  /** The interval of the difference of a node; null where none was computed. @param {number} node */
  intervalOf(node) {
    const { tree } = this.tables;
    return this.tree === tree ? tree.intervals?.get(node) || null : null;
  }

  /** The highest and the deepest row below the zoomed node that have something to draw. */
  rowRange() {
    if (this.turned) return [this.turned.highestRow, this.turned.lowestRow];
    const widths = this.gone || this.tree.total[this.side];
    if (this.memo.isNew('deepest', widths, this.zoom)) this.deepest = depthBelow(this.callTree, widths, this.zoom);
    return [0, this.deepest];
  }

  /** The largest proven difference on the screen, in points of the total. */
  largestPoints() {
    const { tree, turned } = this;
    let most = 0.5;
    if (this.sides === 1 || !this.shownMetric.tested) return most;
    const see = (/** @type {number} */ node) => {
      const state = tree.state[node];
      if (state === MORE || state === LESS) most = Math.max(most, Math.abs(this.pointsOf(node)));
    };
    // Around a function a frame keeps the colour that it has in the call tree.
    if (turned?.around) return Math.max(most, (100 * largestChange(this.callTree, this.factor)) / this.scaleTotal());
    // In a tree of callers only the functions right below the root were tested.
    if (turned) for (let i = tree.first(0); i >= 0; i = tree.next(i)) see(i);
    else for (let i = 1; i < this.callTree.count; i++) see(i);
    return most;
  }

  /** Finds what the state searches for. @param {State} state */
  search({ search, picked, origins, states }) {
    this.matches = null;
    this.searchError = '';
    this.found = { sum: [0, 0], nodes: [] };
    const only = this.functionOf(picked);
    if (!search && !only && !origins && !states) return;
    const hits = this.namesFound(search);
    for (const f of this.functions)
      if ((only && f !== only) || (origins && !origins.includes(String(f.origin)))) hits[f.id] = 0;
    this.functionHits = hits;
    const { tree } = this;
    const wanted = STATES.map((_, i) => !states || (this.shownMetric.tested && states.includes(String(i))));
    this.matches = (node) => node > 0 && hits[tree.func[node]] === 1 && wanted[tree.state[node]];
    if (this.turned) this.findIn(this.turned, this.matches, states ? null : hits);
    else this.found = covered(this.callTree, hits, states ? wanted : null, this.gone || tree.total[this.side]);
  }

  /**
   * Which functions a text finds, as 1 by function; none while a search that may take long is running.
   * @param {string} text
   */
  namesFound(text) {
    const none = new Uint8Array(this.functions.length);
    if (!text) return none.fill(1);
    const pattern = patternOf(text);
    this.searchError = pattern.error;
    const hits = matchAll(pattern, this.functions);
    if (hits) return hits;
    if (this.foundApart?.text === text) {
      this.searchError = this.foundApart.error;
      return this.foundApart.hits?.slice() || none;
    }
    this.searchError = 'searching…';
    this.searchApart?.(pattern, (found, error) => {
      this.foundApart = { text, hits: found, error };
      this.memo.forget('search');
    });
    return none;
  }

  /**
   * Finds frames in a tree that is made while it is looked at.
   * @param {LazyTree} tree @param {(node: number) => boolean} matches
   * @param {Uint8Array|null} hits functions that match; null where verdicts decide as well
   */
  findIn(tree, matches, hits) {
    const [base, head] = tree.figures;
    const sum = [0, 0];
    /** @type {number[]} */ const nodes = [];
    walkWide(tree, this.width, this.width(0) * LEAST_PART, MOST_NODES, (node) => {
      if (!matches(node)) return true;
      // The function between callers and callees has two nodes and counts once.
      if (tree.twin && node === 1) return true;
      nodes.push(node === tree.twin ? 1 : node);
      sum[0] += base[node];
      sum[1] += head[node];
      return false;
    });
    this.found = { sum: hits ? this.coveredAround(tree, hits) : sum, nodes };
  }

  /**
   * The time [base, head] of stacks with a matching frame, of the ones that are drawn.
   * @param {LazyTree} tree @param {Uint8Array} hits
   */
  coveredAround(tree, hits) {
    const { callTree } = this;
    const [base, head] = callTree.figures;
    const func = tree.first(0) < 0 ? -1 : tree.func[tree.first(0)];
    if (!tree.around) return covered(callTree, hits, null, null).sum;
    const sum = [0, 0];
    for (const node of func < 0 ? [] : outermost(callTree, func)) {
      const own = hits[func] || (tree.around.callers && hasCaller(callTree, node, hits));
      const below = tree.around.callees ? covered(callTree, hits, null, null, node).sum : [0, 0];
      const part = own ? [base[node], head[node]] : below;
      sum[0] += part[0];
      sum[1] += part[1];
    }
    return sum;
  }

  /** The function of a hash; undefined where this report has none. @param {string} hash @returns {Func|undefined} */
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

  /** The path of a node, by which a state names it. @param {number} node */
  pathTo(node) {
    return pathOf(this.tree, this.functions, node);
  }

  /**
   * The widest node of a function in the tree that is drawn, or -1.
   * @param {number} func @param {(node: number) => number} [width]
   */
  widestOf(func, width = this.width) {
    let best = -1;
    const see = (/** @type {number} */ node) => {
      if (width(node) > 0 && (best < 0 || width(node) > width(best))) best = node;
    };
    if (!this.turned) this.framesOf(func).forEach(see);
    else
      walkWide(this.tree, this.width, this.width(0) * LEAST_PART, MOST_NODES, (node) => {
        if (this.tree.func[node] === func) see(node);
        return true;
      });
    return best;
  }
}
