// SPDX-License-Identifier: GPL-3.0-or-later
// From the tables of the report and the state to what is drawn. Nothing here touches the browser.

import { isMarked } from './bottleneck.js';
import { INTERRUPTS, LESS, MORE, ORIGINS, STATES, SYSTEM, UNTESTED } from '../data/codes.js';
import { mergedFunctions } from './filters.js';
import { foundIn, walkSeen } from './finding.js';
import { foldedTree } from './folding.js';
import { hashOf } from '../data/hash.js';
import { hasInterpreters, interprets, selfWithInterpreter } from './interpreter.js';
import { around, inverted, outermost } from './lazy.js';
import { deepestRow, findRemoved, removedWidths, sideOf } from './layout.js';
import { Memo, sameSources } from '../common/memo.js';
import { NameSearch } from './names.js';
import { Narrowing } from './narrowing.js';
import { changesIn, OrderedTree } from './order.js';
import { ShownFrames } from './shownframes.js';
import { nodeAt, pathOf } from './state.js';
import { covered, functionSums, largestChange, withoutInterrupts } from './sums.js';
import { hasInterrupts, originsOf, provenIn } from '../data/symbols.js';
import { splicerOf } from './system.js';
import { Tested } from './tested.js';
import { grouped, sameValue, withMovedSelf } from '../data/tree.js';
import { neverFolded, trunksOf } from './trunks.js';
import { Verdicts } from './verdicts.js';
import { classesOf, classSums, shadesOf, withoutWaits } from './waiting.js';

/** Frames are taken out of smaller trees at once, and out of larger ones step by step. */
const LARGE = 200000;

/** @typedef {import('./filters.js').Meant} Meant */
/** @typedef {import('./lazy.js').LazyTree} LazyTree */
/** @typedef {import('./order.js').Order} Order */
/** @typedef {import('../data/report.js').Tables} Tables */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('./system.js').Splicer} Splicer */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

export class Model {
  /** @param {Tables} tables */
  constructor(tables) {
    this.tables = tables;
    this.meta = tables.meta;
    this.functions = tables.functions;
    this.tested = new Tested(tables);
    this.factor = tables.meta.factor || 1;
    this.sides = tables.meta.sides;
    this.hasInterrupts = hasInterrupts(tables.functions);
    this.hasInterpreters = hasInterpreters(tables.functions);
    /** Whether frames of an interpreter have their own time, and not the functions that they run. */
    this.isApart = false;
    this.hidden = [0, 0];
    this.shownBefore = [0, 0];
    /** @type {import('./layout.js').Removed|null} stacks that are proven to be gone */
    this.removed = null;
    /** @type {FrameTree} the tree that is drawn */ this.tree = tables.tree;
    /** @type {Tree} the tree before it is turned around */ this.callTree = tables.tree;
    /** @type {LazyTree|null} the same as `tree` where that is turned around */ this.turned = null;
    /** @type {OrderedTree|null} the same as `tree` where that is the call tree in another order */
    this.reordered = null;
    /** @type {State['view']} */ this.view = 'diff';
    /** The side whose values are the widths. */ this.side = 1;
    /** @type {Float64Array|null} widths of stacks that are gone, where these are drawn */ this.gone = null;
    this.width = (/** @type {number} */ node) => (this.gone ? this.gone[node] : this.tree.total[this.side][node]);
    this.zoom = 0;
    this.selected = -1;
    /** The largest proven difference, in points of the total. */ this.most = 0.5;
    this.memo = new Memo();
    /** @type {{self: Float64Array[], total: Float64Array[]}|null} */ this.sumsMade = null;
    /** @type {{starts: Int32Array, members: Int32Array}|null} nodes by function */ this.placesMade = null;
    /** @type {((node: number) => boolean)|null} whether a frame is searched for */ this.matches = null;
    /** Which functions a search finds, as 1 by function. */ this.functionHits = new Uint8Array(0);
    this.names = new NameSearch(tables.functions, () => this.memo.forget('search'));
    /** @type {Map<string, Func>|null} */ this.byHash = null;
    this.deepest = 0;
    /** The outermost frames that a search found, and the time [base, head] that they cover. */
    this.found = { sum: [0, 0], nodes: /** @type {number[]} */ ([]) };
    /** @type {{sources: unknown[], part: Tree, splicer: Splicer|null}|null} the call tree that is being made */
    this.coming = null;
    this.narrowing = new Narrowing(
      tables,
      (hash) => this.functionOf(hash),
      () => (this.byHash = null),
    );
    /** The number of the metric that everything shows. */ this.metric = this.narrowing.testedMetric;
    this.hasTimeline = this.narrowing.hasTimeline;
    /** @type {Meant[]} the filters of the state that is shown */ this.meant = [];
    /** @type {number[]} time [base, head] of stacks with a recursion that was folded */ this.repeated = [0, 0];
    /** Whether filters leave a part of the samples. */ this.isPart = false;
    /** What is proven of it. */ this.verdicts = new Verdicts(this);
    /** How figures are others than those that were tested, beside filters that leave a part of the samples. */
    this.figuresAre = { hides: false, folds: false, interrupts: false, apart: false, merges: false };
    /** Whether figures are others than those that were tested. */ this.filtered = false;
    /** @type {Tree} the tree of the report under the filters, before frames are taken out */ this.part = tables.tree;
    /** @type {ShownFrames|null} */ this.shownMade = null;
    /** Whether the report is of recordings of waits. */ this.hasWaits = !!tables.meta.waits;
    /** @type {Uint8Array|null} the class of waits that each function is; null where there are none */
    this.classesMade = null;
    /** @type {Float64Array[]} time [base, head] by class of waits, without filters by class */ this.waitSums = [];
  }

  /** The class of waits that each function is, 0 for all code; null in a report without waits. */
  get classes() {
    const { length } = this.functions;
    if (this.hasWaits && this.classesMade?.length !== length) this.classesMade = classesOf(this.meta.waits, length);
    return this.classesMade;
  }

  /** The metric that everything shows. @returns {{name: string, unit: string, tested: boolean, words: string}} */
  get shownMetric() {
    const { meta, metric } = this;
    return meta.metrics?.[metric] || { name: meta.metric, words: meta.metric, unit: meta.unit, tested: true };
  }

  /** The name of the tested metric for a reader. */
  get testedWords() {
    return this.meta.metrics?.[this.narrowing.testedMetric]?.words || this.meta.metric;
  }

  get unit() {
    return this.shownMetric.unit;
  }

  /** Makes again what a change of the state touches, and no more. @param {State} state */
  update(state) {
    const { bottlenecks, callers, callees, search, picked, origins, states } = state;
    this.metric = this.narrowing.metricOf(state);
    if (this.memo.isNew('calls', ...this.#sourcesOf(state))) this.#rebuild(state);
    const order = this.orderOf(state);
    const shades = this.#shade(state);
    if (this.memo.isNew('tree', this.callTree, state.inverted, callers, callees, order, shades)) this.#turn(state);
    if (this.memo.isNew('trunks', this.tree, state.trunks)) this.#foldTrunks(state);
    this.#draws(state);
    this.zoom = nodeAt(this.tree, this.functions, state.zoom);
    if (!(this.width(this.zoom) > 0) || this.zoom <= this.tree.twin) this.zoom = 0;
    this.selected = state.selected ? nodeAt(this.tree, this.functions, state.selected) : -1;
    const { tree, metric, side, gone } = this;
    const marks = [picked, origins, states, bottlenecks];
    if (this.memo.isNew('search', tree, metric, side, gone, search, ...marks)) this.#search(state);
  }

  /**
   * Finds what the frames of the call tree wait for where colours tell that; null where a turned tree need not know.
   * @param {State} state
   */
  #shade(state) {
    const { callTree, classes } = this;
    const side = this.sides === 1 ? 1 : sideOf(state);
    if (!classes || state.colour !== 'waiting') return null;
    if (this.memo.isNew('shades', callTree, side)) callTree.shades = shadesOf(callTree, classes, side);
    return state.inverted || state.callers || state.callees ? callTree.shades : null;
  }

  /** The shade of a node of the tree that is drawn. @param {number} node */
  shadeOf(node) {
    return this.turned ? this.turned.shade[node] : this.callTree.shades?.all[node] || 0;
  }

  /** What the call tree is made from. @param {State} state */
  #sourcesOf(state) {
    const { narrowing, tables } = this;
    const { samples, timelines } = tables;
    const needed = narrowing.needsSamples(state) ? samples : null;
    const times = state.range ? timelines : null;
    const rows = narrowing.showsProcesses(state);
    const { filters, interpreter, interrupts, range, system, thread } = state;
    const { answers } = narrowing.expressions;
    return [system, interrupts, interpreter, thread, range, filters, answers, rows, narrowing.metricOf(state), needed, times];
  }

  /** Work that takes long before a state can be shown; null for none. @param {State} state @returns {Splicer|null} */
  ahead(state) {
    const sources = this.#sourcesOf(state);
    if (!sameSources(this.coming?.sources, sources)) this.coming = null;
    if (!this.#splices(state) || this.tables.tree.count < LARGE || this.memo.holds('calls', sources)) return null;
    return this.#splicing(state, sources).splicer;
  }

  /** Whether frames are taken out of the tree. @param {State} state */
  #splices({ system, interrupts }) {
    return system !== 'show' || (interrupts === 'fold' && this.hasInterrupts);
  }

  /**
   * The removal of system frames or of interrupts, as far as it has come.
   * @param {State} state @param {unknown[]} sources
   */
  #splicing(state, sources) {
    const mode = state.system === 'hide' ? 'hide' : 'fold';
    const least = state.system === 'show' ? INTERRUPTS : SYSTEM;
    if (this.coming && sameSources(this.coming.sources, sources)) return this.coming;
    const part = this.narrowing.tree(state);
    // What an interpreter does for a function stays with it when the interpreter's frames go with those of the system.
    const owned = mode === 'hide' && this.hasInterpreters;
    const tree = owned ? part.withSelf(selfWithInterpreter(part, this.functions)) : part;
    this.coming = { sources, part, splicer: splicerOf(tree, this.functions, mode, least, this.classes) };
    return this.coming;
  }

  /**
   * The time [base, head] of everything, without filters and without interrupts, and of what each filter is about.
   * @param {State} state
   */
  filterTimes(state) {
    return this.narrowing.times(state, this.part, this.repeated);
  }

  /** Makes the call tree that is shown. @param {State} state */
  #rebuild(state) {
    const splicing = this.#splices(state) ? this.#splicing(state, this.#sourcesOf(state)) : null;
    const splicer = splicing?.splicer || null;
    const whole = splicing ? splicing.part : this.narrowing.tree(state);
    splicer?.run();
    this.coming = null;
    const spliced = splicer ? splicer.result() : { tree: whole, hidden: [0, 0] };
    this.part = whole;
    this.meant = this.narrowing.meantBy(state);
    const tree = this.#fold(spliced.tree);
    this.hidden = spliced.hidden;
    this.shownBefore = [whole.total[0][0], whole.total[1][0]];
    tree.own = this.hasInterrupts ? withoutInterrupts(tree) : null;
    this.isApart = this.hasInterpreters && state.interpreter === 'apart' && state.system === 'show';
    this.callTree = this.#withInterpreter(tree);
    this.isPart = this.narrowing.isPart(state);
    this.figuresAre = {
      hides: !!splicer && state.system === 'hide',
      folds: !!splicer && state.system === 'fold',
      interrupts: !!splicer && state.system === 'show',
      apart: this.isApart,
      merges: tree !== spliced.tree,
    };
    this.filtered = this.isPart || this.isApart || !this.narrowing.isTested(state) || !!splicer || tree !== spliced.tree;
    this.sumsMade = null;
    this.placesMade = null;
    if (!this.classes) return;
    const filters = withoutWaits(state.filters, this.waitFunctions);
    this.waitSums = classSums(filters === state.filters ? whole : this.narrowing.tree({ ...state, filters }), this.classes);
  }

  /** Whether the time of a function counts as that of those it runs. @param {Func} f */
  isOwned(f) {
    return interprets(f) && !this.isApart;
  }

  /**
   * A tree with the time of an interpreter's frames at the functions that they run, unless it is apart.
   * @param {Tree} tree
   */
  #withInterpreter(tree) {
    if (!this.hasInterpreters || this.isApart) return tree;
    return withMovedSelf(tree, selfWithInterpreter(tree, this.functions));
  }

  /** The functions that are classes of waits, with their classes. @returns {{f: Func, one: number}[]} */
  get waitFunctions() {
    return (this.meta.waits?.frames || []).map(([f, one]) => ({ f: this.functions[f], one }));
  }

  /** The classes of waits by number. @returns {import('../data/report.js').WaitClass[]} */
  get waitClasses() {
    return this.meta.waits?.classes || [];
  }

  /** The orders of siblings to choose from. @returns {Order['by'][]} */
  get orders() {
    return this.sides === 2 && this.shownMetric.tested ? ['name', 'size', 'change'] : ['name', 'size'];
  }

  /**
   * The order of siblings: where none was chosen, by name, so that reports look alike, and by size where the functions
   * that run stand side by side.
   * @param {Pick<State, 'order'|'inverted'|'callers'|'callees'>} state
   */
  orderOf({ order, inverted, callers, callees }) {
    const usual = inverted && !callers && !callees ? 'size' : 'name';
    return this.orders.find((by) => by === order) || usual;
  }

  /** @param {State} state @returns {Order} */
  #newOrder(state) {
    const by = this.orderOf(state);
    return { by, factor: this.factor, changes: by === 'change' ? changesIn(this.callTree, this.factor) : null };
  }

  /** A call tree without the frames that filters take out of its stacks. @param {Tree} tree */
  #fold(tree) {
    const { functions, meant } = this;
    const merged = mergedFunctions(meant, functions, originsOf(functions));
    const recursion = meant.some(({ filter }) => filter.kind === 'recursion');
    this.repeated = [0, 0];
    if (!merged && !recursion) return tree;
    const folded = foldedTree(tree, functions, { merged, recursion });
    this.repeated = folded.repeated;
    return folded.tree;
  }

  /** Makes the tree that is drawn from the call tree. @param {State} state */
  #turn(state) {
    const callee = this.functionOf(state.callers);
    const caller = this.functionOf(state.callees);
    const both = callee && caller && callee === caller;
    const only = callee || caller;
    const which = { callers: !!callee, callees: both || !callee };
    this.turned = null;
    const order = this.#newOrder(state);
    if (only) this.turned = around(this.callTree, this.functions, only.id, which, order);
    else if (state.inverted) this.turned = inverted(this.callTree, this.functions, order);
    this.reordered = this.turned || order.by === 'name' ? null : new OrderedTree(this.callTree, order);
    this.tree = this.turned || this.reordered || this.callTree;
    if (this.turned) this.verdicts.untest(this.turned);
    const known = this.sides === 2 && !this.turned && this.shownMetric.tested;
    this.removed = known ? findRemoved(this.callTree) : null;
    this.most = this.#largestPoints();
  }

  /** Folds runs of frames of the call tree into one row each. @param {State} state */
  #foldTrunks({ trunks }) {
    const { callTree, functions, reordered } = this;
    if (this.turned) return;
    callTree.trunks = trunks ? trunksOf(callTree, neverFolded(functions)) : null;
    if (reordered) reordered.trunks = callTree.trunks;
  }

  /** The verdict on a function. @param {Func} f */
  verdictOn(f) {
    return this.verdicts.on(f);
  }

  /** Decides which widths are drawn. @param {State} state */
  #draws({ view, reversed, removed }) {
    this.view = view;
    this.side = this.sides === 1 ? 1 : sideOf({ view, reversed });
    const showsGone = removed && this.canShowRemoved({ view });
    if (this.memo.isNew('gone', this.tree, showsGone)) this.gone = showsGone && this.removed ? removedWidths(this.callTree, this.removed) : null;
  }

  /** The widths as a column, where siblings lie one after another in it; else null. */
  get widths() {
    return this.turned || this.reordered ? null : this.gone || this.tree.total[this.side];
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

  /**
   * The nodes of the call tree that a frame stands for: itself, or where a turned tree is drawn the outermost ones of its
   * function.
   * @param {number} node @returns {Int32Array|number[]}
   */
  placesOf(node) {
    const func = this.tree.func[node];
    return this.turned && func >= 0 ? outermost(this.callTree, func) : [node];
  }

  /** The self time on the side that is drawn, by origin of the function; head is scaled. */
  timeByOrigin() {
    const { callTree, functions, side } = this;
    const { count, func } = callTree;
    const self = callTree.self[side];
    const origins = originsOf(functions);
    const times = new Float64Array(ORIGINS.length);
    for (let node = 1; node < count; node++) if (self[node]) times[origins[func[node]]] += self[node];
    return [...times].map((time) => (side ? time * this.factor : time));
  }

  /** The frames of a function in the call tree. @param {number} func @returns {Int32Array} */
  framesOf(func) {
    const { count, func: funcs } = this.callTree;
    const { starts, members } = (this.placesMade ||= grouped(funcs, this.functions.length, count, 1));
    return members.subarray(starts[func], starts[func + 1]);
  }

  /**
   * All proven changes, one for a chain of callers whose changes are one, the largest first; those that others say all of
   * come last, and are not counted. The header, the legend, the list and the inspector show these.
   * @returns {FunctionChange[]}
   */
  provenChanges() {
    return this.sides === 1 ? [] : provenIn(this.functions);
  }

  /** How many of the changes that are counted some functions are part of. @param {Func[]} functions */
  changesAmong(functions) {
    const among = new Set(functions.map(({ id }) => id));
    return this.shownChanges().filter(({ chain, isOfOthers }) => !isOfOthers && chain.some((id) => among.has(id))).length;
  }

  /** Proven changes of what the filters leave, with the figures under them. @returns {FunctionChange[]} */
  shownChanges() {
    if (!this.isNarrowed) return this.provenChanges();
    const { isPart, verdicts } = this;
    const held = this.provenChanges().filter(({ f, own }) => !isPart || !verdicts.changed[own ? 'self' : 'total'][f.id]);
    const left = held.map((change) => {
      const { f, e, own } = change;
      const sums = own ? this.sums.self : this.sums.total;
      const base = sums[0][f.id];
      const head = sums[1][f.id] * this.factor;
      return { ...change, e: { ...e, base, head, delta: head - base } };
    });
    const there = left.filter(({ e }) => e.base || e.head);
    const last = (/** @type {FunctionChange} */ { isOfOthers }) => Number(isOfOthers);
    return there.sort((a, b) => last(a) - last(b) || Math.abs(b.e.delta) - Math.abs(a.e.delta));
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
    return this.hasInterrupts && func >= 0 && this.functions[func].origin >= INTERRUPTS;
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
    const { from } = this.callTree;
    if (this.filtered || this.turned || this.tree.state[node] === UNTESTED) return null;
    const tested = from ? from[node] : node;
    const { total } = this.tables.tree;
    // An interval is that of all processes that share a frame.
    if (from && ![0, 1].every((side) => sameValue(total[side][tested], this.tree.total[side][node]))) return null;
    return this.tables.tree.intervals?.get(tested) || null;
  }

  /** The highest and the deepest row below the zoomed node that have something to draw. */
  rowRange() {
    if (this.turned) return [this.turned.highestRow, this.turned.lowestRow];
    const widths = this.gone || this.tree.total[this.side];
    if (this.memo.isNew('deepest', widths, this.callTree.trunks, this.zoom)) this.deepest = deepestRow(this.callTree, widths, this.zoom);
    return [0, this.deepest];
  }

  /** The largest proven difference on the screen, in points of the total. */
  #largestPoints() {
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
    else for (let i = 0; i < this.callTree.count; i++) see(i);
    return most;
  }

  /** Finds what the state searches for. @param {State} state */
  #search(state) {
    const { search, picked, origins, states } = state;
    this.matches = null;
    this.found = { sum: [0, 0], nodes: [] };
    const only = this.functionOf(picked);
    const isHeld = isMarked(this, state);
    const hits = this.names.find(search);
    if (!search && !only && !origins && !states && !isHeld) return;
    for (const f of this.functions)
      if ((only && f !== only) || (origins && (f.isProcess || !origins.includes(String(f.origin))))) hits[f.id] = 0;
    this.functionHits = hits;
    const { tree } = this;
    const isWanted = (/** @type {number} */ node) =>
      (!states || this.verdicts.marks(node, states)) && (!isHeld || isHeld(node));
    const marks = states || isHeld ? isWanted : null;
    this.matches = (node) => node > 0 && hits[tree.func[node]] === 1 && isWanted(node);
    if (this.turned) this.found = foundIn(this, this.turned, this.matches, marks ? null : hits);
    else this.found = covered(this.callTree, hits, marks, this.gone || tree.total[this.side]);
    // One goes from match to match as they stand on the screen.
    const places = this.reordered?.places;
    if (places) this.found.nodes.sort((a, b) => places[a] - places[b]);
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

  /** Which frames of the call tree those of the report are. */
  get shownFrames() {
    const { callTree, functions, tables } = this;
    if (this.shownMade?.shown !== callTree) this.shownMade = new ShownFrames(tables.tree, callTree, functions);
    return this.shownMade;
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
      walkSeen(this.tree, this.width, (node) => {
        if (this.tree.func[node] === func) see(node);
        return true;
      });
    return best;
  }
}
