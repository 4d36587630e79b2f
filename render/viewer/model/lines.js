// SPDX-License-Identifier: GPL-3.0-or-later
// Functions line by line: which of their lines are shown, what time each has under the filters, which are hot and which
// are proven to have changed. Nothing here touches the browser.

import { PROVEN } from '../data/symbols.js';
import { UNTESTED } from '../data/codes.js';
import { sameValue } from '../data/tree.js';
import { sumRows } from './throughlines.js';

/** @typedef {import('../data/lines.js').LineTable} LineTable */
/** @typedef {import('../data/lines.js').ListedFunction} ListedFunction */
/** @typedef {import('./throughlines.js').RowTimes} RowTimes */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */

/**
 * What stands in a line of the pane: a row, lines without time that are folded, lines that the page does not have, or
 * the name of another file. Where texts differ and there is one column, a row is of one side.
 * @typedef {object} Item
 * @property {'row'|'fold'|'gap'|'file'} kind
 * @property {number} row @property {number} count of rows that are folded @property {number} [side]
 */

/** So many lines without time stand beside others. */
const CONTEXT = 3;
/** Fewer are not folded: the line that says so takes one. */
const LEAST_FOLDED = 4;
/** A line is hot from this part of the hottest line's time on. */
const HOT = 0.05;

/** Whether the times of lines depend on samples in a state. @param {Model} model @param {State} state */
const needsSums = ({ narrowing }, state) => narrowing.isPart(state) || !narrowing.isTested(state);

/** Whether a state cannot be shown without the lines that samples go through. @param {Model} model @param {State} state */
export const needsLineStacks = (model, state) =>
  model.narrowing.needsLines(state) || (!!state.source && !!model.meta.hasLines && needsSums(model, state));

/** The times of all rows, by model and by what was shown. @type {WeakMap<Model, {sources: unknown[], times: (RowTimes|null)[]}>} */
const made = new WeakMap();

/**
 * The scaled times [base, head] of all rows under the filters. A filter by a line is not one of them: it would leave no
 * time to the lines beside it, of which one chooses the next.
 * @param {Model} model @param {State} state @returns {(RowTimes|null)[]}
 */
export function rowTimes(model, state) {
  const { lines, lineStacks, samples } = model.tables;
  if (!lines) return [null, null];
  const filters = withoutLines(state.filters);
  const beside = { ...state, filters };
  if (!needsSums(model, beside) || !lineStacks) return lines.times;
  const sources = [filters, state.range, state.thread, state.metric, samples, model.tables.timelines];
  const known = made.get(model);
  if (known?.sources.every((source, i) => source === sources[i])) return known.times;
  const values = model.narrowing.valuesIn(beside);
  model.narrowing.meantBy(state);
  const times = lineStacks.map((stacks, side) => {
    const of = values[side];
    return stacks && of && sumRows(stacks, of, lines.count, side ? model.factor : 1);
  });
  made.set(model, { sources, times });
  return times;
}

/** A text of filters without those by a line. @param {string} text */
const withoutLines = (text) =>
  text
    .split('.')
    .filter((part) => part[0] !== 'n')
    .join('.');

// ---- One function ----

/** A function line by line, with the times that are shown. */
export class Lines {
  /** @param {Model} model @param {State} state @param {ListedFunction} listed */
  constructor(model, state, listed) {
    const { lines } = model.tables;
    this.lines = /** @type {LineTable} */ (lines);
    this.listed = listed;
    this.times = rowTimes(model, state);
    this.own = state.inlined === 'call' ? 'inlined' : 'self';
    this.sides = model.sides;
    this.isTested = model.shownMetric.tested && model.sides === 2;
    const { count, first } = listed;
    /** The numbers of its rows. */ this.rows = Array.from({ length: count }, (_, i) => first + i);
    /** The greatest total of a row, on which all bars are. */ this.most = 0;
    for (const side of this.times)
      for (let row = first; side && row < first + count; row++) if (side.total[row] > this.most) this.most = side.total[row];
    /** What makes each of them hot, from the first on. */ this.heats = this.#heats();
    /** The hot rows, the hottest first. */ this.hot = this.#hotRows();
    /** The rows that are proven to have changed, the largest change first. */ this.proven = this.#provenRows();
  }

  /** Whether a side has any of its lines. @param {number} side */
  hasSide(side) {
    return this.rows.some((row) => (this.lines.line[side]?.[row] || 0) > 0);
  }

  /** Scaled [base, head] of a row. @param {'own'|'self'|'inlined'|'total'} part @param {number} row @returns {number[]} */
  pair(part, row) {
    const name = part === 'own' ? /** @type {'self'|'inlined'} */ (this.own) : part;
    return this.times.map((side) => side?.[name][row] || 0);
  }

  /** The number of the verdict on a row: where other times are shown than those that were tested, there is none. @param {number} row */
  stateOf(row) {
    const { lines, times } = this;
    if (!this.isTested) return 0;
    const state = lines.stateOf(row);
    if (times === lines.times) return state;
    const isWhole = times.every((side, i) => side === lines.times[i] || sameValue(side?.total[row] || 0, lines.times[i]?.total[row] || 0));
    return isWhole ? state : UNTESTED;
  }

  /** @param {number} row */
  isProven(row) {
    return PROVEN.has(this.stateOf(row));
  }

  /** The own time of rows on the side that has more of it, or where no row has some, their totals. */
  #heats() {
    const { first, count } = this.listed;
    const greatest = (/** @type {'self'|'inlined'|'total'} */ part) => {
      const out = new Float64Array(count);
      for (const side of this.times)
        for (let i = 0; side && i < count; i++) if (side[part][first + i] > out[i]) out[i] = side[part][first + i];
      return out;
    };
    const own = greatest(/** @type {'self'|'inlined'} */ (this.own));
    return own.some((time) => time > 0) ? own : greatest('total');
  }

  /** How hot a row is: a part of the hottest. @param {number} row */
  heat(row) {
    return this.hot.length ? this.heats[row - this.listed.first] / this.heats[this.hot[0] - this.listed.first] : 0;
  }

  #hotRows() {
    const { heats, listed, rows } = this;
    const most = heats.reduce((a, b) => Math.max(a, b), 0);
    const value = (/** @type {number} */ row) => heats[row - listed.first];
    return most ? rows.filter((row) => value(row) >= HOT * most).sort((a, b) => value(b) - value(a) || a - b) : [];
  }

  #provenRows() {
    const change = (/** @type {number} */ row) => {
      const [base, head] = this.pair('total', row);
      return Math.abs(head - base);
    };
    return this.rows.filter((row) => this.isProven(row)).sort((a, b) => change(b) - change(a) || a - b);
  }

  /** Whether nothing is to be told of a row: it has no time, and did not change. @param {number} row */
  #isQuiet(row) {
    const { lines } = this;
    return !lines.isChanged(row) && !lines.fileOf(row) && !lines.times.some((side) => (side?.total[row] || 0) > 0);
  }

  /**
   * What stands in the pane. Rows far from those with time or a change are folded, unless somebody has opened them.
   * @param {boolean} isUnified base and head have one column @param {Set<number>} open the first rows of what is not folded
   * @returns {Item[]}
   */
  items(isUnified, open) {
    const { first, count } = this.listed;
    const near = this.#nearTelling();
    /** @type {Item[]} */ const out = [];
    let file = '';
    for (let row = first; row < first + count;) {
      let end = row;
      while (end < first + count && !near[end - first]) end++;
      if (end - row >= LEAST_FOLDED && !open.has(row)) out.push({ kind: 'fold', row, count: end - row });
      else for (let at = row; at < end; at++) out.push({ kind: 'row', row: at, count: 1 });
      for (row = end; row < first + count && near[row - first]; row++) {
        const of = this.lines.fileOf(row);
        if (of !== file) out.push({ kind: 'file', row, count: 1 });
        file = of;
        out.push({ kind: this.lines.isGap(row) ? 'gap' : 'row', row, count: 1 });
      }
    }
    return isUnified && this.sides === 2 ? this.#unified(out) : out;
  }

  /** Which rows are not far from one that tells something, as 1 by row of the function. */
  #nearTelling() {
    const { first, count } = this.listed;
    const near = new Uint8Array(count);
    // The first line says which function it is.
    for (let i = 0; i < count; i++)
      if (i === 0 || this.lines.isGap(first + i) || !this.#isQuiet(first + i)) near.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
    return near;
  }

  /** One column: of lines that changed, those of base come first, then those of head. @param {Item[]} items @returns {Item[]} */
  #unified(items) {
    const { lines } = this;
    /** @type {Item[]} */ const out = [];
    for (let i = 0; i < items.length;) {
      let end = i;
      while (end < items.length && items[end].kind === 'row' && lines.isChanged(items[end].row)) end++;
      for (const side of [0, 1])
        for (const item of items.slice(i, end)) if (lines.line[side][item.row]) out.push({ ...item, side });
      if (end < items.length && end === i) out.push(items[end++]);
      i = end;
    }
    return out;
  }
}
