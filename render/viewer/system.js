// SPDX-License-Identifier: GPL-3.0-or-later
// The system-calls toggle: the call tree without the frames of the kernel and the low-level runtime. Most of a tree is taken over as
// it is, in one pass; only where a system frame stands between others are the frames below it joined with those beside it.

import { linkTree, sumTree, Tree } from './decode.js';
import { originsOf, ranksOf } from './symbols.js';

/** @typedef {import('./symbols.js').Func} Func */

const SYSTEM = 3;
const UNPROVEN = 1;
/** More siblings than these are sorted the usual way. */
const MANY = 30;
/** Of a subtree: it holds other frames than system ones. */
const OTHERS = 1;
/** Of a subtree: a system frame in it has others below it. */
const BETWEEN = 2;

/** What lies in each subtree below its root. @param {Tree} tree @param {Uint8Array} isSystem by function */
function contentsOf({ count, func, parent }, isSystem) {
  const out = new Uint8Array(count);
  for (let i = count - 1; i > 0; i--) {
    if (!isSystem[func[i]]) out[i] |= OTHERS;
    else if (out[i] & OTHERS) out[i] |= BETWEEN;
    out[parent[i]] |= out[i];
  }
  return out;
}

class Splicer {
  /** @param {Tree} tree @param {Func[]} functions @param {Uint8Array} isSystem by function @param {boolean} fold */
  constructor(tree, functions, isSystem, fold) {
    this.tree = tree;
    this.ranks = ranksOf(functions);
    this.isSystem = isSystem;
    this.fold = fold;
    this.contents = contentsOf(tree, isSystem);
    this.hidden = [0, 0];
    this.count = 0;
    this.func = new Int32Array(tree.count);
    this.depth = new Uint16Array(tree.count);
    this.state = new Uint8Array(tree.count);
    this.flags = new Uint8Array(tree.count);
    this.self = [new Float64Array(tree.count), new Float64Array(tree.count)];
    /** By depth: the frame that was written last. */ this.last = new Int32Array(65537);
  }

  /** Where the time of a system frame goes. @param {number} base @param {number} head @param {number} caller */
  put(base, head, caller) {
    const [to0, to1] = this.fold ? this.self : [this.hidden, this.hidden];
    to0[this.fold ? caller : 0] += base;
    to1[this.fold ? caller : 1] += head;
  }

  /** A subtree in which system frames have nothing but system frames below them. @param {number} top @param {number} level */
  take(top, level) {
    const { tree, isSystem, last, func, depth, state, flags } = this;
    const [total0, total1] = tree.total;
    const [from0, from1] = tree.self;
    const [self0, self1] = this.self;
    const behind = tree.end[top];
    const shift = level - tree.depth[top];
    let at = this.count;
    for (let node = top; node < behind;) {
      const own = tree.depth[node] + shift;
      if (node !== top && isSystem[tree.func[node]]) {
        this.put(total0[node], total1[node], last[own - 1]);
        node = tree.end[node];
        continue;
      }
      func[at] = tree.func[node];
      depth[at] = own;
      state[at] = tree.state[node];
      flags[at] = tree.flags[node];
      self0[at] = from0[node];
      self1[at] = from1[node];
      last[own] = at++;
      node++;
    }
    this.count = at;
  }

  /** One frame for several of the same function. @param {ArrayLike<number>} nodes @param {number} level */
  join(nodes, level) {
    const { tree } = this;
    const at = this.count++;
    this.last[level] = at;
    this.func[at] = tree.func[nodes[0]];
    this.depth[at] = level;
    this.flags[at] = tree.flags[nodes[0]];
    this.state[at] = tree.state[nodes[0]];
    for (let i = 0; i < nodes.length; i++) {
      if (tree.state[nodes[i]] !== this.state[at]) this.state[at] = UNPROVEN;
      this.self[0][at] += tree.self[0][nodes[i]];
      this.self[1][at] += tree.self[1][nodes[i]];
    }
    return at;
  }

  /** The frames below one, also behind system frames; these give their own time to where it goes. @param {number} top @param {number} at @param {number[]} out */
  below(top, at, out) {
    const { tree, isSystem, contents } = this;
    const open = [top];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const behind = tree.end[node];
      for (let child = node + 1; child < behind; child = tree.end[child]) {
        if (!isSystem[tree.func[child]]) out.push(child);
        else if (contents[child] & OTHERS) {
          this.put(tree.self[0][child], tree.self[1][child], at);
          open.push(child);
        } else this.put(tree.total[0][child], tree.total[1][child], at);
      }
    }
  }

  /** In the shared order of siblings. They are few, and mostly in order. @param {number[]} nodes */
  sort(nodes) {
    const { ranks } = this;
    const { func } = this.tree;
    const before = (/** @type {number} */ a, /** @type {number} */ b) => ranks[func[a]] - ranks[func[b]] || a - b;
    if (nodes.length > MANY) {
      nodes.sort(before);
      return;
    }
    for (let i = 1; i < nodes.length; i++) {
      const node = nodes[i];
      let to = i;
      for (; to > 0 && before(nodes[to - 1], node) > 0; to--) nodes[to] = nodes[to - 1];
      nodes[to] = node;
    }
  }

  /** What is open lies on one stack: frames to be joined, how many, and their level. */
  splice() {
    const open = [0, 1, 0];
    while (open.length) {
      const level = /** @type {number} */ (open.pop());
      const many = /** @type {number} */ (open.pop());
      const first = open[open.length - many];
      if (many === 1 && !(this.contents[first] & BETWEEN)) {
        open.pop();
        this.take(first, level);
        continue;
      }
      const nodes = open.splice(open.length - many, many);
      const at = this.join(nodes, level);
      /** @type {number[]} */ const kids = [];
      for (const node of nodes) this.below(node, at, kids);
      this.sort(kids);
      this.push(open, kids, level + 1);
    }
  }

  /** The last one first, those of the same function together. @param {number[]} open @param {number[]} kids @param {number} level */
  push(open, kids, level) {
    const { func } = this.tree;
    for (let to = kids.length; to > 0;) {
      let from = to - 1;
      while (from > 0 && func[kids[from - 1]] === func[kids[from]]) from--;
      for (let i = from; i < to; i++) open.push(kids[i]);
      open.push(to - from, level);
      to = from;
    }
  }

  finish() {
    const { count } = this;
    const tree = Object.assign(new Tree(0), {
      count,
      func: this.func.subarray(0, count),
      depth: this.depth.subarray(0, count),
      state: this.state.subarray(0, count),
      flags: this.flags.subarray(0, count),
      self: this.self.map((side) => side.subarray(0, count)),
      parent: new Int32Array(count),
      end: new Int32Array(count),
      total: [new Float64Array(count), new Float64Array(count)],
    });
    linkTree(tree);
    sumTree(tree);
    return tree;
  }
}

/**
 * Hides system frames. 'hide': leafward runs of them disappear with their time, those between other frames are spliced out and their
 * children join the parent. 'fold': the frames disappear, their time becomes the caller's own.
 * @param {Tree} tree @param {Func[]} functions @param {'hide'|'fold'} mode
 * @returns {{tree: Tree, hidden: number[]}} hidden: time left out, per side
 */
export function withoutSystem(tree, functions, mode) {
  const isSystem = Uint8Array.from(originsOf(functions), (origin) => (origin === SYSTEM ? 1 : 0));
  if (!isSystem.includes(1)) return { tree, hidden: [0, 0] };
  const splicer = new Splicer(tree, functions, isSystem, mode === 'fold');
  splicer.splice();
  return { tree: splicer.finish(), hidden: splicer.hidden };
}
