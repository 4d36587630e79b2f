// SPDX-License-Identifier: GPL-3.0-or-later
// The verdict on a frame that stands for several frames of the call tree, because frames between them were taken out or
// the tree was turned around: where all of them have one verdict, that one; else, where they are all places of their
// function, the verdict on the function; else that of the largest of them. What filters leave a part of has none.

import { PLACE, UNTESTED } from '../data/codes.js';
import { totalStatesOf } from '../data/symbols.js';

/** @typedef {import('../data/tree.js').Tree} Tree */

export class Joining {
  /** @param {Tree} tree whose frames are joined @param {{total?: {state: string}}[]} functions */
  constructor(tree, functions) {
    this.tree = tree;
    this.functions = functions;
    /** @type {{outermost: Uint8Array, count: Int32Array}|null} */ this.placesMade = null;
  }

  /** The frames of each function that no other frame of it is above, as 1 by node, and how many it has. */
  get places() {
    if (this.placesMade) return this.placesMade;
    const { count, end, func } = this.tree;
    const places = { outermost: new Uint8Array(count), count: new Int32Array(this.functions.length) };
    /** The node after the subtree in which a function is counted already. */
    const open = new Int32Array(this.functions.length);
    for (let i = 1; i < count; i++) {
      if (i < open[func[i]]) continue;
      open[func[i]] = end[i];
      places.outermost[i] = 1;
      places.count[func[i]]++;
    }
    return (this.placesMade = places);
  }

  /**
   * The number of the verdict on frames of one function.
   * @param {ArrayLike<number>} nodes @param {number} from @param {number} to the frames are `nodes` from here up to here
   */
  state(nodes, from, to) {
    const { func, state, total } = this.tree;
    const first = state[nodes[from]];
    let agree = true;
    let best = from;
    const size = (/** @type {number} */ i) => total[0][nodes[i]] + total[1][nodes[i]];
    for (let i = from + 1; i < to; i++) {
      if (state[nodes[i]] === UNTESTED) return UNTESTED;
      if (state[nodes[i]] !== first) agree = false;
      if (size(i) > size(best)) best = i;
    }
    if (agree || first === UNTESTED) return first;
    const { outermost, count } = this.places;
    let places = 0;
    for (let i = from; i < to; i++) places += outermost[nodes[i]];
    const f = func[nodes[from]];
    return places === count[f] ? totalStatesOf(this.functions)[f] : state[nodes[best]];
  }

  /**
   * The flag of a place of a proven change, which joined frames have where one of them has it; else 0.
   * @param {ArrayLike<number>} nodes @param {number} from @param {number} to
   */
  place(nodes, from, to) {
    for (let i = from; i < to; i++) if (this.tree.flags[nodes[i]] & PLACE) return PLACE;
    return 0;
  }
}
