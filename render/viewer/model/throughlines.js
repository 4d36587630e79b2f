// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of functions as a filter knows them: their names in an address, the samples that go through one, and what these
// add up to by line. Nothing here touches the browser.

import { baseName } from '../common/format.js';
import { shortHash } from '../data/hash.js';

/** @typedef {import('../data/lines.js').LineStacks} LineStacks */
/** @typedef {import('../data/lines.js').LineTable} LineTable */
/** @typedef {import('../data/lines.js').ListedFunction} ListedFunction */
/** @typedef {import('../data/report.js').Tables} Tables */
/** @typedef {import('../data/symbols.js').Func} Func */

/** Times of rows on one side. @typedef {{self: ArrayLike<number>, inlined: ArrayLike<number>, total: ArrayLike<number>}} RowTimes */

// ---- Names of lines ----

/**
 * How an address calls a row: by the number that head has, else base, and by its file where that is another one.
 * @param {LineTable} lines @param {number} row
 */
export function lineName(lines, row) {
  const side = lines.line[1][row] ? 1 : 0;
  const file = lines.fileOf(row);
  return `${side ? 'h' : 'b'}${lines.line[side][row]}${file && `-${shortHash(file)}`}`;
}

/** The row of a function that has a name; -1: none. @param {LineTable} lines @param {ListedFunction} listed @param {string} name */
export function rowNamed(lines, listed, name) {
  const [, side = '', number = '', file = ''] = /^([bh])(\d+)(?:-(\w+))?$/.exec(name) || [];
  const column = lines.line[side === 'h' ? 1 : 0];
  if (!side || !column) return -1;
  for (let row = listed.first; row < listed.first + listed.count; row++)
    if (column[row] === Number(number) && (lines.fileOf(row) && shortHash(lines.fileOf(row))) === file) return row;
  return -1;
}

/**
 * The line of a hash in a filter: that of its function, and the line's name.
 * @param {Tables} tables @param {(hash: string) => Func|undefined} functionOf @param {string} hash
 */
export function lineOf({ lines, lineStacks }, functionOf, hash) {
  const at = hash.indexOf('-');
  const func = functionOf(hash.slice(0, at));
  const listed = func && lines?.of(func);
  if (!lines || !lineStacks || !listed) return undefined;
  const row = rowNamed(lines, listed, hash.slice(at + 1));
  return row < 0 ? undefined : { func, row, subject: lineWords(lines, row) };
}

/** A line as a sentence names it: 'line 42 → 43', 'line 7 of limits.h'. @param {LineTable} lines @param {number} row */
export function lineWords(lines, row) {
  const [base, head] = lines.line.map((column) => column?.[row] || 0);
  const number = base && head && base !== head ? `${base} → ${head}` : head || `${base} of base`;
  const file = lines.fileOf(row);
  return `line ${number}${file && ` of ${baseName(file)}`}`;
}

// ---- Times ----

/**
 * The samples [base, head] that go through a line, as 1 by sample.
 * @param {(LineStacks|null)[]} stacks @param {number} row
 */
export function samplesThrough(stacks, row) {
  const known = throughs.get(stacks) || new Map();
  if (!throughs.has(stacks)) throughs.set(stacks, known);
  if (!known.has(row)) known.set(row, stacks.map((side) => side && markThrough(side, row)));
  return /** @type {(Uint8Array|null)[]} */ (known.get(row));
}

/** What was found, so that it is the same for the same line. @type {WeakMap<object, Map<number, (Uint8Array|null)[]>>} */
const throughs = new WeakMap();

/** @param {LineStacks} stacks @param {number} wanted */
function markThrough({ chain, parent, row, stops }, wanted) {
  const has = new Uint8Array(parent.length);
  for (let i = 1; i < has.length; i++) has[i] = row[i] === wanted ? 1 : has[parent[i]];
  return Uint8Array.from(stops, (stop) => (stop ? has[chain[stop - 1]] : 0));
}

/**
 * Adds up what samples count for by row. A chain has each line once, so what is at it or further in is its total.
 * @param {LineStacks} stacks @param {ArrayLike<number>} values of the samples @param {number} rows @param {number} factor
 * @returns {RowTimes}
 */
export function sumRows({ chain, inlined, parent, row, self, starts, stops }, values, rows, factor) {
  const sums = new Float64Array(parent.length);
  const times = { self: new Float64Array(rows), inlined: new Float64Array(rows), total: new Float64Array(rows) };
  const atStops = new Float64Array(chain.length);
  for (let i = 0; i < stops.length; i++) if (stops[i]) atStops[stops[i] - 1] += values[i] * factor;
  for (let stop = 0; stop < chain.length; stop++) {
    const value = atStops[stop];
    if (!value) continue;
    sums[chain[stop]] += value;
    if (self[stop] >= 0) times.self[self[stop]] += value;
    for (let i = starts[stop]; i < starts[stop + 1]; i++) times.inlined[inlined[i]] += value;
  }
  for (let i = parent.length - 1; i > 0; i--) {
    times.total[row[i]] += sums[i];
    sums[parent[i]] += sums[i];
  }
  return times;
}
