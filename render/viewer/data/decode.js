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

/** What a block holds of each side, [base, head]. @template T @param {number} sides @param {() => T} decode */
const bySide = (sides, decode) => [sides === 2 ? decode() : null, decode()];

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
 * @property {ArrayLike<number>} thread
 * @property {ArrayLike<number>} times how often it was taken
 * @property {ArrayLike<number>[]} values by metric
 */

/**
 * @param {Uint8Array} bytes @param {number} sides @param {{isCount: boolean}[]} metrics
 * @returns {(Samples|null)[]} [base, head]
 */
export function decodeSamples(bytes, sides, metrics) {
  const columns = new Columns(bytes);
  return bySide(sides, () => {
    const count = countOf(columns, bytes);
    const node = columns.steps(new Int32Array(count));
    const thread = columns.fixed(count);
    const times = columns.fixed(count);
    return { count, node, thread, times, values: metrics.map((m) => (m.isCount ? times : columns.multiples(count))) };
  });
}

/**
 * The events of one side, those of each thread together and in order of time.
 * @typedef {object} Timeline
 * @property {number} count
 * @property {Int32Array} starts where the events of each thread begin; then the number of all events
 * @property {Float64Array} time in microseconds since the start of the run
 * @property {ArrayLike<number>} sample
 * @property {Map<number, number>} weight of the events that have one of their own: of CPU time, none has
 */

/** @param {Columns} columns @param {Uint8Array} bytes @param {number} count of all events */
function decodeStarts(columns, bytes, count) {
  const starts = new Int32Array(countOf(columns, bytes) + 1);
  columns.numbers(starts.subarray(1));
  for (let thread = 1; thread < starts.length; thread++) starts[thread] += starts[thread - 1];
  if (starts[starts.length - 1] !== count) throw new Error("the page's events are not whole");
  return starts;
}

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

/**
 * Waits of one side whose lock is known, or what ended them, the longest first.
 * @typedef {object} Releases
 * @property {{ordinal: number, name: string}[]} locks
 * @property {{func: number, name: string}[]} releasers functions that ended waits; -1 for one that the report lacks
 * @property {Int32Array} node of the report's call tree @property {Int32Array} lock -1 for none
 * @property {Int32Array} releaser -1 for none
 * @property {Float64Array} ns how long the waits were @property {number} rest that of all that are not listed
 */

/**
 * The locks, the functions that ended waits, and the waits that have one or both, of each side.
 * @param {Uint8Array} bytes @param {number} sides @returns {(Releases|null)[]} [base, head]
 */
export function decodeReleases(bytes, sides) {
  const columns = new Columns(bytes);
  return bySide(sides, () => {
    const ordinals = columns.numbers(new Int32Array(countOf(columns, bytes)));
    const funcs = columns.numbers(new Int32Array(countOf(columns, bytes)));
    const names = columns.text(columns.varint()).split('\0');
    const locks = [...ordinals].map((ordinal, i) => ({ ordinal, name: names[i] }));
    const releasers = [...funcs].map((func, i) => ({ func: func - 1, name: names[ordinals.length + i] }));
    const count = countOf(columns, bytes);
    const node = new Int32Array(count);
    const lock = new Int32Array(count);
    const releaser = new Int32Array(count);
    const ns = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      node[i] = columns.varint();
      lock[i] = columns.varint() - 1;
      releaser[i] = columns.varint() - 1;
      ns[i] = columns.varint();
    }
    return { locks, releasers, node, lock, releaser, ns, rest: columns.varint() };
  });
}

/**
 * What functions, or nodes of the report's tree, cost of their own.
 * @typedef {object} Costs
 * @property {number} count
 * @property {(Uint8Array|null)[]} classes [base, head]: numbers of `bottleneck.js`
 * @property {ArrayLike<number>[][]} parts [base, head], of each side the four parts of the cost, unscaled
 * @property {Uint8Array|null} change the class of the difference; null where there is one side
 */

/** @param {Columns} columns @param {Uint8Array} bytes @param {number} sides @returns {Costs} */
function decodeCosts(columns, bytes, sides) {
  const count = countOf(columns, bytes);
  /** @type {(Uint8Array|null)[]} */ const classes = [null, null];
  /** @type {ArrayLike<number>[][]} */ const parts = [[], []];
  for (let side = 2 - sides; side < 2; side++) {
    classes[side] = columns.raw(count);
    for (let part = 0; part < 4; part++) parts[side].push(columns.fixed(count));
  }
  return { count, classes, parts, change: sides === 2 ? columns.raw(count) : null };
}

/** What functions and nodes cost. @param {Uint8Array} bytes @param {number} sides */
export function decodeBottlenecks(bytes, sides) {
  const columns = new Columns(bytes);
  const functions = decodeCosts(columns, bytes, sides);
  return { functions, nodes: decodeCosts(columns, bytes, sides) };
}

/** @param {Uint8Array} bytes @param {number} sides @returns {(Timeline|null)[]} [base, head] */
export function decodeTimeline(bytes, sides) {
  const columns = new Columns(bytes);
  return bySide(sides, () => {
    const count = countOf(columns, bytes);
    const starts = decodeStarts(columns, bytes, count);
    const time = columns.longSteps(count);
    const sample = columns.fixed(count);
    return { count, starts, time, sample, weight: decodeWeights(columns, bytes) };
  });
}
