// SPDX-License-Identifier: GPL-3.0-or-later
// Filters and sums over a call tree.

import { INTERRUPT, LESS, MORE } from './codes.js';

/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */
/** @typedef {import('./tree.js').Tree} Tree */

/**
 * Which samples count, and by which value.
 * @typedef {object} Filters
 * @property {(side: number, thread: number) => boolean} [keepThread] all threads where it is missing
 * @property {number[]|null} [range] [from, to) in microseconds
 * @property {number} [metric] whose values count
 */

/**
 * The weights of all events of each sample together; the number of its events where they have none of their own.
 * @param {Timeline} timeline @param {Samples} samples
 */
function weightSums({ count, sample, weight }, samples) {
  if (!weight.size) return samples.times;
  const sums = new Float64Array(samples.count);
  for (let i = 0; i < count; i++) sums[sample[i]] += weight.get(i) ?? 1;
  return sums;
}

/**
 * How much of each sample lies in a range of time: the weights of its events there, all together.
 * @param {Timeline} timeline @param {Samples} samples @param {number[]} range
 */
function weightsIn({ count, time, sample, weight }, samples, [from, to]) {
  const sums = new Float64Array(samples.count);
  const isWeighted = weight.size > 0;
  for (let i = 0; i < count; i++)
    if (time[i] >= from && time[i] < to) sums[sample[i]] += isWeighted ? (weight.get(i) ?? 1) : 1;
  return sums;
}

/**
 * Self values [base, head] of the samples that pass the filters. A side without samples keeps its column.
 * @param {Tree} tree @param {(Samples|null)[]} samples @param {(Timeline|null)[]} timelines @param {Filters} filters
 */
export function filteredSelf(tree, samples, timelines, { keepThread, range, metric = 0 }) {
  return samples.map((s, side) => {
    if (!s) return tree.self[side];
    const out = new Float64Array(tree.count);
    const timeline = timelines[side];
    // A side without a timeline has nothing in any range of time.
    if (range && !timeline) return out;
    const { count, node, thread } = s;
    const values = s.values[metric];
    const parts = range && timeline && weightsIn(timeline, s, range);
    const wholes = parts && timeline && weightSums(timeline, s);
    for (let i = 0; i < count; i++) {
      if ((parts && !parts[i]) || (keepThread && !keepThread(side, thread[i]))) continue;
      out[node[i]] += parts && wholes ? (values[i] * parts[i]) / wholes[i] : values[i];
    }
    return out;
  });
}

/**
 * Totals that leave out the interrupts below a node, as the tested figures do. The nodes of interrupts keep their
 * whole totals.
 * @param {Tree} tree @returns {Float64Array[]|null} null where there are no interrupts
 */
export function withoutInterrupts({ count, flags, parent, self }) {
  if (!flags.some((flag) => flag & INTERRUPT)) return null;
  return self.map((side) => {
    const own = Float64Array.from(side);
    for (let i = count - 1; i > 0; i--)
      if (!(flags[i] & INTERRUPT) || flags[parent[i]] & INTERRUPT) own[parent[i]] += own[i];
    return own;
  });
}

/**
 * Self and total [base, head] of every function in a tree. Time in a recursion counts once.
 * @param {Tree} tree @param {number} functionCount
 */
export function functionSums(tree, functionCount) {
  const self = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const total = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const [total0, total1] = tree.figures;
  // The node after the subtree in which a function is counted already.
  const open = new Int32Array(functionCount);
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
 * The outermost frames of some functions, and the time [base, head] that they cover.
 * @param {Tree} tree @param {Uint8Array} hits 1 for each function that is looked for
 * @param {boolean[]|null} states the verdicts that count; null for all
 * @param {Float64Array|null} widths frames without a width are not listed
 * @param {number} [top] only frames in the subtree of this node count
 */
export function covered(tree, hits, states, widths, top = 0) {
  const { func, state, end } = tree;
  const [total0, total1] = tree.figures;
  const sum = [0, 0];
  const nodes = [];
  const after = end[top];
  for (let i = top + 1; i < after;) {
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

/**
 * Whether a caller of a node is among some functions.
 * @param {Tree} tree @param {number} node @param {Uint8Array} hits
 */
export function hasCaller(tree, node, hits) {
  for (let at = tree.parent[node]; at > 0; at = tree.parent[at]) if (hits[tree.func[at]]) return true;
  return false;
}

/**
 * The nodes of function f: `nodes` from `starts[f]` up to `starts[f + 1]`.
 * @param {Tree} tree @param {number} functionCount
 */
export function placesByFunction(tree, functionCount) {
  const { func, count } = tree;
  const starts = new Int32Array(functionCount + 2);
  for (let i = 1; i < count; i++) starts[func[i] + 2]++;
  for (let f = 1; f < starts.length; f++) starts[f] += starts[f - 1];
  const nodes = new Int32Array(Math.max(0, count - 1));
  for (let i = 1; i < count; i++) nodes[starts[func[i] + 1]++] = i;
  return { starts, nodes };
}

/**
 * The largest proven difference of any node.
 * @param {Tree} tree @param {number} factor multiplies the values of head
 */
export function largestChange({ count, state, figures: total }, factor) {
  let most = 0;
  for (let i = 1; i < count; i++) {
    if (state[i] !== MORE && state[i] !== LESS) continue;
    most = Math.max(most, Math.abs(total[1][i] * factor - total[0][i]));
  }
  return most;
}
