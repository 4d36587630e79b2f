// SPDX-License-Identifier: GPL-3.0-or-later
// From the page's tree to the tree that is shown: filters, the system-calls toggle, inverting. Nothing here touches the browser.

import { linkTree, sumTree, Tree } from './decode.js';

/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */

const SYSTEM = 3;
const UNPROVEN = 1;

/** @template {Int32Array|Float64Array|Uint8Array} T @param {T} array @returns {T} the same, twice as long */
function doubled(array) {
  const longer = new /** @type {any} */ (array.constructor)(array.length * 2);
  longer.set(array);
  return longer;
}

/** Collects nodes by (parent, function); `finish` puts them in preorder, siblings by rank. */
export class TreeBuilder {
  /** @param {Func[]} functions @param {number} [expected] nodes */
  constructor(functions, expected = 0) {
    this.functions = functions;
    this.count = 1;
    let room = 1024;
    while (room < expected) room *= 2;
    /** @type {Int32Array} */ this.func = new Int32Array(room);
    /** @type {Int32Array} */ this.parent = new Int32Array(room);
    /** @type {Float64Array} */ this.self0 = new Float64Array(room);
    /** @type {Float64Array} */ this.self1 = new Float64Array(room);
    /** @type {Uint8Array} */ this.state = new Uint8Array(room);
    /** @type {Uint8Array} */ this.flags = new Uint8Array(room);
    /** @type {Int32Array} nodes by (parent, function), linear probing, at most half full; 0: free */ this.slots = new Int32Array(
      4 * room,
    );
    this.func[0] = this.parent[0] = -1;
  }

  /** Where a child stands, or the free slot for it. @param {number} parent @param {number} func */
  slotOf(parent, func) {
    const mask = this.slots.length - 1;
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(func, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const node = this.slots[at];
      if (node === 0 || (this.parent[node] === parent && this.func[node] === func)) return at;
    }
  }

  grow() {
    this.func = doubled(this.func);
    this.parent = doubled(this.parent);
    this.self0 = doubled(this.self0);
    this.self1 = doubled(this.self1);
    this.state = doubled(this.state);
    this.flags = doubled(this.flags);
    this.slots = new Int32Array(this.slots.length * 2);
    for (let node = 1; node < this.count; node++) this.slots[this.slotOf(this.parent[node], this.func[node])] = node;
  }

  /** The child of `parent` for a function. @param {number} parent @param {number} func @param {number} state @param {number} flags */
  child(parent, func, state, flags) {
    let slot = this.slotOf(parent, func);
    const found = this.slots[slot];
    if (found) {
      if (this.state[found] !== state) this.state[found] = UNPROVEN;
      return found;
    }
    if (this.count === this.func.length) {
      this.grow();
      slot = this.slotOf(parent, func);
    }
    const node = this.count++;
    this.slots[slot] = node;
    this.func[node] = func;
    this.parent[node] = parent;
    this.state[node] = state;
    this.flags[node] = flags;
    return node;
  }

  /** All nodes but the root, by falling rank of their function. */
  byFallingRank() {
    const { functions, func, count } = this;
    const starts = new Int32Array(functions.length + 1);
    const place = (/** @type {number} */ node) => functions.length - 1 - functions[func[node]].rank;
    for (let node = 1; node < count; node++) starts[place(node) + 1]++;
    for (let i = 0; i < functions.length; i++) starts[i + 1] += starts[i];
    const order = new Int32Array(count - 1);
    for (let node = 1; node < count; node++) order[starts[place(node)]++] = node;
    return order;
  }

  /** @returns {Tree} */
  finish() {
    const { count } = this;
    const first = new Int32Array(count).fill(-1);
    const next = new Int32Array(count).fill(-1);
    // The last child is linked first, so that lists come out in rising rank.
    for (const node of this.byFallingRank()) {
      next[node] = first[this.parent[node]];
      first[this.parent[node]] = node;
    }
    const tree = new Tree(count);
    const placed = new Int32Array(count);
    let node = 0;
    for (let at = 0; at < count; at++) {
      placed[node] = at;
      tree.func[at] = this.func[node];
      tree.depth[at] = node ? tree.depth[placed[this.parent[node]]] + 1 : 0;
      tree.state[at] = this.state[node];
      tree.flags[at] = this.flags[node];
      tree.self[0][at] = this.self0[node];
      tree.self[1][at] = this.self1[node];
      if (first[node] >= 0) {
        node = first[node];
        continue;
      }
      while (node > 0 && next[node] < 0) node = this.parent[node];
      node = next[node];
    }
    linkTree(tree);
    sumTree(tree);
    return tree;
  }
}

/**
 * @typedef {object} Filters
 * @property {string} [thread] "side:id" keys joined, or "" for all; a thread's display name
 * @property {(side: number, thread: number) => boolean} [keepThread]
 * @property {number[]|null} [range] [from, to) in microseconds
 * @property {number} [metric] whose values count
 */

/**
 * Self values under thread and time filters, in a metric.
 * @param {Tree} tree @param {(Samples|null)[]} samples @param {(Timeline|null)[]} timelines @param {Filters} filters
 */
export function filteredSelf(tree, samples, timelines, filters) {
  const { keepThread, range, metric = 0 } = filters;
  const out = [new Float64Array(tree.count), new Float64Array(tree.count)];
  for (let side = 0; side < 2; side++) {
    const s = samples[side];
    if (!s) continue;
    const timeline = timelines[side];
    const values = s.values[metric];
    // Without times nothing of a side lies in a range.
    if (range && !timeline) continue;
    if (range && timeline) {
      for (let i = 0; i < timeline.count; i++) {
        if (timeline.time[i] < range[0] || timeline.time[i] >= range[1]) continue;
        const sample = timeline.sample[i];
        if (keepThread && !keepThread(side, s.thread[sample])) continue;
        out[side][s.node[sample]] += values[sample] / s.times[sample];
      }
    } else {
      for (let i = 0; i < s.count; i++) if (!keepThread || keepThread(side, s.thread[i])) out[side][s.node[i]] += values[i];
    }
  }
  return out;
}

/**
 * Hides system frames. 'hide': leafward runs of them disappear with their time, those between other frames are spliced out and their
 * children join the parent. 'fold': the frames disappear, their time becomes the caller's own.
 * @param {Tree} tree @param {Func[]} functions @param {'hide'|'fold'} mode
 * @returns {{tree: Tree, hidden: number[]}} hidden: time left out, per side
 */
export function withoutSystem(tree, functions, mode) {
  const hidden = [0, 0];
  if (!functions.some((f) => f.origin === SYSTEM)) return { tree, hidden };
  const builder = new TreeBuilder(functions, tree.count);
  const mapped = new Int32Array(tree.count);
  for (let i = 0; i < tree.count; i++) {
    const func = tree.func[i];
    const isSystem = i > 0 && functions[func].origin === SYSTEM;
    const above = i ? mapped[tree.parent[i]] : 0;
    mapped[i] = i === 0 ? 0 : isSystem ? above : builder.child(above, func, tree.state[i], tree.flags[i]);
    if (isSystem && mode === 'hide') {
      hidden[0] += tree.self[0][i];
      hidden[1] += tree.self[1][i];
    } else {
      builder.self0[mapped[i]] += tree.self[0][i];
      builder.self1[mapped[i]] += tree.self[1][i];
    }
  }
  // What only system frames stood for has no time left and is not drawn.
  return { tree: builder.finish(), hidden };
}

const STATE_NUMBERS = new Map(['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved'].map((name, i) => [name, i]));

/** @param {{state: string}|null|undefined} estimate */
export function stateOf(estimate) {
  return estimate ? STATE_NUMBERS.get(estimate.state) || 0 : 0;
}

/**
 * Self and total of every function in a tree, recursion counted once.
 * @param {Tree} tree @param {number} functionCount
 */
export function functionSums(tree, functionCount) {
  const self = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const total = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const open = new Int32Array(functionCount); // id behind the subtree in which the function is already counted
  for (let i = 1; i < tree.count; i++) {
    const f = tree.func[i];
    self[0][f] += tree.self[0][i];
    self[1][f] += tree.self[1][i];
    if (i < open[f]) continue;
    open[f] = tree.end[i];
    total[0][f] += tree.total[0][i];
    total[1][f] += tree.total[1][i];
  }
  return { self, total };
}

/**
 * Time covered by frames of functions, nested ones counted once, and those frames.
 * @param {Tree} tree @param {Uint8Array} hits by function @param {boolean[]|null} states which verdicts count; null: all
 * @param {Float64Array|null} widths frames without a width are not listed @param {number} [top] only in the subtree of this one
 */
export function covered(tree, hits, states, widths, top = 0) {
  const { func, state, end } = tree;
  const [total0, total1] = tree.total;
  const sum = [0, 0];
  const nodes = [];
  const behind = end[top];
  for (let i = top + 1; i < behind;) {
    if (!hits[func[i]] || (states && !states[state[i]])) {
      i++;
      continue;
    }
    sum[0] += total0[i];
    sum[1] += total1[i];
    if (!widths || widths[i] > 0) nodes.push(i);
    i = end[i];
  }
  return { sum, nodes };
}
