// SPDX-License-Identifier: GPL-3.0-or-later
// The call tree, and the interface that every tree on the screen has.

import { UNTESTED } from './codes.js';

/** The function number of the root. */
const NONE = -1;
/** No frame is deeper: the page stores depths in 16 bits. */
const MOST_LEVELS = 65536;

/**
 * A tree that can be drawn. Nodes are numbers and the root is 0; columns are indexed by node. In the call tree they
 * are all there; a turned tree makes the children of a node when `first` asks for them.
 * @typedef {object} FrameTree
 * @property {number} count how many nodes there are
 * @property {ArrayLike<number>} func number of the function of a node; -1 for the root
 * @property {ArrayLike<number>} parent -1 for the root
 * @property {ArrayLike<number>} depth the root has 0
 * @property {Uint8Array} state number of the verdict
 * @property {Uint8Array} flags
 * @property {Float64Array[]} self [base, head], unscaled
 * @property {Float64Array[]} total [base, head], unscaled; what the widths show
 * @property {Float64Array[]} figures [base, head]: totals without the interrupts below a node
 * @property {boolean} isLazy whether nodes are made when they are asked for
 * @property {number} twin the node that callers stand above, where node 1 has the callees of the same function; else 0
 * @property {Trunks|null} trunks runs of frames that have one row; null where all have their own
 * @property {(node: number) => number} first the first child, or -1
 * @property {(node: number) => number} next the sibling after a node, or -1
 * @property {(node: number) => number} row the row that a node is drawn in
 * @property {(node: number) => boolean} upward whether the children of a node are drawn above it
 * @property {(node: number, inner: number) => boolean} holds whether `inner` lies in the subtree of `node`
 */

/**
 * What each node waits for, as `waiting.js` makes it: of all time below it, and of its own time.
 * @typedef {{all: Uint8Array, own: Uint8Array, side: number}} Shades `side` has the values that they are made from
 */

/**
 * Runs of frames that have one row each, as `trunks.js` makes them: the row of each node, what it is in its run, and
 * the callee to which a run goes on from there.
 * @typedef {{rows: Uint16Array, marks: Uint8Array, next: Int32Array}} Trunks
 */

/** A call tree in preorder; siblings stand by name, in one order that all reports share. @implements {FrameTree} */
export class Tree {
  /** @param {number} count */
  constructor(count) {
    this.count = count;
    this.func = new Int32Array(count).fill(NONE);
    this.parent = new Int32Array(count);
    /** The node after the last one of each subtree. */ this.end = new Int32Array(count);
    this.depth = new Uint16Array(count);
    /** @type {Uint8Array} */ this.state = new Uint8Array(count);
    /** @type {Uint8Array} */ this.flags = new Uint8Array(count);
    /** @type {Float64Array[]} [base, head], unscaled */ this.self = [new Float64Array(count), new Float64Array(count)];
    /** @type {Float64Array[]} [base, head], unscaled */
    this.total = [new Float64Array(count), new Float64Array(count)];
    /** @type {Float64Array[]|null} totals that leave interrupts out; null where there are none */ this.own = null;
    /** @type {Map<number, number[]>|null} node -> [low, high] of the difference of its total */ this.intervals = null;
    /** @type {Int32Array|null} the node of the report that a node is; -1 for none; null where all are the same */
    this.from = null;
    /** @type {Shades|null} what its nodes wait for, where colours tell that */
    this.shades = null;
    /** @type {Trunks|null} runs of frames that have one row; null where each has its own */ this.trunks = null;
    this.isLazy = false;
    this.twin = 0;
  }

  /** @param {number} node */
  first(node) {
    return node + 1 < this.end[node] ? node + 1 : -1;
  }

  /** @param {number} node */
  next(node) {
    const parent = this.parent[node];
    return parent >= 0 && this.end[node] < this.end[parent] ? this.end[node] : -1;
  }

  /** @param {number} node */
  row(node) {
    return (this.trunks?.rows || this.depth)[node];
  }

  /** @param {number} _node */
  upward(_node) {
    return false;
  }

  /** @param {number} node @param {number} inner */
  holds(node, inner) {
    return inner >= node && inner < this.end[node];
  }

  /** Totals that leave out what interrupted the thread. Widths are the whole totals. @returns {Float64Array[]} */
  get figures() {
    return this.own || this.total;
  }

  /** The same nodes with other self values. @param {Float64Array[]} self @returns {Tree} */
  withSelf(self) {
    /** @type {Tree} */
    const other = Object.assign(Object.create(Tree.prototype), this);
    other.self = self;
    other.total = self.map((column, side) => (column === this.self[side] ? this.total[side] : totalsOf(this, column)));
    other.own = null;
    other.trunks = null;
    other.shades = null;
    return other;
  }
}

/** A tree with other self values of the same sums: its totals stay. @param {Tree} tree @param {Float64Array[]} self */
export function withMovedSelf(tree, self) {
  /** @type {Tree} */
  const other = Object.assign(Object.create(Tree.prototype), tree);
  other.self = self;
  return other;
}

/**
 * Fills parent and end from depths, and totals from self values. It is one loop, because it runs before the browser
 * has compiled any.
 * @param {Tree} tree @param {number} [from] the first side that has values
 */
export function linkTree(tree, from = 0) {
  const { count, depth, parent, end } = tree;
  const [base, head] = tree.total;
  for (let side = from; side < 2; side++) tree.total[side].set(tree.self[side]);
  const path = new Int32Array(Math.min(count, MOST_LEVELS));
  let above = -1;
  for (let i = 0; i < count; i++) {
    const level = depth[i];
    // Open nodes that are as deep as this one, or deeper, end here.
    for (; above >= level; above--) {
      const node = path[above];
      const caller = parent[node];
      end[node] = i;
      head[caller] += head[node];
      if (!from) base[caller] += base[node];
    }
    path[level] = i;
    parent[i] = level ? path[level - 1] : -1;
    above = level;
  }
  for (; above >= 0; above--) {
    const node = path[above];
    end[node] = count;
    for (let side = from; above && side < 2; side++) tree.total[side][parent[node]] += tree.total[side][node];
  }
}

/** How far two sums of the same values may differ because they were added up in another order, as a part of them. */
const ROUNDING = 1e-9;

/** Whether two figures are the same but for rounding. @param {number} a @param {number} b */
export const sameValue = (a, b) => a === b || Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));

/**
 * The verdicts on the nodes of a tree with other self values: a verdict is about the figures that were tested.
 * @param {Tree} tested @param {Tree} shown with other figures
 * @param {Int32Array|null} [from] the node of `tested` that a node is, below 0 for none; null where all are the same
 */
export function statesUnder(tested, shown, from = null) {
  const [base, head] = tested.total;
  const [shown0, shown1] = shown.total;
  const out = new Uint8Array(shown.count).fill(UNTESTED);
  for (let i = 0; i < out.length; i++) {
    const node = from ? from[i] : i;
    if (node >= 0 && sameValue(base[node], shown0[i]) && sameValue(head[node], shown1[i])) out[i] = tested.state[node];
  }
  return out;
}

/**
 * Things by their group: `members` from `starts[g]` up to `starts[g + 1]`.
 * @param {ArrayLike<number>} groupOf by thing @param {number} groups @param {number} count of things
 * @param {number} [first] thing
 */
export function grouped(groupOf, groups, count, first = 0) {
  const starts = new Int32Array(groups + 2);
  for (let i = first; i < count; i++) starts[groupOf[i] + 2]++;
  for (let g = 2; g < starts.length; g++) starts[g] += starts[g - 1];
  const members = new Int32Array(Math.max(0, count - first));
  for (let i = first; i < count; i++) members[starts[groupOf[i] + 1]++] = i;
  return { starts, members };
}

/**
 * Totals of all nodes from their self values.
 * @param {Pick<Tree, 'count'|'parent'>} tree @param {Float64Array} self
 */
export function totalsOf({ count, parent }, self) {
  const total = self.slice();
  for (let i = count - 1; i > 0; i--) if (total[i]) total[parent[i]] += total[i];
  return total;
}
