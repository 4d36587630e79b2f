// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of a block to the tree, the samples and the timeline in it. `report.js` alone calls this.

import { Columns } from './block.js';
import { linkTree, Tree } from './tree.js';

/**
 * The number of entries that a block begins with. An entry takes at least a byte, so that a larger number is damage.
 * @param {Columns} columns @param {Uint8Array} bytes
 */
function countOf(columns, bytes) {
  const count = columns.varint();
  if (count > bytes.length) throw new Error("the page's data is cut off");
  return count;
}

/** @param {Uint8Array} bytes @param {number} sides @returns {Tree} */
export function decodeTree(bytes, sides) {
  const columns = new Columns(bytes);
  const count = countOf(columns, bytes);
  const tree = new Tree(count);
  tree.depth.set(columns.fixed(count));
  tree.func.set(columns.fixed(count));
  tree.func[0] = -1;
  tree.state = columns.raw(count);
  tree.flags = columns.raw(count);
  for (let side = 2 - sides; side < 2; side++) tree.self[side] = columns.multiples(count);
  tree.intervals = new Map();
  let node = 0;
  for (let left = columns.varint(); left > 0; left--) {
    node += columns.varint();
    tree.intervals.set(node, [columns.zigzag(), columns.zigzag()]);
  }
  linkTree(tree, 2 - sides);
  return tree;
}

/**
 * The samples of one side. A sample is a node and a thread, and may have been taken many times.
 * @typedef {object} Samples
 * @property {number} count
 * @property {Int32Array} node
 * @property {Int32Array} thread
 * @property {ArrayLike<number>} times how often it was taken
 * @property {ArrayLike<number>[]} values by metric
 */

/**
 * @param {Uint8Array} bytes @param {number} sides @param {{isCount: boolean}[]} metrics
 * @returns {(Samples|null)[]} [base, head]
 */
export function decodeSamples(bytes, sides, metrics) {
  const columns = new Columns(bytes);
  /** @type {(Samples|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = countOf(columns, bytes);
    const node = columns.steps(new Int32Array(count));
    const thread = columns.numbers(new Int32Array(count));
    const times = columns.numbers(new Int32Array(count));
    out[side] = { count, node, thread, times, values: metrics.map((m) => (m.isCount ? times : columns.values(count))) };
  }
  return out;
}

/**
 * The events of one side in order of time.
 * @typedef {object} Timeline
 * @property {number} count
 * @property {Float64Array} time in microseconds since the start of the run
 * @property {Int32Array} sample
 * @property {Map<number, number>} weight of the events that have one of their own: of CPU time, none has
 */

/** @param {Columns} columns @param {Uint8Array} bytes @returns {Map<number, number>} by event */
function decodeWeights(columns, bytes) {
  /** @type {Map<number, number>} */
  const weights = new Map();
  let event = 0;
  for (let left = countOf(columns, bytes); left > 0; left--) {
    event += columns.varint();
    weights.set(event++, columns.varint());
  }
  return weights;
}

/** @param {Uint8Array} bytes @param {number} sides @returns {(Timeline|null)[]} [base, head] */
export function decodeTimeline(bytes, sides) {
  const columns = new Columns(bytes);
  /** @type {(Timeline|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = countOf(columns, bytes);
    const time = columns.longSteps(count);
    const sample = columns.numbers(new Int32Array(count));
    out[side] = { count, time, sample, weight: decodeWeights(columns, bytes) };
  }
  return out;
}
