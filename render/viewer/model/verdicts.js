// SPDX-License-Identifier: GPL-3.0-or-later
// What is proven of what is shown. A verdict is about what was tested: it stays where frames are hidden, joined or turned
// around, and only a filter that leaves a part of the samples takes it away.

import { OF_FUNCTION, PLACE, STATES, UNTESTED } from '../data/codes.js';
import { selfWithInterpreter } from './interpreter.js';
import { functionSums } from './sums.js';
import { isProven, PROVEN, provenFunctions, verdictOn } from '../data/symbols.js';
import { sameValue, withMovedSelf } from '../data/tree.js';
import { Memo } from '../common/memo.js';

/** @typedef {import('./lazy.js').LazyTree} LazyTree */
/** @typedef {import('../data/report.js').Tables} Tables */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * What is shown, as the model has it.
 * @typedef {object} Shown
 * @property {Tables} tables
 * @property {Func[]} functions
 * @property {number} sides
 * @property {number} side whose values are the widths
 * @property {boolean} hasInterpreters
 * @property {boolean} isPart whether filters leave a part of the samples
 * @property {Tree} part the tree of the report under the filters
 * @property {Tree} callTree the same without the frames that are taken out
 * @property {FrameTree} tree the tree that is drawn
 * @property {{tested: boolean}} shownMetric
 */

export class Verdicts {
  /** @param {Shown} model */
  constructor(model) {
    this.model = model;
    this.memo = new Memo();
    this.provenMade = new Uint8Array(0);
    this.marked = new Uint8Array(0);
    /** In how many places each verdict is proven. */ this.places = new Uint32Array(STATES.length);
    /** @type {{self: Uint8Array, total: Uint8Array}} 1 for functions whose figures filters change */
    this.changedMade = { self: new Uint8Array(0), total: new Uint8Array(0) };
  }

  /** Which functions have other figures under the filters than those that were tested, as 1 by function. */
  get changed() {
    const { functions, hasInterpreters, part, tables } = this.model;
    if (!this.memo.isNew('changed', part, functions.length)) return this.changedMade;
    const sumsOf = (/** @type {Tree} */ of) => {
      const tree = hasInterpreters ? withMovedSelf(of, selfWithInterpreter(of, functions)) : of;
      return functionSums(tree, functions.length, tree.total);
    };
    const [tested, shown] = [tables.tree, part].map(sumsOf);
    const compared = (/** @type {'self'|'total'} */ of) =>
      Uint8Array.from(functions, (_, f) =>
        [0, 1].every((side) => sameValue(tested[of][side][f], shown[of][side][f])) ? 0 : 1,
      );
    return (this.changedMade = { self: compared('self'), total: compared('total') });
  }

  /** The verdict on a function; where filters leave a part of what it is about, there is none. @param {Func} f */
  on(f) {
    const verdict = verdictOn(f);
    if (!verdict || !this.model.isPart || !this.changed[verdict.own ? 'self' : 'total'][f.id]) return verdict;
    return { e: { ...verdict.e, state: STATES[UNTESTED] }, own: verdict.own };
  }

  /** Takes the verdicts from the functions of a turned tree whose figures the filters change. @param {LazyTree} tree */
  untest(tree) {
    if (!this.model.isPart || this.model.sides === 1) return;
    const changed = tree.around ? this.changed.total : this.changed.self;
    for (let node = tree.first(0); node >= 0; node = tree.next(node))
      if (changed[tree.func[node]]) tree.state[node] = UNTESTED;
    if (tree.twin) tree.state[tree.twin] = tree.state[1];
  }

  /** The numbers of the proven verdicts on functions, by function; 0 for those without one. */
  get proven() {
    const { functions, isPart, part, sides } = this.model;
    if (!this.memo.isNew('proven', functions.length, part, isPart)) return this.provenMade;
    this.provenMade = new Uint8Array(functions.length);
    for (const f of sides === 1 ? [] : provenFunctions(functions)) {
      const state = this.on(f)?.e.state || '';
      if (isProven(state)) this.provenMade[f.id] = STATES.indexOf(state);
    }
    return this.provenMade;
  }

  /**
   * The number of the proven verdict on the function of a node, where the node has a part in that change which its own
   * verdict does not tell; else 0. The lower edges of frames show it.
   * @param {number} node
   */
  edgeOf(node) {
    const { shownMetric, tree } = this.model;
    return tree.flags[node] & PLACE && shownMetric.tested ? this.proven[tree.func[node]] : 0;
  }

  /** The number of a proven verdict that a node shows, in its colour or in its edge; 0 for none. @param {number} node */
  provenAt(node) {
    const { shownMetric, tree } = this.model;
    return shownMetric.tested && PROVEN.has(tree.state[node]) ? tree.state[node] : this.edgeOf(node);
  }

  /**
   * The part of the width of a node that its edge is about: its own time where the verdict is on the function itself,
   * which lies right of what it calls.
   * @param {number} node
   */
  edgePart(node) {
    const { functions, side, tree } = this.model;
    const isOwn = isProven(functions[tree.func[node]].self?.state || '');
    return isOwn ? tree.self[side][node] / tree.total[side][node] || 0 : 1;
  }

  /**
   * Whether the legend marks a node: by its own verdict, or by that which its edge shows.
   * @param {number} node @param {string} states digits of what is marked
   */
  marks(node, states) {
    const edge = this.edgeOf(node);
    const isOf = (/** @type {number} */ state) => states.includes(String(state));
    if (!this.model.shownMetric.tested) return false;
    return isOf(this.model.tree.state[node]) || (edge > 0 && (isOf(edge) || isOf(OF_FUNCTION)));
  }

  /** The functions with a frame that the legend marks, as 1 by function. @param {string} states digits of what is marked */
  functionsWith(states) {
    const { callTree, functions, shownMetric } = this.model;
    if (!this.memo.isNew('marked', states, callTree)) return this.marked;
    const { flags, func, state } = callTree;
    const wanted = [...STATES, ''].map((_, i) => shownMetric.tested && states.includes(String(i)));
    const edge = Array.from(this.proven, (one) => one > 0 && (wanted[one] || wanted[OF_FUNCTION]));
    this.marked = new Uint8Array(functions.length);
    for (let i = 1; i < callTree.count; i++)
      if (wanted[state[i]] || (flags[i] & PLACE && edge[func[i]])) this.marked[func[i]] = 1;
    return this.marked;
  }

  /**
   * In how many places a verdict is proven. Frames right below one of the same verdict are part of its place.
   * @param {number} state
   */
  placesWith(state) {
    const { callTree, shownMetric } = this.model;
    if (this.memo.isNew('places', callTree)) {
      const { count, parent, state: states } = callTree;
      this.places.fill(0);
      for (let i = 1; i < count; i++) if (states[i] !== states[parent[i]]) this.places[states[i]]++;
    }
    return shownMetric.tested ? this.places[state] : 0;
  }
}
