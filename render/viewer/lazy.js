// SPDX-License-Identifier: GPL-3.0-or-later
// Trees that turn the call tree around: callers of what took the time, callees of a function, or both around it. Whole, they can be
// many times the size of the call tree; so a node's children are made when they are first asked for, which only happens to nodes that
// are wide enough to be seen.

import { stateOf } from './tree.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./symbols.js').Func} Func */

const UNPROVEN = 1;
const UP = 1;
const DOWN = 2;

/**
 * The call tree's nodes that a node stands for, a slice of arrays that it shares with its siblings. `at` is where they are; `leaf`
 * is, for callers, the node that their time comes from.
 * @typedef {{at: Int32Array, leaf: Int32Array, from: number, to: number}} Slice
 */

/** @param {any} array @param {number} room */
function longer(array, room) {
  const made = new array.constructor(room);
  made.set(array);
  return made;
}

export class LazyTree {
  /** @param {Tree} source the call tree @param {Func[]} functions @param {Float64Array[]} weights [base, head] time that a node of it brings to its callers */
  constructor(source, functions, weights) {
    this.source = source;
    this.functions = functions;
    this.weights = weights;
    /** @type {number} */ this.count = 0;
    const room = 4096;
    /** @type {Int32Array} */ this.func = new Int32Array(room);
    this.parent = new Int32Array(room);
    this.depth = new Int32Array(room);
    this.state = new Uint8Array(room);
    this.flags = new Uint8Array(room);
    this.direction = new Uint8Array(room);
    this.self = [new Float64Array(room), new Float64Array(room)];
    this.total = [new Float64Array(room), new Float64Array(room)];
    /** @type {Float64Array[]|null} totals without interrupts, as in a call tree; null: the totals themselves */ this.own = null;
    /** Where the children stand; 0: not made yet. */
    this.kidsFrom = new Int32Array(room);
    this.kids = new Int32Array(room);
    /** @type {(Slice|null)[]} */ this.slices = [];
    /** Of functions, while children are made: their node's place among the children, from 1. */
    this.places = new Int32Array(functions.length);
    /** @type {Map<number, number[]>|null} */ this.intervals = null;
    /** The function's node that the callers stand above, where callees stand below it; 0: none. */
    this.isLazy = true;
    this.twin = 0;
    /** @type {{callers: boolean, callees: boolean}|null} what is shown around one function */ this.around = null;
    this.lowestRow = 0;
    this.highestRow = 0;
    this.add(-1, -1, 0, DOWN);
  }

  grow() {
    const room = this.func.length * 2;
    for (const name of /** @type {const} */ (['func', 'parent', 'depth', 'state', 'flags', 'direction', 'kidsFrom', 'kids']))
      /** @type {any} */ (this)[name] = longer(this[name], room);
    this.self = this.self.map((side) => longer(side, room));
    this.total = this.total.map((side) => longer(side, room));
    this.own &&= this.own.map((side) => longer(side, room));
  }

  /** What figures are of; widths are the totals. @returns {Float64Array[]} */
  get figures() {
    return this.own || this.total;
  }

  /** @param {number} parent @param {number} func @param {number} state @param {number} direction */
  add(parent, func, state, direction) {
    if (this.count === this.func.length) this.grow();
    /** @type {number} */ const node = this.count++;
    this.func[node] = func;
    this.parent[node] = parent;
    this.depth[node] = parent < 0 ? 0 : this.depth[parent] + 1;
    this.state[node] = state;
    this.direction[node] = direction;
    this.slices.push(null);
    const row = this.row(node);
    if (row > this.lowestRow) this.lowestRow = row;
    if (row < this.highestRow) this.highestRow = row;
    return node;
  }

  /** The row a node is drawn in: callers above (negative), callees below, where there are both. @param {number} node */
  row(node) {
    if (!this.twin) return this.depth[node];
    return this.upward(node) ? 1 - this.depth[node] : Math.max(0, this.depth[node] - 1);
  }

  /** The first child, or -1. @param {number} node */
  first(node) {
    if (!this.kidsFrom[node]) this.expand(node);
    return this.kids[node] ? this.kidsFrom[node] : -1;
  }

  /** The sibling behind a node, or -1. @param {number} node */
  next(node) {
    const parent = this.parent[node];
    return parent >= 0 && node + 1 < this.kidsFrom[parent] + this.kids[parent] && node >= this.kidsFrom[parent] ? node + 1 : -1;
  }

  /** Whether its children are drawn above it. @param {number} node */
  upward(node) {
    return this.twin > 0 && this.direction[node] === UP;
  }

  /** Whether `inner` lies in the subtree of `node`. @param {number} node @param {number} inner */
  holds(node, inner) {
    while (inner > node) inner = this.parent[inner];
    return inner === node;
  }

  /** @param {number} node */
  expand(node) {
    const slice = this.slices[node];
    this.kidsFrom[node] = this.count;
    this.kids[node] = 0;
    if (!slice) return;
    if (this.direction[node] === UP) this.addCallers(node, slice);
    else this.addCallees(node, slice);
    this.slices[node] = null;
  }

  /**
   * Children of a node, in the shared order, for entries that are counted by function.
   * @param {number} node @param {number[]} funcs @param {Int32Array} sizes by function: entries @param {Slice} into
   */
  addChildren(node, funcs, sizes, into) {
    funcs.sort((a, b) => this.functions[a].rank - this.functions[b].rank);
    this.kids[node] = funcs.length;
    let from = 0;
    for (const func of funcs) {
      const child = this.add(node, func, UNPROVEN, this.direction[node]);
      const to = from + sizes[func];
      this.slices[child] = { at: into.at, leaf: into.leaf, from, to };
      // From here on where the function's next entry goes.
      sizes[func] = from;
      from = to;
    }
  }

  /** @param {number} node @param {Slice} slice */
  addCallers(node, { at, leaf, from, to }) {
    const { source, places } = this;
    const funcs = [];
    let size = 0;
    for (let i = from; i < to; i++) {
      const caller = source.parent[at[i]];
      if (caller <= 0) continue;
      const func = source.func[caller];
      if (!places[func]++) funcs.push(func);
      size++;
    }
    const into = { at: new Int32Array(size), leaf: new Int32Array(size), from: 0, to: size };
    this.addChildren(node, funcs, places, into);
    for (let i = from; i < to; i++) {
      const caller = source.parent[at[i]];
      if (caller <= 0) continue;
      const place = places[source.func[caller]]++;
      into.at[place] = caller;
      into.leaf[place] = leaf[i];
    }
    for (const func of funcs) places[func] = 0;
    this.sumCallers(node);
  }

  /** Time of the children of a node, and what is left for it itself: that of stacks which end there. @param {number} node */
  sumCallers(node) {
    const [weights0, weights1] = this.weights;
    const { total } = this;
    const end = this.kidsFrom[node] + this.kids[node];
    let rest0 = total[0][node];
    let rest1 = total[1][node];
    for (let child = this.kidsFrom[node]; child < end; child++) {
      const { leaf, from, to } = /** @type {Slice} */ (this.slices[child]);
      let sum0 = 0;
      let sum1 = 0;
      for (let i = from; i < to; i++) {
        sum0 += weights0[leaf[i]];
        sum1 += weights1[leaf[i]];
      }
      total[0][child] = sum0;
      total[1][child] = sum1;
      this.sumOwn(child, leaf, from, to);
      rest0 -= sum0;
      rest1 -= sum1;
    }
    this.self[0][node] = this.kids[node] ? Math.max(0, rest0) : total[0][node];
    this.self[1][node] = this.kids[node] ? Math.max(0, rest1) : total[1][node];
  }

  /** @param {number} node @param {Slice} slice */
  addCallees(node, { at, from, to }) {
    const { source, places } = this;
    const funcs = [];
    let size = 0;
    for (let i = from; i < to; i++)
      for (let callee = source.first(at[i]); callee >= 0; callee = source.next(callee)) {
        const func = source.func[callee];
        if (!places[func]++) funcs.push(func);
        size++;
      }
    const list = new Int32Array(size);
    this.addChildren(node, funcs, places, { at: list, leaf: list, from: 0, to: size });
    for (let i = from; i < to; i++)
      for (let callee = source.first(at[i]); callee >= 0; callee = source.next(callee))
        list[places[source.func[callee]]++] = callee;
    for (const func of funcs) places[func] = 0;
    const end = this.kidsFrom[node] + this.kids[node];
    for (let child = this.kidsFrom[node]; child < end; child++) this.sumCallees(child);
  }

  /** The same without interrupts. @param {number} node @param {Int32Array} nodes of the call tree @param {number} from @param {number} to */
  sumOwn(node, nodes, from, to) {
    const { own } = this;
    if (!own) return;
    for (let side = 0; side < 2; side++) for (let i = from; i < to; i++) own[side][node] += this.source.figures[side][nodes[i]];
  }

  /** What the call tree's nodes that a node stands for have together. @param {number} node */
  sumCallees(node) {
    const { source } = this;
    const { at, from, to } = /** @type {Slice} */ (this.slices[node]);
    let flags = 15;
    let state = source.state[at[from]];
    for (let i = from; i < to; i++) {
      for (let side = 0; side < 2; side++) {
        this.self[side][node] += source.self[side][at[i]];
        this.total[side][node] += source.total[side][at[i]];
      }
      flags &= source.flags[at[i]];
      if (source.state[at[i]] !== state) state = UNPROVEN;
    }
    this.sumOwn(node, at, from, to);
    this.flags[node] = flags;
    this.state[node] = state;
  }

  /** A function's node below the root, for its outermost frames. @param {number} func @param {Int32Array} nodes @param {number} direction */
  addFunction(func, nodes, direction) {
    const node = this.add(0, func, 0, direction);
    this.slices[node] = { at: nodes, leaf: nodes, from: 0, to: nodes.length };
    this.sumCallees(node);
    this.state[node] = stateOf(this.functions[func].total);
    if (direction === UP) {
      this.flags[node] = 0;
      // Made at once: only then it is known which part of its time has no caller.
      this.first(node);
    }
    return node;
  }
}

/**
 * Callers below callees: the root's children are the functions where time was spent.
 * @param {Tree} source @param {Func[]} functions
 */
export function inverted(source, functions) {
  const tree = new LazyTree(source, functions, source.self);
  const [self0, self1] = source.self;
  const sizes = new Int32Array(functions.length);
  const funcs = [];
  let size = 0;
  for (let i = 1; i < source.count; i++) {
    if (!self0[i] && !self1[i]) continue;
    if (!sizes[source.func[i]]++) funcs.push(source.func[i]);
    size++;
  }
  const list = new Int32Array(size);
  for (let side = 0; side < 2; side++) tree.total[side][0] = source.total[side][0];
  tree.direction[0] = UP;
  tree.kidsFrom[0] = 1;
  tree.addChildren(0, funcs, sizes, { at: list, leaf: list, from: 0, to: size });
  for (let i = 1; i < source.count; i++) if (self0[i] || self1[i]) list[sizes[source.func[i]]++] = i;
  tree.sumCallers(0);
  for (let child = 1; child <= funcs.length; child++) tree.state[child] = stateOf(functions[tree.func[child]].self);
  // Time that no frame is left for stays the root's.
  tree.self[0][0] = self0[0];
  tree.self[1][0] = self1[0];
  return tree;
}

/** The outermost frames of a function: recursion counts once. @param {Tree} source @param {number} func */
export function outermost(source, func) {
  const nodes = [];
  for (let i = 1; i < source.count;) {
    if (source.func[i] === func) nodes.push(i);
    i = source.func[i] === func ? source.end[i] : i + 1;
  }
  return Int32Array.from(nodes);
}

/**
 * What calls a function, what it calls, or both: its callers above and its callees below it.
 * @param {Tree} source @param {Func[]} functions @param {number} func @param {{callers: boolean, callees: boolean}} which
 */
export function around(source, functions, func, { callers, callees }) {
  const tree = new LazyTree(source, functions, source.total);
  tree.around = { callers, callees };
  tree.own = source.own && tree.total.map((side) => new Float64Array(side.length));
  const nodes = outermost(source, func);
  tree.kidsFrom[0] = 1;
  if (nodes.length) {
    tree.kids[0] = 1;
    if (callers && callees) tree.twin = 2;
    tree.addFunction(func, nodes, callees ? DOWN : UP);
    if (tree.twin) tree.addFunction(func, nodes, UP);
    for (const of of [tree.total, tree.figures]) for (const side of of) side[0] = side[1];
  }
  return tree;
}
