// SPDX-License-Identifier: GPL-3.0-or-later
// Orders of siblings beside the one by name. They look at both sides at once, so that base, head and difference keep
// one order.

import { PROVEN } from '../data/symbols.js';
import { Tree } from '../data/tree.js';

/**
 * An order of siblings: by name; by size, which is the time on the side that has more of it; or by change, which is the
 * largest proven change of a frame or of one below it, and then its size.
 * @typedef {object} Order
 * @property {'name'|'size'|'change'} by
 * @property {number} factor multiplies the values of head
 * @property {Float64Array|null} changes the largest proven change in the subtree of each node of the call tree; null
 * unless siblings stand by change
 */

/** The order that all reports share. @type {Order} */
export const BY_NAME = { by: 'name', factor: 1, changes: null };

/** Siblings up to this many are sorted by insertion, more of them by the library. */
const FEW = 24;
/** Keys for the library are rank times this plus node. */
const RANKS = 2 ** 31;

/** A call tree whose siblings stand in another order. Its nodes keep their numbers, so that columns are shared. */
export class OrderedTree extends Tree {
  /** @param {Tree} tree @param {Order} order */
  constructor(tree, order) {
    super(0);
    Object.assign(this, tree);
    /** The first child of each node, or -1. */ this.kids = new Int32Array(tree.count).fill(-1);
    /** The sibling after each node, or -1. */ this.following = new Int32Array(tree.count).fill(-1);
    /** Where each node stands when the tree is read in this order, callers before callees. */
    this.places = new Int32Array(tree.count);
    this.#sort(order);
  }

  /** @param {Order} order */
  #sort(order) {
    const { count, end } = this;
    const compare = comparison(this, order);
    const list = new Int32Array(count);
    for (let node = 0; node < count; node++) {
      const after = end[node];
      let found = 0;
      for (let child = node + 1; child < after; child = end[child]) list[found++] = child;
      if (found) this.#link(node, sorted(list, found, compare), found);
    }
  }

  /** Notes the children of a node in their order. @param {number} node @param {Int32Array} list @param {number} count */
  #link(node, list, count) {
    const { end, following, kids, places } = this;
    let place = places[node] + 1;
    kids[node] = list[0];
    for (let i = 0; i < count; i++) {
      const child = list[i];
      places[child] = place;
      place += end[child] - child;
      if (i + 1 < count) following[child] = list[i + 1];
    }
  }

  /** @param {number} node */
  first(node) {
    return this.kids[node];
  }

  /** @param {number} node */
  next(node) {
    return this.following[node];
  }
}

/**
 * Which of two siblings comes first: less than 0 for the first of them.
 * @param {Tree} tree @param {Order} order @returns {(a: number, b: number) => number}
 */
function comparison({ count, total: [base, head] }, { factor, changes }) {
  const sizes = new Float64Array(count);
  for (let i = 0; i < count; i++) sizes[i] = Math.max(base[i], head[i] * factor);
  if (!changes) return (a, b) => sizes[b] - sizes[a] || a - b;
  return (a, b) => changes[b] - changes[a] || sizes[b] - sizes[a] || a - b;
}

/**
 * Sorts the first entries of a list in place.
 * @param {Int32Array} list @param {number} count @param {(a: number, b: number) => number} compare
 */
function sorted(list, count, compare) {
  if (count > FEW) {
    list.subarray(0, count).sort(compare);
    return list;
  }
  for (let i = 1; i < count; i++) {
    const node = list[i];
    let to = i;
    for (; to > 0 && compare(node, list[to - 1]) < 0; to--) list[to] = list[to - 1];
    list[to] = node;
  }
  return list;
}

/**
 * Sorts the first entries of a list into the order that all reports share, in place. They are mostly in order.
 * @param {Int32Array|number[]} list nodes @param {number} count @param {ArrayLike<number>} ranks by function
 * @param {ArrayLike<number>} func by node
 */
export function sortByRank(list, count, ranks, func) {
  if (count > FEW) {
    const keys = new Float64Array(count);
    for (let i = 0; i < count; i++) keys[i] = ranks[func[list[i]]] * RANKS + list[i];
    keys.sort();
    for (let i = 0; i < count; i++) list[i] = keys[i] % RANKS;
    return;
  }
  for (let i = 1; i < count; i++) {
    const node = list[i];
    const rank = ranks[func[node]];
    let to = i;
    for (; to > 0 && ranks[func[list[to - 1]]] > rank; to--) list[to] = list[to - 1];
    list[to] = node;
  }
}

/**
 * The largest proven change, in scaled units, of each node or of one below it; 0 for none.
 * @param {Tree} tree @param {number} factor multiplies the values of head
 */
export function changesIn({ count, figures: [base, head], parent, state }, factor) {
  const changes = new Float64Array(count);
  for (let i = count - 1; i > 0; i--) {
    const own = PROVEN.has(state[i]) ? Math.abs(head[i] * factor - base[i]) : 0;
    if (own > changes[i]) changes[i] = own;
    if (changes[i] > changes[parent[i]]) changes[parent[i]] = changes[i];
  }
  return changes;
}

/** Sorts functions that become siblings, by what their frames add up to. */
export class Siblings {
  /** @param {{rank: number}[]} functions @param {Order} order */
  constructor(functions, order) {
    this.functions = functions;
    this.order = order;
    const room = order.by === 'name' ? 0 : functions.length;
    this.base = new Float64Array(room);
    this.head = new Float64Array(room);
    this.change = new Float64Array(room);
  }

  /**
   * Adds the time [base, head] of a frame to that of its function, and notes the largest change of any.
   * @param {number} func @param {number} base @param {number} head @param {number} change
   */
  add(func, base, head, change) {
    if (this.order.by === 'name') return;
    this.base[func] += base;
    this.head[func] += head;
    if (change > this.change[func]) this.change[func] = change;
  }

  /** Takes the difference of what was added for a function as its change. @param {number} func */
  prove(func) {
    this.change[func] = Math.abs(this.head[func] * this.order.factor - this.base[func]);
  }

  /** @param {number} func */
  #size(func) {
    return Math.max(this.base[func], this.head[func] * this.order.factor);
  }

  /** Sorts functions, and forgets what was added for them. @param {number[]} funcs */
  sort(funcs) {
    const { base, change, functions, head, order } = this;
    const byName = (/** @type {number} */ a, /** @type {number} */ b) => functions[a].rank - functions[b].rank;
    const bySize = (/** @type {number} */ a, /** @type {number} */ b) => this.#size(b) - this.#size(a) || byName(a, b);
    if (order.by === 'name') funcs.sort(byName);
    else if (order.by === 'size') funcs.sort(bySize);
    else funcs.sort((a, b) => change[b] - change[a] || bySize(a, b));
    if (order.by !== 'name') for (const func of funcs) base[func] = head[func] = change[func] = 0;
  }
}
