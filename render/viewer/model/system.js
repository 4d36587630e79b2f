// SPDX-License-Identifier: GPL-3.0-or-later
// The toggles of system calls and of interrupts: the call tree without the frames of the kernel and the low-level
// runtime, or without those of interrupts alone. Most of a tree is copied as it is, in one pass. Only where a system
// frame stands between others, the frames below it are joined with the ones beside it.

import { PLACE, SYSTEM } from '../data/codes.js';
import { Joining } from './joining.js';
import { originsOf, ranksOf } from '../data/symbols.js';
import { linkTree, Tree } from '../data/tree.js';
import { sortByRank } from './order.js';

/** @typedef {import('../data/symbols.js').Func} Func */

/** Steps between two looks at the clock. */
const LOOK_EVERY = 256;
/** Mark of a subtree that holds other frames than system ones. */
const OTHERS = 1;
/** Mark of a frame with a system frame right below it that has other frames below itself. */
const SPLICED = 2;

/** The marks of each frame. @param {Tree} tree @param {Uint8Array} isSystem by function */
function contentsOf({ count, func, parent }, isSystem) {
  const out = new Uint8Array(count);
  for (let i = count - 1; i > 0; i--) {
    if (!isSystem[func[i]]) out[parent[i]] |= OTHERS;
    else if (out[i] & OTHERS) out[parent[i]] |= OTHERS | SPLICED;
  }
  return out;
}

/** Takes system frames out of a tree, step by step. */
export class Splicer {
  /** @param {Tree} tree @param {Func[]} functions @param {Uint8Array} isSystem by function @param {boolean} fold */
  constructor(tree, functions, isSystem, fold) {
    this.tree = tree;
    this.joining = new Joining(tree, functions);
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
    /** The frame that was written last at each depth. */ this.last = new Int32Array(65537);
    /**
     * The work that is left, the next step last. A step is either frames to be joined, their number, and the level of
     * the frame that they become; or frames to be copied: the first, the one after the last, 0, and how much deeper
     * they come to stand.
     * @type {number[]}
     */
    this.open = [];
    /** How many entries of `open` count. Shortening the array would take longer than all the rest. */ this.left = 0;
    /** @type {number[]} the frames below the ones that are joined */ this.kids = [];
    this.kidCount = 0;
    this.#later(0, tree.count, 0);
  }

  /**
   * Adds the time of a system frame to its caller, or to what is hidden.
   * @param {number} base @param {number} head @param {number} caller
   */
  #put(base, head, caller) {
    const [to0, to1] = this.fold ? this.self : [this.hidden, this.hidden];
    to0[this.fold ? caller : 0] += base;
    to1[this.fold ? caller : 1] += head;
  }

  /**
   * Copies frames, leaves out system frames that have no others below them, and stops at the first frame that is
   * SPLICED.
   * @param {number} from @param {number} after @param {number} shift
   */
  #copy(from, after, shift) {
    const { tree, isSystem, contents, last, func, depth, state, flags } = this;
    const [total0, total1] = tree.total;
    const [from0, from1] = tree.self;
    const [self0, self1] = this.self;
    let at = this.count;
    let node = from;
    while (node < after) {
      const own = tree.depth[node] + shift;
      if (isSystem[tree.func[node]]) {
        this.#put(total0[node], total1[node], last[own - 1]);
        node = tree.end[node];
        continue;
      }
      if (contents[node] & SPLICED) break;
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
    if (node === after) return;
    if (tree.end[node] < after) this.#later(tree.end[node], after, shift);
    this.open[this.left++] = node;
    this.open[this.left++] = 1;
    this.open[this.left++] = tree.depth[node] + shift;
  }

  /** Notes frames that are to be copied. @param {number} from @param {number} after @param {number} shift */
  #later(from, after, shift) {
    const { open } = this;
    open[this.left++] = from;
    open[this.left++] = after;
    open[this.left++] = 0;
    open[this.left++] = shift;
  }

  /**
   * Writes one frame for several of the same function, which are the last entries of `open`.
   * @param {number} first @param {number} level
   */
  #join(first, level) {
    const { tree, joining, left, open, self } = this;
    const at = this.count++;
    this.last[level] = at;
    this.func[at] = tree.func[open[first]];
    this.depth[at] = level;
    this.flags[at] = (tree.flags[open[first]] & ~PLACE) | joining.place(open, first, left);
    this.state[at] = joining.state(open, first, left);
    for (let i = first; i < left; i++) {
      self[0][at] += tree.self[0][open[i]];
      self[1][at] += tree.self[1][open[i]];
    }
    return at;
  }

  /**
   * Collects the frames below one, also the ones below system frames, whose own time is put where it belongs.
   * @param {number} top @param {number} at
   */
  #below(top, at) {
    const { tree, isSystem, contents, kids } = this;
    const after = tree.end[top];
    for (let node = top + 1; node < after;) {
      if (!isSystem[tree.func[node]]) {
        kids[this.kidCount++] = node;
        node = tree.end[node];
      } else if (contents[node] & OTHERS) {
        this.#put(tree.self[0][node], tree.self[1][node], at);
        node++;
      } else {
        this.#put(tree.total[0][node], tree.total[1][node], at);
        node = tree.end[node];
      }
    }
  }

  /** Works for some time and tells whether all is done. @param {number} [ms] @returns {boolean} */
  run(ms = Infinity) {
    const { open } = this;
    const end = performance.now() + ms;
    for (let step = 1; this.left; step++) {
      if (step % LOOK_EVERY === 0 && performance.now() > end) return false;
      const level = open[--this.left];
      const many = open[--this.left];
      const first = this.left - (many || 2);
      if (many) {
        const at = this.#join(first, level);
        for (let i = first; i < this.left; i++) this.#below(open[i], at);
        this.left = first;
        this.#push(level + 1);
      } else {
        this.left = first;
        this.#copy(open[first], open[first + 1], level);
      }
    }
    return true;
  }

  /** Notes the collected frames as the next steps, with the ones of a function together. @param {number} level */
  #push(level) {
    const { open, kids } = this;
    const { func, end, depth } = this.tree;
    sortByRank(kids, this.kidCount, this.ranks, func);
    for (let to = this.kidCount; to > 0;) {
      let from = to - 1;
      while (from > 0 && func[kids[from - 1]] === func[kids[from]]) from--;
      if (to - from === 1) this.#later(kids[from], end[kids[from]], level - depth[kids[from]]);
      else {
        for (let i = from; i < to; i++) open[this.left++] = kids[i];
        open[this.left++] = to - from;
        open[this.left++] = level;
      }
      to = from;
    }
    this.kidCount = 0;
  }

  /** The tree without system frames, and the hidden time [base, head]. All work must be done. */
  result() {
    const { count, hidden } = this;
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
    return { tree, hidden };
  }
}

/**
 * What takes system frames out of a tree. 'hide': system frames with no others below them disappear with their time;
 * the ones between other frames disappear, and the frames below them move to their caller. 'fold': all disappear, and
 * their time becomes their caller's.
 * @param {Tree} tree @param {Func[]} functions @param {'hide'|'fold'} mode
 * @param {number} [least] the first origin that disappears: SYSTEM with the interrupts, or INTERRUPTS alone
 * @param {Uint8Array|null} [waits] 1 or more for each function that is no code but a class of waits, which stays
 * @returns {Splicer|null} null where there are no such frames
 */
export function splicerOf(tree, functions, mode, least = SYSTEM, waits = null) {
  const isSystem = Uint8Array.from(originsOf(functions), (origin, f) => (origin >= least && !waits?.[f] ? 1 : 0));
  return isSystem.includes(1) ? new Splicer(tree, functions, isSystem, mode === 'fold') : null;
}
