// SPDX-License-Identifier: GPL-3.0-or-later
// Processes as the first row of the call tree. A row is a function that the report does not have, and is added to its
// functions when rows are asked for.

import { MORE, NEW, PLACE, UNTESTED } from '../data/codes.js';
import { hasInterpreters, selfWithInterpreter } from './interpreter.js';
import { PROVEN, verdictOn } from '../data/symbols.js';
import { grouped, linkTree, sameValue, Tree } from '../data/tree.js';

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

/**
 * A row of processes: its name, and the name of its process on each side; '' where a side has none.
 * @typedef {{name: string, of: string[]}} Row
 */

/** No more processes of a side, those with the most time, are paired by what they run: it costs time for each pair. */
const MOST_PAIRED = 8;
/** The least part of the smaller process that runs what the other one does too. */
const LEAST_SHARED = 0.5;

/**
 * The processes of recordings as rows, in order: those of one name are one.
 * @param {Recording[]} recordings base and head, or head alone @returns {Row[]}
 */
export function processRows(recordings) {
  const sides = recordings.map(({ threads }) => new Set(threads.map(processOf)));
  const names = [...new Set(sides.flatMap((side) => [...side]))].filter(Boolean).sort();
  return names.map((name) => {
    const of = sides.map((side) => (side.has(name) ? name : ''));
    return { name, of: of.length === 1 ? ['', of[0]] : of };
  });
}

/**
 * The time of a process by the node that it was sampled in.
 * @typedef {{row: Row, nodes: Map<number, number>, time: number}} Ran
 */

/**
 * What the processes of some rows ran on one side, the busiest first.
 * @param {Row[]} rows @param {number} side @param {Samples} samples @param {ArrayLike<number>} values @param {Thread[]} threads
 * @returns {Ran[]}
 */
function ranOf(rows, side, { count, node, thread }, values, threads) {
  const all = rows.map((row) => ({ row, nodes: new Map(), time: 0 }));
  const places = new Map(rows.map(({ of }, i) => [of[side], i]));
  const byThread = threads.map((one) => places.get(processOf(one)) ?? -1);
  for (let i = 0; i < count; i++) {
    const one = all[byThread[thread[i]] ?? -1];
    if (!one) continue;
    one.nodes.set(node[i], (one.nodes.get(node[i]) || 0) + values[i]);
    one.time += values[i];
  }
  return all.sort((a, b) => b.time - a.time).slice(0, MOST_PAIRED);
}

/**
 * The time that two processes share: that of a stack counts as far down as the other process has been there too. It is
 * that of the smaller one.
 * @param {Tree} tree @param {Ran} one @param {Ran} other
 */
function sharedTime({ count, depth, parent }, one, other) {
  const [small, large] = one.time < other.time ? [one, other] : [other, one];
  const met = new Uint8Array(count);
  for (let at of large.nodes.keys()) for (; at > 0 && !met[at]; at = parent[at]) met[at] = 1;
  let shared = 0;
  for (const [node, time] of small.nodes) {
    let at = node;
    while (at > 0 && !met[at]) at = parent[at];
    if (at > 0) shared += (time * depth[at]) / depth[node];
  }
  return shared >= LEAST_SHARED * small.time ? shared : 0;
}

/**
 * Rows in which a process that only base has and one that only head has are one where they run the same: two builds of a
 * program in files of two names. Each is paired once, those that share the most first.
 * @param {Row[]} rows @param {Tree} tree @param {Samples[]} samples @param {number} metric @param {Thread[][]} threads
 * @returns {Row[]}
 */
export function pairedRows(rows, tree, samples, metric, threads) {
  const left = [0, 1].map((side) => rows.filter(({ of }) => of[side] && !of[1 - side]));
  if (!left[0].length || !left[1].length) return rows;
  const [base, head] = [0, 1].map((side) =>
    ranOf(left[side], side, samples[side], samples[side].values[metric], threads[side]),
  );
  const pairs = base.flatMap((a) => head.map((b) => ({ a: a.row, b: b.row, shared: sharedTime(tree, a, b) })));
  const taken = new Set();
  const joined = [];
  for (const { a, b, shared } of pairs.sort((p, q) => q.shared - p.shared)) {
    if (!shared || taken.has(a) || taken.has(b)) continue;
    taken.add(a).add(b);
    joined.push({ name: `${a.name} → ${b.name}`, of: [a.name, b.name] });
  }
  const byName = (/** @type {Row} */ p, /** @type {Row} */ q) => (p.name < q.name ? -1 : 1);
  return [...rows.filter((row) => !taken.has(row)), ...joined].sort(byName);
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

/** Adds rows of processes to the functions of a report. @param {Func[]} functions @param {Row[]} rows */
export function addProcessRows(functions, rows) {
  rows.forEach(({ name }, rank) =>
    functions.push(/** @type {Func} */ (/** @type {unknown} */ (new ProcessRow(name, functions.length, rank)))),
  );
}

/**
 * The samples of one side by process: those of no process last.
 * @param {Samples} samples @param {Thread[]} threads @param {string[]} names of the processes, by row
 */
function byProcess({ count, thread }, threads, names) {
  const places = new Map(names.map((name, i) => [name, i]));
  places.delete('');
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
 * @property {Row[]} rows of the processes
 * @property {Func[]} functions @property {number} factor multiplies the values of head
 * @property {boolean} isPart whether filters leave a part of the samples
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
 * of no process stay right below the root, and a process without samples has no row.
 * @param {Split} split @returns {Tree|null}
 */
export function splitTree(split) {
  const { tree, samples, values, threads, rows, first, most = MOST_NODES } = split;
  if (tree.depth.some((level) => level >= DEEPEST)) return null;
  const names = samples.map((_, side) => rows.map(({ of }) => of[side]));
  const parts = samples.map((one, side) => one && byProcess(one, threads[side], names[side]));
  const seen = new Int32Array(tree.count).fill(-1);
  const isRow = (/** @type {number} */ p, /** @type {Int32Array} */ nodes) => p < rows.length && nodes.length > 0;
  /** @type {Int32Array[]} */ const lists = [];
  let count = 1;
  for (let p = 0; p <= rows.length; p++) {
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
  out.from = from;
  divideVerdicts(split, out, from);
  return out;
}

/** Whether a difference has the direction of a proven verdict. @param {number} state @param {number} delta */
const hasDirection = (state, delta) => (state === MORE || state === NEW ? delta > 0 : delta < 0);

/**
 * Gives the frames of processes the verdicts of the frames that were tested, in which processes are not told apart. Where
 * several processes share a frame, what is proven of it is shown at those that have a part in it: whose own difference
 * has that direction. A row of a process that is the whole program has the verdict on that.
 * @param {Split} split @param {Tree} out @param {Int32Array} from the node of the tested tree, below 0 for a row
 */
function divideVerdicts({ tree, functions, factor, isPart }, out, from) {
  const self = hasInterpreters(functions) ? selfWithInterpreter(out, functions) : out.self;
  const deltaOf = (/** @type {Float64Array[]} */ of, /** @type {number} */ i) => of[1][i] * factor - of[0][i];
  out.state.set([tree.state[0]]);
  for (let i = 1; i < out.count; i++) {
    const node = Math.max(0, from[i]);
    const isWhole = [0, 1].every((side) => sameValue(tree.total[side][node], out.total[side][i]));
    const state = tree.state[node];
    if (isWhole) out.state[i] = state;
    else if (from[i] < 0 || isPart) out.state[i] = UNTESTED;
    else out.state[i] = PROVEN.has(state) && !hasDirection(state, deltaOf(out.total, i)) ? UNTESTED : state;
    if (isWhole || !(out.flags[i] & PLACE)) continue;
    const verdict = verdictOn(functions[tree.func[node]]);
    if (!verdict || !(deltaOf(verdict.own ? self : out.total, i) * verdict.e.delta > 0)) out.flags[i] &= ~PLACE;
  }
}
