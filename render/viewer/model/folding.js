// SPDX-License-Identifier: GPL-3.0-or-later
// The call tree with frames taken out of its stacks: those of some functions, whose time goes to their callers, and
// those of recursions. One pass over the nodes gives each its place, another one puts siblings into their order.

import { ancestorAt, jumpOf } from './ancestors.js';
import { PLACE } from '../data/codes.js';
import { Joining } from './joining.js';
import { ranksOf } from '../data/symbols.js';
import { grouped, linkTree, Tree } from '../data/tree.js';
import { sortByRank } from './order.js';

/**
 * Which frames are taken out.
 * @typedef {object} Folds
 * @property {Uint8Array|null} merged 1 for each function whose frames go into their callers
 * @property {boolean} recursion whether a frame of a function that is open already goes into the open one, as in the
 *   loop erasure of a walk (G. F. Lawler, 1980): `a b a c` becomes `a c`, and `a b a b` becomes `a b`
 */

/** A table of the nodes that are made, by parent and function. */
class Made {
  /** @param {number} most nodes */
  constructor(most) {
    this.func = new Int32Array(most);
    this.parent = new Int32Array(most);
    this.depth = new Uint16Array(most);
    /** Nodes further up, by which a caller is found in few steps: see `ancestors.js`. */
    this.jump = new Int32Array(most);
    this.self = [new Float64Array(most), new Float64Array(most)];
    this.count = 1;
    this.bits = Math.max(4, Math.ceil(Math.log2(most + 1)) + 1);
    this.table = new Int32Array(2 ** this.bits);
    this.func[0] = -1;
  }

  /**
   * The child of a node with a function, which is made where there is none.
   * @param {number} parent @param {number} func
   */
  child(parent, func) {
    const { table } = this;
    const mask = table.length - 1;
    let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b)) >>> (32 - this.bits);
    for (; table[at]; at = (at + 1) & mask) {
      const node = table[at];
      if (this.parent[node] === parent && this.func[node] === func) return node;
    }
    const node = this.count++;
    table[at] = node;
    this.parent[node] = parent;
    this.func[node] = func;
    this.depth[node] = this.depth[parent] + 1;
    this.jump[node] = jumpOf(this.depth, this.jump, parent);
    return node;
  }

  /** Whether a node is a caller of another one, or the same. @param {number} node @param {number} inner */
  holds(node, inner) {
    return ancestorAt(this, inner, this.depth[node]) === node;
  }
}

/** The functions that are open in a stack, with the nodes that they became. */
class Open {
  /** @param {number} functions @param {number} levels */
  constructor(functions, levels) {
    this.node = new Int32Array(functions);
    this.before = new Int32Array(levels);
    this.func = new Int32Array(levels).fill(-1);
    this.top = 0;
  }

  /** Forgets the frames from a level on. @param {number} level */
  close(level) {
    for (; this.top >= level; this.top--) {
      const func = this.func[this.top];
      if (func >= 0) this.node[func] = this.before[this.top];
      this.func[this.top] = -1;
    }
  }

  /** @param {number} level @param {number} func @param {number} node */
  push(level, func, node) {
    this.func[level] = func;
    this.before[level] = this.node[func];
    this.node[func] = node;
    this.top = level;
  }
}

/**
 * Gives each node of a tree its place among the nodes that are made, and its self values to them.
 * @param {Tree} tree @param {Made} made @param {Folds} folds @param {Open} open
 * @returns {{repeated: number[], frames: Int32Array}} the self time [base, head] of stacks with a recursion; the node that
 * each frame became, 0 for those that were merged
 */
function place(tree, made, { merged, recursion }, open) {
  const { count, depth, func, parent } = tree;
  const [from0, from1] = tree.self;
  const [self0, self1] = made.self;
  const to = new Int32Array(count);
  const frames = new Int32Array(count);
  const repeats = new Uint8Array(recursion ? count : 0);
  const repeated = [0, 0];
  self0[0] = from0[0];
  self1[0] = from1[0];
  for (let i = 1; i < count; i++) {
    const f = func[i];
    const above = to[parent[i]];
    let node = above;
    if (recursion) open.close(depth[i]);
    if (!merged?.[f]) {
      const outer = recursion ? open.node[f] : 0;
      if (outer && made.holds(outer, above)) {
        node = outer;
        repeats[i] = 1;
      } else node = made.child(above, f);
      if (recursion) open.push(depth[i], f, node);
      frames[i] = node;
    }
    to[i] = node;
    self0[node] += from0[i];
    self1[node] += from1[i];
    if (!recursion) continue;
    repeats[i] |= repeats[parent[i]];
    if (!repeats[i]) continue;
    repeated[0] += from0[i];
    repeated[1] += from1[i];
  }
  return { repeated, frames };
}

/** The places of the nodes that were made, in preorder. @param {Made} made @param {ArrayLike<number>} ranks */
function preorder({ count, func, parent }, ranks) {
  const { starts, members: kids } = grouped(parent, count, count, 1);
  const sizes = new Int32Array(count).fill(1);
  for (let i = count - 1; i > 0; i--) sizes[parent[i]] += sizes[i];
  const places = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const [from, to] = [starts[i], starts[i + 1]];
    if (to - from > 1) sortByRank(kids.subarray(from, to), to - from, ranks, func);
    let at = places[i] + 1;
    for (let k = from; k < to; k++) {
      places[kids[k]] = at;
      at += sizes[kids[k]];
    }
  }
  return places;
}

/**
 * The tree without the frames that are taken out. Frames keep their verdicts, as `joining.js` says. Self values add up
 * to what they were.
 * @param {Tree} tree @param {import('../data/symbols.js').Func[]} functions @param {Folds} folds
 * @returns {{tree: Tree, repeated: number[]}} and the time [base, head] of stacks in which a recursion was folded
 */
export function foldedTree(tree, functions, folds) {
  const made = new Made(tree.count);
  let deepest = 0;
  for (let i = 0; i < tree.count; i++) if (tree.depth[i] > deepest) deepest = tree.depth[i];
  const { repeated, frames } = place(tree, made, folds, new Open(functions.length, deepest + 1));
  const places = preorder(made, ranksOf(functions));
  const out = new Tree(made.count);
  const { starts, members } = grouped(frames, made.count, tree.count, 1);
  const joining = new Joining(tree, functions);
  out.state[0] = tree.state[0];
  out.flags[0] = tree.flags[0];
  for (let i = 0; i < made.count; i++) {
    const at = places[i];
    out.func[at] = made.func[i];
    out.depth[at] = made.depth[i];
    for (let side = 0; side < 2; side++) out.self[side][at] = made.self[side][i];
    if (!i) continue;
    out.flags[at] = (tree.flags[members[starts[i]]] & ~PLACE) | joining.place(members, starts[i], starts[i + 1]);
    out.state[at] = joining.state(members, starts[i], starts[i + 1]);
  }
  linkTree(out);
  return { tree: out, repeated };
}
