// SPDX-License-Identifier: GPL-3.0-or-later
// The page's tree, samples and timeline.

import { Columns } from './block.js';

/** @typedef {import('./symbols.js').Func} Func */

/** The function of the root. */
const NONE = -1;

/** A node's flag: it stands below what interrupted the thread, which is in none of the figures above it. */
export const INTERRUPT = 2;

/** A tree in preorder; siblings in the shared order. */
export class Tree {
  /** @param {number} count */
  constructor(count) {
    this.count = count;
    this.func = new Int32Array(count).fill(NONE);
    this.parent = new Int32Array(count);
    /** The id behind the last node of the subtree. */
    this.end = new Int32Array(count);
    this.depth = new Uint16Array(count);
    /** @type {Uint8Array} */ this.state = new Uint8Array(count);
    /** @type {Uint8Array} */ this.flags = new Uint8Array(count);
    /** [base, head], unscaled. */
    this.self = [new Float64Array(count), new Float64Array(count)];
    this.total = [new Float64Array(count), new Float64Array(count)];
    /** @type {Float64Array[]|null} totals without interrupts, but of interrupts; null: there are none */ this.own = null;
    /** @type {Map<number, number[]>|null} node -> [low, high] of the total's difference */ this.intervals = null;
    this.isLazy = false;
    this.twin = 0;
  }

  /** The first child, or -1. @param {number} node */
  first(node) {
    return node + 1 < this.end[node] ? node + 1 : -1;
  }

  /** The sibling behind a node, or -1. @param {number} node */
  next(node) {
    const parent = this.parent[node];
    return parent >= 0 && this.end[node] < this.end[parent] ? this.end[node] : -1;
  }

  /** The row a node is drawn in. @param {number} node */
  row(node) {
    return this.depth[node];
  }

  /** Whether its callees are drawn above it. @param {number} _node */
  upward(_node) {
    return false;
  }

  /** Whether `inner` lies in the subtree of `node`. @param {number} node @param {number} inner */
  holds(node, inner) {
    return inner >= node && inner < this.end[node];
  }

  /** What figures are of: totals that leave out what interrupted the thread. Widths are the whole totals. @returns {Float64Array[]} */
  get figures() {
    return this.own || this.total;
  }

  /** The same nodes with other self values. @param {Float64Array[]} self */
  withSelf(self) {
    const other = Object.assign(Object.create(Tree.prototype), this);
    other.self = self;
    other.total = [new Float64Array(this.count), new Float64Array(this.count)];
    other.own = null;
    sumTree(other);
    return /** @type {Tree} */ (other);
  }
}

/**
 * Fills parent and end from depths, and totals from self values. One loop: a page is read before the browser has compiled any.
 * @param {Tree} tree @param {number} [from] the first side that has values
 */
export function linkTree(tree, from = 0) {
  const { count, depth, parent, end } = tree;
  const [base, head] = tree.total;
  for (let side = from; side < 2; side++) tree.total[side].set(tree.self[side]);
  const path = new Int32Array(Math.min(count, 65536));
  let above = -1;
  for (let i = 0; i < count; i++) {
    const level = depth[i];
    // What is as deep or deeper ends here.
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

/** Totals from self values. @param {Tree} tree */
export function sumTree(tree) {
  const { count, parent } = tree;
  for (let side = 0; side < 2; side++) {
    const total = tree.total[side];
    total.set(tree.self[side]);
    for (let i = count - 1; i > 0; i--) total[parent[i]] += total[i];
  }
}

/** @param {Uint8Array} bytes @param {number} sides @returns {Tree} */
export function decodeTree(bytes, sides) {
  const columns = new Columns(bytes);
  const count = columns.varint();
  if (count > bytes.length) throw new Error("the page's data is cut off");
  const tree = new Tree(count);
  tree.depth.set(columns.fixed(count));
  tree.func.set(columns.fixed(count));
  tree.func[0] = NONE;
  tree.state = columns.raw(count);
  tree.flags = columns.raw(count);
  for (let side = 2 - sides; side < 2; side++) tree.self[side] = columns.multiples(count);
  tree.intervals = new Map();
  let node = 0;
  for (let left = columns.varint(); left > 0; left--) {
    node += columns.varint();
    tree.intervals.set(node, [columns.zigzag(), columns.zigzag()]);
  }
  linkTree(tree, 2 - sides);
  return tree;
}

/**
 * @typedef {object} Samples of one side
 * @property {number} count
 * @property {Int32Array} node
 * @property {Int32Array} thread
 * @property {Int32Array} times how often
 * @property {ArrayLike<number>[]} values by metric
 */

/** @param {Uint8Array} bytes @param {number} sides @param {{isCount: boolean}[]} metrics @returns {(Samples|null)[]} [base, head] */
export function decodeSamples(bytes, sides, metrics) {
  const columns = new Columns(bytes);
  /** @type {(Samples|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = columns.varint();
    if (count > bytes.length) throw new Error("the page's data is cut off");
    const node = columns.steps(new Int32Array(count));
    const thread = columns.numbers(new Int32Array(count));
    const times = columns.numbers(new Int32Array(count));
    out[side] = { count, node, thread, times, values: metrics.map((m) => (m.isCount ? times : columns.values(count))) };
  }
  return out;
}

/**
 * @typedef {object} Timeline of one side: events by time within their run
 * @property {number} count
 * @property {Float64Array} time in microseconds since the start of the run
 * @property {Int32Array} sample
 */

/** @param {Uint8Array} bytes @param {number} sides @returns {(Timeline|null)[]} */
export function decodeTimeline(bytes, sides) {
  const columns = new Columns(bytes);
  /** @type {(Timeline|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = columns.varint();
    if (count > bytes.length) throw new Error("the page's data is cut off");
    const time = new Float64Array(count);
    let now = 0;
    for (let i = 0; i < count; i++) time[i] = now += columns.zigzag();
    out[side] = { count, time, sample: columns.numbers(new Int32Array(count)) };
  }
  return out;
}
