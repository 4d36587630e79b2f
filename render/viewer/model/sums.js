// SPDX-License-Identifier: GPL-3.0-or-later
// Filters and sums over a call tree.

import { INTERRUPT, LESS, MORE } from '../data/codes.js';

/** @typedef {import('../data/decode.js').Samples} Samples */
/** @typedef {import('../data/decode.js').Timeline} Timeline */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * The first of sorted times that is not before a time.
 * @param {Float64Array} times @param {number} time @param {number} begin @param {number} end
 */
export function lowerBound(times, time, begin, end) {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (times[middle] < time) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/** @param {ArrayLike<number>} values */
export const sumOf = (values) => Array.from(values).reduce((a, b) => a + b, 0);

/** The samples of [base, head] that count, as 1 by sample; null for all. @typedef {(Uint8Array|null)[]|null} Kept */

/**
 * Which samples count, and by which value.
 * @typedef {object} SampleFilter
 * @property {(side: number, thread: number) => boolean} [keepThread] all threads where it is missing
 * @property {Kept} [kept] the samples that count; all where it is missing
 * @property {number[]|null} [range] [from, to) in microseconds
 * @property {number} [metric] whose values count
 */

/** @typedef {Pick<SampleFilter, 'keepThread'|'kept'> & {metric: number}} RangeFilter */

/**
 * What the samples of one side count for in a range of time, added up in places. A range that moves costs as much as
 * the events that enter and leave it: somebody who drags a brush changes little of it at a time.
 */
class RangeSums {
  /**
   * @param {Timeline} timeline @param {Samples} samples @param {number} side @param {RangeFilter} filter
   * @param {Int32Array|null} places of the samples: their nodes; null for one each @param {number} count of places
   */
  constructor(timeline, samples, side, filter, places, count) {
    this.timeline = timeline;
    this.side = side;
    this.filter = filter;
    this.areNodes = !!places;
    this.places = places || samples.node.map((_, i) => i);
    this.sums = new Float64Array(count);
    /** The weights of the events in each place: where they are 0 nothing is left, also no error of rounding. */
    this.weights = new Float64Array(count);
    /** What an event of each sample counts for, by its weight. */ this.units = unitsOf(timeline, samples, side, filter);
    /** The events of each thread that are summed: from `first` up to `behind`. */
    this.first = timeline.starts.slice(0, -1);
    this.behind = this.first.slice();
  }

  /** Adds events, or takes them away. @param {number} from @param {number} to @param {1|-1} sign */
  #add(from, to, sign) {
    const { places, sums, units, weights } = this;
    const { sample, weight } = this.timeline;
    const areEqual = !weight.size;
    for (let i = from; i < to; i++) {
      const one = sample[i];
      const place = places[one];
      const change = areEqual ? sign : sign * (weight.get(i) ?? 1);
      weights[place] += change;
      if (weights[place] === 0) sums[place] = 0;
      else sums[place] += change * units[one];
    }
  }

  /** The sums over the events in [from, to). @param {number[]} range */
  in([from, to]) {
    const { behind, filter, first, side } = this;
    const { starts, time } = this.timeline;
    for (let thread = 0; thread < first.length; thread++) {
      if (filter.keepThread && !filter.keepThread(side, thread)) continue;
      const left = lowerBound(time, from, starts[thread], starts[thread + 1]);
      const right = lowerBound(time, to, left, starts[thread + 1]);
      const [oldLeft, oldRight] = [first[thread], behind[thread]];
      this.#add(left, Math.min(right, oldLeft), 1);
      this.#add(Math.max(left, oldRight), right, 1);
      this.#add(oldLeft, Math.min(oldRight, left), -1);
      this.#add(Math.max(oldLeft, right), oldRight, -1);
      first[thread] = left;
      behind[thread] = right;
    }
    return this.sums.slice();
  }
}

/**
 * What an event of each sample counts for, by its weight: nothing where its stack does not pass.
 * @param {Timeline} timeline @param {Samples} samples @param {number} side @param {RangeFilter} filter
 */
function unitsOf(timeline, samples, side, { metric, kept }) {
  const values = samples.values[metric];
  const wholes = wholesOf(timeline, samples);
  const units = new Float64Array(samples.count);
  const isKept = kept?.[side];
  for (let i = 0; i < units.length; i++) if (!isKept || isKept[i]) units[i] = values[i] / wholes[i] || 0;
  return units;
}

/** The weights of all events of each sample, where events have weights. @type {WeakMap<Timeline, Float64Array>} */
const weightsOf = new WeakMap();

/**
 * The weights of all events of each sample: how often it was taken where no event has a weight.
 * @param {Timeline} timeline @param {Samples} samples @returns {ArrayLike<number>}
 */
function wholesOf(timeline, samples) {
  const { count, sample, weight } = timeline;
  if (!weight.size) return samples.times;
  const known = weightsOf.get(timeline) || new Float64Array(samples.count);
  if (!weightsOf.has(timeline)) for (let i = 0; i < count; i++) known[sample[i]] += weight.get(i) ?? 1;
  weightsOf.set(timeline, known);
  return known;
}

/** How many sums are kept of a timeline: a state needs them with its other filters, and its chips without. */
const MOST_KEPT = 3;
/** What was summed of each timeline, for the next range, the latest first. @type {WeakMap<Timeline, RangeSums[]>} */
const rangeSums = new WeakMap();

/**
 * What samples count for in a range, added up in places.
 * @param {Timeline} timeline @param {Samples} samples @param {number} side @param {SampleFilter} filter
 * @param {Int32Array|null} places of the samples: their nodes; null for one each @param {number} count of places
 */
function sumsInRange(timeline, samples, side, { keepThread, metric = 0, kept = null, range }, places, count) {
  const made = rangeSums.get(timeline) || [];
  const known = made.find(
    ({ areNodes, filter }) =>
      areNodes === !!places && filter.keepThread === keepThread && filter.metric === metric && filter.kept === kept,
  );
  const filter = { keepThread, metric, kept };
  const sums = known || new RangeSums(timeline, samples, side, filter, places, count);
  rangeSums.set(timeline, [sums, ...made.filter((one) => one !== sums)].slice(0, MOST_KEPT));
  return sums.in(range || [0, Infinity]);
}

/**
 * What each sample [base, head] counts for under the filters: 0 where it does not pass; null for a side without
 * samples.
 * @param {(Samples|null)[]} samples @param {(Timeline|null)[]} timelines @param {SampleFilter} filters
 */
export function filteredValues(samples, timelines, filters) {
  const { keepThread, kept, range, metric = 0 } = filters;
  return samples.map((s, side) => {
    if (!s) return null;
    const timeline = timelines[side];
    if (range && timeline) return sumsInRange(timeline, s, side, filters, null, s.count);
    const out = new Float64Array(s.count);
    // A side without a timeline has nothing in any range of time.
    if (range) return out;
    const { count, thread } = s;
    const isKept = kept?.[side];
    const values = s.values[metric];
    for (let i = 0; i < count; i++)
      if ((!isKept || isKept[i]) && (!keepThread || keepThread(side, thread[i]))) out[i] = values[i];
    return out;
  });
}

/**
 * Self values [base, head] of samples that count for something. A side without samples keeps its column.
 * @param {Tree} tree @param {(Samples|null)[]} samples @param {(Float64Array|null)[]} values
 */
export function selfOfSamples(tree, samples, values) {
  return samples.map((s, side) => {
    const value = values[side];
    if (!s || !value) return tree.self[side];
    const out = new Float64Array(tree.count);
    for (let i = 0; i < s.count; i++) out[s.node[i]] += value[i];
    return out;
  });
}

/**
 * Self values [base, head] of the samples that pass the filters.
 * @param {Tree} tree @param {(Samples|null)[]} samples @param {(Timeline|null)[]} timelines @param {SampleFilter} filters
 */
export function filteredSelf(tree, samples, timelines, filters) {
  if (!filters.range) return selfOfSamples(tree, samples, filteredValues(samples, timelines, filters));
  return samples.map((s, side) => {
    const timeline = timelines[side];
    if (!s) return tree.self[side];
    if (!timeline) return new Float64Array(tree.count);
    return sumsInRange(timeline, s, side, filters, s.node, tree.count);
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

/** The time [base, head] of all stacks, without interrupts. @param {Tree} tree @param {Float64Array[]} self */
export function timeWithoutInterrupts({ count, flags }, self) {
  return self.map((side) => {
    let sum = 0;
    for (let i = 0; i < count; i++) if (!(flags[i] & INTERRUPT)) sum += side[i];
    return sum;
  });
}

/**
 * Self and total [base, head] of every function in a tree. Time in a recursion counts once.
 * @param {Tree} tree @param {number} functionCount @param {Float64Array[]} [totals] of the nodes
 */
export function functionSums(tree, functionCount, totals = tree.figures) {
  const self = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const total = [new Float64Array(functionCount), new Float64Array(functionCount)];
  const { count, end, func } = tree;
  for (let side = 0; side < 2; side++) {
    const [ownOf, ofNode, own, all] = [tree.self[side], totals[side], self[side], total[side]];
    // A report of one recording has nothing on the other side.
    if (!tree.total[side][0]) continue;
    // The node after the subtree in which a function is counted already.
    const open = new Int32Array(functionCount);
    for (let i = 1; i < count; i++) {
      const f = func[i];
      own[f] += ownOf[i];
      if (i < open[f]) continue;
      open[f] = end[i];
      all[f] += ofNode[i];
    }
  }
  return { self, total };
}

/**
 * The outermost frames of some functions, and the time [base, head] that they cover.
 * @param {Tree} tree @param {Uint8Array} hits 1 for each function that is looked for
 * @param {((node: number) => boolean)|null} isWanted whether a frame counts; null for all
 * @param {Float64Array|null} widths frames without a width are not listed
 * @param {number} [top] only frames in the subtree of this node count
 */
export function covered(tree, hits, isWanted, widths, top = 0) {
  const { func, end } = tree;
  const [total0, total1] = tree.figures;
  const sum = [0, 0];
  const nodes = [];
  const after = end[top];
  for (let i = top + 1; i < after;) {
    if (!hits[func[i]] || (isWanted && !isWanted(i))) {
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
 * The largest proven difference of any node.
 * @param {Tree} tree @param {number} factor multiplies the values of head
 */
export function largestChange({ count, state, figures: total }, factor) {
  let most = 0;
  for (let i = 0; i < count; i++) {
    if (state[i] !== MORE && state[i] !== LESS) continue;
    most = Math.max(most, Math.abs(total[1][i] * factor - total[0][i]));
  }
  return most;
}
