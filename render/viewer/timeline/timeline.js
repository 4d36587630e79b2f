// SPDX-License-Identifier: GPL-3.0-or-later
// What a timeline shows: how busy the target was, and the boxes of a thread in a range of time. Only what has a place
// on the screen is computed: of the samples that share a column of pixels the first stands for all, and of their stacks
// the rows that are visible.

import { lowerBound } from '../model/sums.js';
import { CLASSES } from '../model/waiting.js';

/** @typedef {import('../model/ancestors.js').Ancestors} Ancestors */
/** @typedef {import('../data/decode.js').Samples} Samples */
/** @typedef {import('../data/decode.js').Timeline} Timeline */
/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * The part of a lane that is on the screen; times in microseconds.
 * @typedef {object} LaneView
 * @property {number} from @property {number} to the time that is shown
 * @property {number} step the time that a column of pixels stands for
 * @property {number} first the first visible row; the row of a thread's first frame is 0
 * @property {number} behind the row behind the last visible one
 */

/**
 * Receives the boxes of a lane.
 * @typedef {object} LanePainter
 * @property {(row: number, from: number, to: number, node: number, kind: number) => void} box a frame in its row;
 *   `kind` is the class of waits that all of it is, or 0
 * @property {(from: number, to: number) => void} [sampled] the thread was sampled all this time
 */

/**
 * A frame that two neighbouring samples share is one box, if not more than this many sampling periods lie between them.
 * A thread that shares its CPU with others is sampled less often than once in a period.
 */
const MOST_PERIODS = 64;
/** Gaps that are narrower than this many columns do not part boxes either: nobody could read what lies between. */
const LEAST_COLUMNS = 8;

/**
 * Samples by bucket of time, for each side.
 * @param {(Timeline|null)[]} timelines @param {(Samples|null)[]} samples @param {number} end of the time that is shown
 * @param {number} buckets
 * @param {((side: number, thread: number) => boolean)|undefined} keepThread all threads where it is missing
 * @param {import('../model/sums.js').Kept} [kept] the samples that count
 */
export function activity(timelines, samples, end, buckets, keepThread, kept = null) {
  const scale = buckets / end;
  return timelines.map((timeline, side) => {
    const out = new Float64Array(buckets);
    const s = samples[side];
    if (!timeline || !s) return smoothed(out);
    const { sample, starts, time } = timeline;
    const isKept = kept?.[side];
    for (let thread = 0; thread + 1 < starts.length; thread++) {
      if (keepThread && !keepThread(side, thread)) continue;
      const behind = starts[thread + 1];
      for (let i = starts[thread]; i < behind; i++)
        if (!isKept || isKept[sample[i]] === 1) out[Math.max(0, Math.min(buckets - 1, Math.floor(time[i] * scale)))]++;
    }
    return smoothed(out);
  });
}

/**
 * Mixes each bucket with its neighbours: a bucket holds few samples, so that the strip would look like a comb.
 * @param {Float64Array} counts
 */
function smoothed(counts) {
  return counts.map((value, i) => (value * 2 + (counts[i - 1] ?? value) + (counts[i + 1] ?? value)) / 4);
}

/** The longest time between two samples whose common frames are one box. @param {Lane} lane @param {number} step */
function longestGap({ track }, step) {
  return Math.max(MOST_PERIODS * track.period, LEAST_COLUMNS * step);
}

/** The boxes of a lane that are open at a time, by visible row. */
class OpenBoxes {
  /** @param {Ancestors} ancestors @param {LaneView} view @param {LanePainter} painter */
  constructor(ancestors, { first, behind }, painter) {
    this.ancestors = ancestors;
    this.first = first;
    this.behind = behind;
    this.painter = painter;
    /** How many rows have an open box. */ this.rows = 0;
    this.nodes = new Int32Array(Math.max(0, behind - first));
    this.next = new Int32Array(Math.max(0, behind - first));
    this.since = new Float64Array(Math.max(0, behind - first));
    /** The class of waits that all of a box is; 0 for CPU time, and for a box of several. */
    this.kinds = new Uint8Array(Math.max(0, behind - first));
    /** The end of the last sample. */ this.end = -Infinity;
  }

  /** Paints the open boxes from a row on. @param {number} row */
  close(row) {
    for (let at = row; at < this.rows; at++)
      this.painter.box(this.first + at, this.since[at], this.end, this.nodes[at], this.kinds[at]);
    this.rows = Math.min(row, this.rows);
  }

  /**
   * Opens the boxes of a stack. Those that are open already stay.
   * @param {number} node @param {number} time @param {number} kind the class of waits of the stack, or 0
   */
  open(node, time, kind) {
    const { ancestors, behind, first, kinds, next, nodes, since } = this;
    const level = Math.min(ancestors.depth[node], behind);
    const rows = Math.max(0, level - first);
    let above = ancestors.at(node, level);
    let row = rows - 1;
    for (; row >= 0 && (row >= this.rows || nodes[row] !== above); row--) {
      next[row] = above;
      above = ancestors.parent[above];
    }
    const same = row + 1;
    this.close(same);
    for (row = 0; row < same; row++) if (kinds[row] !== kind) kinds[row] = 0;
    for (row = same; row < rows; row++) {
      kinds[row] = kind;
      nodes[row] = next[row];
      since[row] = time;
    }
    this.rows = rows;
  }
}

/**
 * The event that stands for those in a column: the first, or the last where that is a wait that goes on behind it.
 * @param {Lane['track']} track @param {number} first @param {number} last @param {number} edge of the column
 */
function standsFor(track, first, last, edge) {
  return last > first && track.kind(last) && track.time[last] + track.length(last) > edge ? last : first;
}

/**
 * Hands the boxes of a lane that are on the screen to a painter. A box ends with its last sample.
 * @param {Lane} lane @param {Ancestors} ancestors @param {LaneView} view @param {LanePainter} painter
 */
export function walkLane(lane, ancestors, view, painter) {
  const { begin, end, track } = lane;
  const { time } = track;
  const { from, to, step } = view;
  const gap = longestGap(lane, step);
  const boxes = new OpenBoxes(ancestors, view, painter);
  let at = Math.max(begin, lowerBound(time, from, begin, end) - 1);
  while (at < end && time[at] < to) {
    const start = time[at];
    const edge = (Math.floor(start / step) + 1) * step;
    let next = at + 1;
    if (next < end && time[next] < edge) next = lowerBound(time, edge, next, end);
    if (start - boxes.end > gap) boxes.close(0);
    const shown = standsFor(track, at, next - 1, edge);
    boxes.open(track.node(shown), start, track.kind(shown));
    boxes.end = Math.max(start, Math.min(time[next - 1] + track.length(next - 1), next < end ? time[next] : Infinity));
    painter.sampled?.(start, boxes.end);
    at = next;
  }
  boxes.close(0);
}

/**
 * The samples of a lane in a range of time: how many there are, and how many have a frame in their stack.
 * @param {Lane} lane @param {Tree} tree @param {number} node @param {number} from @param {number} to
 */
export function countIn({ begin, end, track }, tree, node, from, to) {
  const first = lowerBound(track.time, from, begin, end);
  const behind = lowerBound(track.time, to, first, end);
  let having = 0;
  for (let at = first; at < behind; at++) if (tree.holds(node, track.node(at))) having++;
  return { all: behind - first, having };
}

/**
 * The waits of a lane in a range of time with a frame in their stack: how many they are, how long in microseconds, and
 * the node of the last one.
 * @param {Lane} lane @param {Tree} tree @param {number} node @param {number} from @param {number} to
 */
export function waitsOf({ begin, end, track }, tree, node, from, to) {
  const out = { count: 0, time: 0, last: -1 };
  for (let at = lowerBound(track.time, from, begin, end); at < end && track.time[at] < to; at++) {
    const inner = track.node(at);
    if (!track.kind(at) || !tree.holds(node, inner)) continue;
    out.count++;
    out.time += track.timeOf(at);
    out.last = inner;
  }
  return out;
}

/**
 * The time of each class of waits in each part of a range of time, as `CLASSES` values a part, in microseconds.
 * @param {Lane} lane @param {number[]} range @param {number} parts
 */
export function waitsIn({ begin, end, track }, [from, to], parts) {
  const out = new Float64Array(parts * CLASSES);
  const part = (to - from) / parts;
  const { time } = track;
  for (let at = Math.max(begin, lowerBound(time, from, begin, end) - 1); at < end && time[at] < to; at++) {
    const kind = track.kind(at);
    if (!kind) continue;
    const behind = Math.min(to, time[at] + track.length(at), at + 1 < end ? time[at + 1] : Infinity);
    const start = Math.max(from, time[at]);
    const last = Math.min(parts - 1, Math.floor((behind - from) / part));
    for (let i = Math.min(last, Math.floor((start - from) / part)); i <= last; i++) {
      const left = Math.max(start, from + i * part);
      const right = Math.min(behind, from + (i + 1) * part);
      if (right > left) out[i * CLASSES + kind] += right - left;
    }
  }
  return out;
}

/** How many events are waits. @param {Lane['track']} track @param {number} from @param {number} to */
function waitsAmong(track, from, to) {
  let waits = 0;
  for (let at = from; track.kinds && at < to; at++) if (track.kind(at)) waits++;
  return waits;
}

/**
 * How much of each part of a range of time a thread was sampled on a CPU, from 0 to 1.
 * @param {Lane} lane @param {number[]} range @param {number} parts
 */
export function busyShares({ begin, end, track }, [from, to], parts) {
  const out = new Float64Array(parts);
  const part = (to - from) / parts;
  let at = lowerBound(track.time, from, begin, end);
  for (let i = 0; i < parts && at < end; i++) {
    const next = lowerBound(track.time, from + (i + 1) * part, at, end);
    out[i] = Math.min(1, ((next - at - waitsAmong(track, at, next)) * track.period) / part);
    at = next;
  }
  return out;
}
