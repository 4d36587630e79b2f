// SPDX-License-Identifier: GPL-3.0-or-later
// Trees that turn the call tree around: the callers of all functions, the callees of one, or both around it. A whole
// turned tree can be many times the size of the call tree. So the children of a node are made when `first` asks for
// them, which only happens to nodes that are wide enough to be seen.

import { stateOf, UNPROVEN } from '../data/codes.js';
import { Joining } from './joining.js';
import { BY_NAME, Siblings } from './order.js';
import { isProven } from '../data/symbols.js';
import { joinedShade } from './waiting.js';

/** @typedef {import('./order.js').Order} Order */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * What a turned tree asks of functions.
 * @typedef {{rank: number, self?: {state: string}, total?: {state: string}}} Ranked
 */

const FIRST_ROOM = 4096;
/** Directions in which the children of a node are found: callers or callees. */
const UP = 1;
const DOWN = 2;

/**
 * The nodes of the call tree that a node stands for: a slice of arrays that it shares with its siblings. `at` holds
 * these nodes; `leaf` holds, for callers, the nodes that their time comes from.
 * @typedef {{at: Int32Array, leaf: Int32Array, from: number, to: number}} Slice
 */

/**
 * A copy of a column with room for more nodes.
 * @template {Int32Array|Uint8Array|Float64Array} T @param {T} column @param {number} room @returns {T}
 */
function longer(column, room) {
  const made = new /** @type {new (room: number) => T} */ (column.constructor)(room);
  made.set(column);
  return made;
}

/** @implements {FrameTree} */
export class LazyTree {
  /**
   * @param {Tree} source the call tree @param {Ranked[]} functions
   * @param {Float64Array[]} weights [base, head]: time that each node of the call tree brings to its callers
   * @param {Order} order of siblings
   */
  constructor(source, functions, weights, order) {
    this.source = source;
    this.functions = functions;
    this.weights = weights;
    this.joining = new Joining(source, functions);
    this.siblings = new Siblings(functions, order);
    /** @type {Uint8Array|null} what nodes of the call tree wait for that count with these weights; null for unknown */
    this.shades = (weights === source.self ? source.shades?.own : source.shades?.all) || null;
    /** @type {number} */ this.count = 0;
    const room = FIRST_ROOM;
    /** @type {Int32Array} */ this.func = new Int32Array(room);
    /** @type {Int32Array} */ this.parent = new Int32Array(room);
    /** @type {Int32Array} */ this.depth = new Int32Array(room);
    /** @type {Uint8Array} */ this.state = new Uint8Array(room);
    /** @type {Uint8Array} */ this.flags = new Uint8Array(room);
    /** @type {Uint8Array} */ this.direction = new Uint8Array(room);
    /** @type {Uint8Array} what each node waits for */ this.shade = new Uint8Array(room);
    this.self = [new Float64Array(room), new Float64Array(room)];
    this.total = [new Float64Array(room), new Float64Array(room)];
    /** @type {Float64Array[]|null} totals without interrupts; null where there are none */ this.own = null;
    /** The first child of each node; 0 where the children are not made yet. */
    /** @type {Int32Array} */ this.kidsFrom = new Int32Array(room);
    /** How many children each node has. */
    /** @type {Int32Array} */ this.kids = new Int32Array(room);
    /** @type {(Slice|null)[]} */ this.slices = [];
    /** Scratch by function while children are made: how many entries each has, then where its next entry goes. */
    this.places = new Int32Array(functions.length);
    this.isLazy = true;
    /** @type {import('../data/tree.js').Trunks|null} none: who looks from a function to its callers asks for each */
    this.trunks = null;
    this.twin = 0;
    /** @type {{callers: boolean, callees: boolean}|null} what is shown around one function; null for all functions */
    this.around = null;
    this.lowestRow = 0;
    this.highestRow = 0;
    this.add(-1, -1, 0, DOWN);
  }

  #grow() {
    const room = this.func.length * 2;
    const integers = /** @type {const} */ (['func', 'parent', 'depth', 'kidsFrom', 'kids']);
    const bytes = /** @type {const} */ (['state', 'flags', 'direction', 'shade']);
    for (const name of integers) this[name] = longer(this[name], room);
    for (const name of bytes) this[name] = longer(this[name], room);
    this.self = this.self.map((side) => longer(side, room));
    this.total = this.total.map((side) => longer(side, room));
    this.own &&= this.own.map((side) => longer(side, room));
  }

  /** Totals that leave out interrupts. Widths are the whole totals. @returns {Float64Array[]} */
  get figures() {
    return this.own || this.total;
  }

  /** @param {number} parent @param {number} func @param {number} state @param {number} direction */
  add(parent, func, state, direction) {
    if (this.count === this.func.length) this.#grow();
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

  /** Where callers and callees are shown, callers have negative rows. @param {number} node */
  row(node) {
    if (!this.twin) return this.depth[node];
    return this.upward(node) ? 1 - this.depth[node] : Math.max(0, this.depth[node] - 1);
  }

  /** Makes the children of the node if they are not there yet. @param {number} node */
  first(node) {
    if (!this.kidsFrom[node]) this.#expand(node);
    return this.kids[node] ? this.kidsFrom[node] : -1;
  }

  /** @param {number} node */
  next(node) {
    const parent = this.parent[node];
    if (parent < 0 || node < this.kidsFrom[parent]) return -1;
    return node + 1 < this.kidsFrom[parent] + this.kids[parent] ? node + 1 : -1;
  }

  /** @param {number} node */
  upward(node) {
    return this.twin > 0 && this.direction[node] === UP;
  }

  /** @param {number} node @param {number} inner */
  holds(node, inner) {
    while (inner > node) inner = this.parent[inner];
    return inner === node;
  }

  /** @param {number} node */
  #expand(node) {
    const slice = this.slices[node];
    this.kidsFrom[node] = this.count;
    this.kids[node] = 0;
    if (!slice) return;
    if (this.direction[node] === UP) this.#addCallers(node, slice);
    else this.#addCallees(node, slice);
    this.slices[node] = null;
  }

  /**
   * Adds the children of a node in their order, one for each function. Turns `sizes` from the number of entries
   * of a function into the place of its first entry.
   * @param {number} node @param {number[]} funcs @param {Int32Array} sizes by function @param {Slice} into
   */
  addChildren(node, funcs, sizes, into) {
    this.siblings.sort(funcs);
    this.kids[node] = funcs.length;
    let from = 0;
    for (const func of funcs) {
      const child = this.add(node, func, UNPROVEN, this.direction[node]);
      const to = from + sizes[func];
      this.slices[child] = { at: into.at, leaf: into.leaf, from, to };
      sizes[func] = from;
      from = to;
    }
  }

  /** @param {number} node @param {Slice} slice */
  #addCallers(node, { at, leaf, from, to }) {
    const { source, places, siblings } = this;
    const [weights0, weights1] = this.weights;
    const funcs = [];
    let size = 0;
    for (let i = from; i < to; i++) {
      const caller = source.parent[at[i]];
      if (caller <= 0) continue;
      const func = source.func[caller];
      if (!places[func]++) funcs.push(func);
      // What a caller brings was not tested.
      siblings.add(func, weights0[leaf[i]], weights1[leaf[i]], 0);
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

  /**
   * Sums the time of the children of a node. The rest is the node's own: time of stacks that end there.
   * @param {number} node
   */
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
      this.#sumOwn(child, leaf, from, to);
      this.#sumShade(child, leaf, from, to);
      rest0 -= sum0;
      rest1 -= sum1;
    }
    this.self[0][node] = this.kids[node] ? Math.max(0, rest0) : total[0][node];
    this.self[1][node] = this.kids[node] ? Math.max(0, rest1) : total[1][node];
  }

  /** @param {number} node @param {Slice} slice */
  #addCallees(node, { at, from, to }) {
    const { source, places, siblings } = this;
    const [total0, total1] = source.total;
    const { changes } = siblings.order;
    const funcs = [];
    let size = 0;
    for (let i = from; i < to; i++)
      for (let callee = source.first(at[i]); callee >= 0; callee = source.next(callee)) {
        const func = source.func[callee];
        if (!places[func]++) funcs.push(func);
        siblings.add(func, total0[callee], total1[callee], changes ? changes[callee] : 0);
        size++;
      }
    const list = new Int32Array(size);
    this.addChildren(node, funcs, places, { at: list, leaf: list, from: 0, to: size });
    for (let i = from; i < to; i++)
      for (let callee = source.first(at[i]); callee >= 0; callee = source.next(callee))
        list[places[source.func[callee]]++] = callee;
    for (const func of funcs) places[func] = 0;
    const end = this.kidsFrom[node] + this.kids[node];
    for (let child = this.kidsFrom[node]; child < end; child++) this.#sumCallees(child);
  }

  /**
   * Sums the figures of a node without interrupts, from nodes of the call tree.
   * @param {number} node @param {Int32Array} nodes @param {number} from @param {number} to
   */
  #sumOwn(node, nodes, from, to) {
    const { own } = this;
    if (!own) return;
    for (let side = 0; side < 2; side++) {
      const figures = this.source.figures[side];
      for (let i = from; i < to; i++) own[side][node] += figures[nodes[i]];
    }
  }

  /**
   * Finds what a node waits for, from nodes of the call tree.
   * @param {number} node @param {Int32Array} nodes @param {number} from @param {number} to
   */
  #sumShade(node, nodes, from, to) {
    const { shades, source } = this;
    if (!shades || !source.shades) return;
    this.shade[node] = joinedShade(shades, this.weights[source.shades.side], nodes, from, to);
  }

  /** Sums what the nodes of the call tree have that a node stands for. @param {number} node */
  #sumCallees(node) {
    const { source } = this;
    const { at, from, to } = /** @type {Slice} */ (this.slices[node]);
    let flags = source.flags[at[from]];
    for (let i = from; i < to; i++) {
      for (let side = 0; side < 2; side++) {
        this.self[side][node] += source.self[side][at[i]];
        this.total[side][node] += source.total[side][at[i]];
      }
      flags &= source.flags[at[i]];
    }
    this.#sumOwn(node, at, from, to);
    this.#sumShade(node, at, from, to);
    this.flags[node] = flags | this.joining.place(at, from, to);
    this.state[node] = this.joining.state(at, from, to);
  }

  /**
   * Adds a node for a function right below the root.
   * @param {number} func @param {Int32Array} nodes its outermost frames @param {number} direction
   */
  addFunction(func, nodes, direction) {
    const node = this.add(0, func, 0, direction);
    this.slices[node] = { at: nodes, leaf: nodes, from: 0, to: nodes.length };
    this.#sumCallees(node);
    this.state[node] = stateOf(this.functions[func].total);
    if (direction === UP) {
      this.flags[node] = 0;
      // Its callers are made at once: only then it is known which part of its time has no caller.
      this.first(node);
    }
    return node;
  }
}

/**
 * Callers below callees: the children of the root are the functions where time was spent.
 * @param {Tree} source the call tree @param {Ranked[]} functions @param {Order} [order] of siblings
 */
export function inverted(source, functions, order = BY_NAME) {
  const tree = new LazyTree(source, functions, source.self, order);
  const [self0, self1] = source.self;
  const sizes = new Int32Array(functions.length);
  const funcs = [];
  let size = 0;
  for (let i = 1; i < source.count; i++) {
    if (!self0[i] && !self1[i]) continue;
    if (!sizes[source.func[i]]++) funcs.push(source.func[i]);
    tree.siblings.add(source.func[i], self0[i], self1[i], 0);
    size++;
  }
  if (order.by === 'change')
    for (const func of funcs) if (isProven(functions[func].self?.state || '')) tree.siblings.prove(func);
  const list = new Int32Array(size);
  for (let side = 0; side < 2; side++) tree.total[side][0] = source.total[side][0];
  tree.direction[0] = UP;
  tree.kidsFrom[0] = 1;
  tree.addChildren(0, funcs, sizes, { at: list, leaf: list, from: 0, to: size });
  for (let i = 1; i < source.count; i++) if (self0[i] || self1[i]) list[sizes[source.func[i]]++] = i;
  tree.sumCallers(0);
  for (let child = 1; child <= funcs.length; child++) tree.state[child] = stateOf(functions[tree.func[child]].self);
  // Time that belongs to no frame stays with the root.
  tree.self[0][0] = self0[0];
  tree.self[1][0] = self1[0];
  return tree;
}

/** The outermost frames of a function; a recursion has one. @param {Tree} source @param {number} func */
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
 * @param {Tree} source the call tree @param {Ranked[]} functions @param {number} func
 * @param {{callers: boolean, callees: boolean}} which @param {Order} [order] of siblings
 */
export function around(source, functions, func, { callers, callees }, order = BY_NAME) {
  const tree = new LazyTree(source, functions, source.total, order);
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
