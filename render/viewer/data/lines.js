// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of the blocks of lines to tables (`render/page_lines.c`): functions line by line, and the listed lines
// that samples go through. `report.js` alone calls this.

import { Columns } from './block.js';

/**
 * Where the text of a function on one side is from, in words, with what shows that it is the one that was built.
 * @typedef {object} LineText
 * @property {boolean} isThere @property {string} words
 * @property {string} file @property {number} first @property {number} last lines of the function; 0: not known
 * @property {boolean} isCut the page has no room for it
 */

/**
 * A function line by line: its rows are `first` and those after it, in the columns of the table.
 * @typedef {object} ListedFunction
 * @property {number} func @property {(LineText|null)[]} texts [base, head]
 * @property {number} first @property {number} count
 * @property {number} elsewhere how many of its last rows are lines of other files
 */

/** Bits of a row, above its state. */
const ROW_STATE = 7;
const ROW_IS_CHANGED = 8;
const ROW_IS_GAP = 16;

/** The rows of all listed functions, as columns. What has two sides is [base, head], with null for a side that is not there. */
export class LineTable {
  /** @param {Uint8Array} bytes @param {number} sides */
  constructor(bytes, sides) {
    const columns = new Columns(bytes);
    const both = (/** @type {() => any} */ read) => [sides === 2 ? read() : null, read()];
    const count = checked(columns.varint(), bytes);
    /** Whether samples have precise addresses, so that no time is a line too far. @type {boolean[]} */
    this.isPrecise = both(() => columns.raw(1)[0] === 1);
    let rows = 0;
    const read = Array.from({ length: count }, () => {
      const func = columns.varint();
      const texts = both(() => ({
        isThere: columns.raw(1)[0] === 1,
        words: columns.varint(),
        file: columns.varint(),
        first: columns.varint(),
        last: columns.varint(),
        isCut: columns.raw(1)[0] === 1,
      }));
      const own = { func, texts, first: rows, count: columns.varint(), elsewhere: columns.varint() };
      rows = checked(rows + own.count, bytes);
      return own;
    });
    /** How many rows there are. */ this.count = rows;
    /** @type {Int32Array[]} the number of each line; 0: the side has none */
    this.line = both(() => lineNumbers(columns, rows, read));
    const numbers = () => columns.numbers(new Int32Array(rows));
    /** @type {Int32Array[]} */ const texts = both(numbers);
    const files = numbers();
    this.flags = columns.raw(rows);
    const times = both(() => ({ self: columns.doubles(rows), inlined: columns.doubles(rows), total: columns.doubles(rows) }));
    /** Scaled times. @type {({self: Float64Array, inlined: Float64Array, total: Float64Array}|null)[]} */ this.times = times;
    this.low = sides === 2 ? columns.doubles(rows) : null;
    this.high = sides === 2 ? columns.doubles(rows) : null;
    columns.varint();
    const strings = ['', ...columns.text(columns.varint()).split('\0')];
    /** The text of a row on a side; undefined where it is empty, or not known. @param {number} side @param {number} row */
    this.textOf = (side, row) => strings[texts[side]?.[row]] ?? '';
    /** The file of a row that is in another one than its function. @param {number} row */
    this.fileOf = (row) => strings[files[row]] ?? '';
    const words = (/** @type {any} */ of) =>
      of && { ...of, words: strings[of.words], file: strings[of.file] };
    /** @type {ListedFunction[]} */
    this.functions = read.map((own) => ({ ...own, texts: own.texts.map(words) }));
    this.byFunction = new Map(this.functions.map((own) => [own.func, own]));
  }

  /** A function line by line; one that was renamed has its lines under its later name. @param {{id: number, movedTo: number}} func */
  of({ id, movedTo }) {
    return this.byFunction.get(id) || this.byFunction.get(movedTo);
  }

  /** The number of the verdict on a row. @param {number} row */
  stateOf(row) {
    return this.flags[row] & ROW_STATE;
  }

  /** Whether the texts of a row differ, or one side alone has it. @param {number} row */
  isChanged(row) {
    return (this.flags[row] & ROW_IS_CHANGED) !== 0;
  }

  /** Whether a row stands for lines that are left out. @param {number} row */
  isGap(row) {
    return (this.flags[row] & ROW_IS_GAP) !== 0;
  }
}

/** @param {number} count of entries that take a byte each at least @param {Uint8Array} bytes */
function checked(count, bytes) {
  if (count > bytes.length) throw new Error("the page's data is cut off");
  return count;
}

/**
 * Numbers of lines, which are stored as steps within each function.
 * @param {Columns} columns @param {number} rows @param {{count: number}[]} functions
 */
function lineNumbers(columns, rows, functions) {
  const out = columns.numbers(new Int32Array(rows));
  let row = 0;
  for (const { count } of functions)
    for (let last = 0, end = row + count; row < end; row++) {
      if (!out[row]) continue;
      const step = out[row] - 1;
      out[row] = last += (step >>> 1) ^ -(step & 1);
    }
  return out;
}

/**
 * The listed lines that the samples of one side go through. A chain is a line and the chain of its callers, with each
 * line once; 0 is the one without lines. A stop is where stacks end: a chain, the line that was executing, and the
 * lines that it was inlined at, itself with them.
 * @typedef {object} LineStacks
 * @property {Int32Array} parent of each chain @property {Int32Array} row of each chain; -1 of the first
 * @property {Int32Array} chain of each stop @property {Int32Array} self row of each stop; -1: it is not listed
 * @property {Int32Array} starts where the rows of each stop begin in `inlined`; then their number
 * @property {Int32Array} inlined
 * @property {ArrayLike<number>} stops of each sample, from 1; 0: it goes through no listed line
 */

/**
 * The lines that samples go through, [base, head]; null where they have no room in the page.
 * @param {Uint8Array} bytes @param {number} sides @param {number} rows @returns {(LineStacks|null)[]|null}
 */
export function decodeLineStacks(bytes, sides, rows) {
  const columns = new Columns(bytes);
  if (columns.raw(1)[0]) return null;
  const rowOf = (/** @type {number} */ row) => {
    if (row >= rows) throw new Error("the page's lines are not whole");
    return row;
  };
  const side = () => {
    const count = checked(columns.varint(), bytes) + 1;
    const parent = new Int32Array(count);
    const row = new Int32Array(count).fill(-1);
    for (let i = 1; i < count; i++) {
      parent[i] = i - 1 - columns.varint();
      if (parent[i] < 0) throw new Error("the page's lines are not whole");
      row[i] = rowOf(columns.varint());
    }
    const stopCount = checked(columns.varint(), bytes);
    const chain = new Int32Array(stopCount);
    const self = new Int32Array(stopCount);
    const starts = new Int32Array(stopCount + 1);
    /** @type {number[]} */ const inlined = [];
    for (let i = 0; i < stopCount; i++) {
      chain[i] = columns.varint();
      if (chain[i] >= count) throw new Error("the page's lines are not whole");
      self[i] = rowOf(columns.varint() - 1);
      for (let left = checked(columns.varint(), bytes); left > 0; left--) inlined.push(rowOf(columns.varint()));
      starts[i + 1] = inlined.length;
    }
    const stops = columns.fixed(checked(columns.varint(), bytes));
    for (let i = 0; i < stops.length; i++) if (stops[i] > stopCount) throw new Error("the page's lines are not whole");
    return { parent, row, chain, self, starts, inlined: Int32Array.from(inlined), stops };
  };
  return [sides === 2 ? side() : null, side()];
}
