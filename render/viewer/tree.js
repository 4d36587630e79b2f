// SPDX-License-Identifier: GPL-3.0-or-later
// From the page's tree to the tree that is shown: filters and sums. Nothing here touches the browser.

import { INTERRUPT } from './decode.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */

const MORE = 2;
const LESS = 3;

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

const STATE_NUMBERS = new Map(['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved'].map((name, i) => [name, i]));

/** @param {{state: string}|null|undefined} estimate */
export function stateOf(estimate) {
  return estimate ? STATE_NUMBERS.get(estimate.state) || 0 : 0;
}

/**
 * Totals that leave out the interrupts below a node, as the tested figures do; what is an interrupt has its whole total.
 * @param {Tree} tree @returns {Float64Array[]|null} null: there are no interrupts
 */
export function withoutInterrupts({ count, flags, parent, self }) {
  if (!flags.some((flag) => flag & INTERRUPT)) return null;
  return self.map((side) => {
    const own = Float64Array.from(side);
    for (let i = count - 1; i > 0; i--) if (!(flags[i] & INTERRUPT) || flags[parent[i]] & INTERRUPT) own[parent[i]] += own[i];
    return own;
  });
}

/**
 * Self and total of every function in a tree, recursion counted once.
 * @param {Tree} tree @param {number} functionCount
 */
export function functionSums(tree, functionCount) {
  const self = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const total = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const [total0, total1] = tree.figures;
  const open = new Int32Array(functionCount); // id behind the subtree in which the function is already counted
  for (let i = 1; i < tree.count; i++) {
    const f = tree.func[i];
    self[0][f] += tree.self[0][i];
    self[1][f] += tree.self[1][i];
    if (i < open[f]) continue;
    open[f] = tree.end[i];
    total[0][f] += total0[i];
    total[1][f] += total1[i];
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
  const [total0, total1] = tree.figures;
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

/** Whether a function that is found calls a node. @param {Tree} tree @param {number} node @param {Uint8Array} hits by function */
export function hasCaller(tree, node, hits) {
  for (let at = tree.parent[node]; at > 0; at = tree.parent[at]) if (hits[tree.func[at]]) return true;
  return false;
}

/** The nodes of each function. @param {Tree} tree @param {number} functionCount */
export function placesByFunction(tree, functionCount) {
  const { func, count } = tree;
  const starts = new Int32Array(functionCount + 2);
  for (let i = 1; i < count; i++) starts[func[i] + 2]++;
  for (let f = 1; f < starts.length; f++) starts[f] += starts[f - 1];
  const nodes = new Int32Array(Math.max(0, count - 1));
  for (let i = 1; i < count; i++) nodes[starts[func[i] + 1]++] = i;
  return { starts, nodes };
}

/** The largest difference of a node that is proven to take more or less. @param {Tree} tree @param {number} factor head's values are multiplied with */
export function largestChange({ count, state, figures: total }, factor) {
  let most = 0;
  for (let i = 1; i < count; i++)
    if (state[i] === MORE || state[i] === LESS) most = Math.max(most, Math.abs(total[1][i] * factor - total[0][i]));
  return most;
}
