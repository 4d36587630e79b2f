// SPDX-License-Identifier: GPL-3.0-or-later
// Processes as the first row of the call tree. A row is a function that the report does not have, and is added to its
// functions when rows are asked for.

import { grouped, linkTree, statesUnder, Tree } from '../data/tree.js';

/** @typedef {import('../data/decode.js').Samples} Samples */
/** @typedef {import('../data/report.js').Recording} Recording */
/** @typedef {import('../data/report.js').Thread} Thread */
/** @typedef {import('../data/symbols.js').Func} Func */

/** No tree with rows of processes has more nodes: each process has its own nodes of the stacks that it shares. */
const MOST_NODES = 1 << 22;
/** No frame of a tree is deeper. */
const DEEPEST = 65535;

/** The name of a process; several with one name are one. @param {Thread} thread */
export const processOf = ([, pid, , process]) => process || (pid ? `process ${pid}` : '');

/** The names of the processes of recordings, in order. @param {Recording[]} recordings */
export function processNames(recordings) {
  const names = new Set();
  for (const { threads } of recordings) for (const thread of threads) names.add(processOf(thread));
  return [...names].filter(Boolean).sort();
}

/** A row of a process: what a tree and its views ask of a function. */
class ProcessRow {
  /** @param {string} name @param {number} id @param {number} rank its place among the rows */
  constructor(name, id, rank) {
    this.id = id;
    this.name = name;
    this.key = `process\0${name}`;
    this.rank = rank;
    this.fullName = name;
    this.module = this.place = this.file = '';
    this.line = this.rule = this.source = this.code = this.languages = this.origin = 0;
    this.self = this.total = undefined;
    this.movedTo = -1;
    this.isProcess = true;
  }
}

/** Adds rows of processes to the functions of a report. @param {Func[]} functions @param {string[]} names */
export function addProcessRows(functions, names) {
  names.forEach((name, rank) =>
    functions.push(/** @type {Func} */ (/** @type {unknown} */ (new ProcessRow(name, functions.length, rank)))),
  );
}

/**
 * The samples of one side by process: those of no process last.
 * @param {Samples} samples @param {Thread[]} threads @param {string[]} names
 */
function byProcess({ count, thread }, threads, names) {
  const places = new Map(names.map((name, i) => [name, i]));
  const processes = threads.map((one) => places.get(processOf(one)) ?? names.length);
  const bySample = Int32Array.from(thread, (one) => processes[one] ?? names.length);
  return grouped(bySample, names.length + 1, count);
}

/**
 * What a split is made from.
 * @typedef {object} Split
 * @property {Tree} tree
 * @property {(Samples|null)[]} samples [base, head]
 * @property {(Float64Array|null)[]} values [base, head]: what each sample counts for
 * @property {Thread[][]} threads [base, head]
 * @property {string[]} names of the processes
 * @property {number} first the number of the function of the first row
 * @property {number} [most] nodes
 */

/**
 * The nodes that a process has samples in or below, in preorder.
 * @param {Tree} tree @param {Int32Array[]} nodes those of its samples, by side
 * @param {Int32Array} seen by node: the number of the last process that has it @param {number} mark
 */
function nodesOf({ parent }, nodes, seen, mark) {
  const out = [];
  for (const list of nodes)
    for (let at of list)
      for (; at > 0 && seen[at] !== mark; at = parent[at]) {
        seen[at] = mark;
        out.push(at);
      }
  return Int32Array.from(out).sort();
}

/**
 * The call tree with a row of each process between the root and its stacks; null where it would be too large. Samples
 * of no process stay right below the root, and a process without samples has no row. A frame keeps its verdict where
 * one process alone has it.
 * @param {Split} split @returns {Tree|null}
 */
export function splitTree({ tree, samples, values, threads, names, first, most = MOST_NODES }) {
  if (tree.depth.some((level) => level >= DEEPEST)) return null;
  const parts = samples.map((one, side) => one && byProcess(one, threads[side], names));
  const seen = new Int32Array(tree.count).fill(-1);
  const isRow = (/** @type {number} */ p, /** @type {Int32Array} */ nodes) => p < names.length && nodes.length > 0;
  /** @type {Int32Array[]} */ const lists = [];
  let count = 1;
  for (let p = 0; p <= names.length; p++) {
    const nodes = parts.map((part, side) => {
      if (!part) return new Int32Array(0);
      const own = part.members.subarray(part.starts[p], part.starts[p + 1]);
      const counted = own.filter((i) => /** @type {Float64Array} */ (values[side])[i] !== 0);
      return counted.map((i) => /** @type {Samples} */ (samples[side]).node[i]);
    });
    lists.push(nodesOf(tree, nodes, seen, p));
    count += lists[p].length + (isRow(p, lists[p]) ? 1 : 0);
    if (count > most) return null;
  }
  const out = new Tree(count);
  const to = new Int32Array(tree.count);
  const from = new Int32Array(count);
  let at = 1;
  lists.forEach((nodes, p) => {
    const row = isRow(p, nodes);
    if (row) {
      out.func[at] = first + p;
      out.depth[at] = 1;
      from[at] = -1;
      to[0] = at++;
    } else to[0] = 0;
    for (const node of nodes) {
      out.func[at] = tree.func[node];
      out.depth[at] = tree.depth[node] + (row ? 1 : 0);
      out.flags[at] = tree.flags[node];
      from[at] = node;
      to[node] = at++;
    }
    parts.forEach((part, side) => {
      if (!part) return;
      const { node } = /** @type {Samples} */ (samples[side]);
      const value = /** @type {Float64Array} */ (values[side]);
      for (let k = part.starts[p]; k < part.starts[p + 1]; k++) {
        const i = part.members[k];
        if (value[i]) out.self[side][to[node[i]]] += value[i];
      }
    });
  });
  linkTree(out);
  out.state = statesUnder(tree, out, from);
  out.state[0] = tree.state[0];
  out.from = from;
  return out;
}
