// SPDX-License-Identifier: GPL-3.0-or-later
// One line of the source pane: its bars, its number and its text on each side, the difference, and its figures in words.

import { h } from '../common/dom.js';
import { count, interval, measureOf } from '../common/format.js';
import { STATES, UNTESTED } from '../data/codes.js';
import { figureOf } from '../model/figures.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/lines.js').Item} Item */
/** @typedef {import('../model/lines.js').Lines} Lines */
/** @typedef {import('../model/model.js').Model} Model */

/** How many columns there are: one of a report of one recording, one for base and head, or one for each. @typedef {'single'|'unified'|'two'} Columns */

/** Longer lines are cut off; the line that keys are about is shown whole. */
export const LONGEST = 400;
/** What a verdict on a line is marked with, beside its colour. @type {Record<string, string>} */
const MARKS = { more: '▲', less: '▼', new: '+', gone: '−' };
const CUT_HINT = 'the line is longer: it stands whole below, when it is selected';

/**
 * A text of foreign code as it can be shown: control characters, and marks that turn or hide letters, are replaced.
 * @param {string} text
 */
export const shownCode = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === '\t' ? c : '\ufffd'));

/** @param {string} text @returns {Child[]} */
function cutCode(text) {
  const shown = shownCode(text.slice(0, LONGEST));
  return text.length > LONGEST ? [shown, h('span.cut', { title: CUT_HINT }, '…')] : [shown];
}

/** The titles of the columns. @param {Model} model @param {Columns} columns @returns {Child[]} */
export function titles(model, columns) {
  const measure = measureOf(model.shownMetric);
  const hint = `${measure}: the line itself is solid, with all it calls an outline`;
  const side = (/** @type {string} */ name) => [
    h('span.figure.own', {}, 'self'),
    h('span.figure', { title: hint }, measure),
    h('span.number', {}, ''),
    h('span', {}, name),
  ];
  if (columns === 'single') return side('');
  const delta = h('span.delta', {}, 'Δ');
  return columns === 'unified' ? [delta, ...side('')] : [...side('base'), delta, ...side('head')];
}

/** The cells of a row. @param {Model} model @param {Lines} lines @param {Item} item @param {Columns} columns @returns {Child[]} */
export function rowCells(model, lines, { row, side }, columns) {
  if (columns === 'single') return sideCells(model, lines, row, 1, '');
  const isChanged = lines.lines.isChanged(row);
  const sign = (/** @type {number} */ of) => (isChanged ? (of ? '+' : '−') : '');
  if (columns === 'two') return [...sideCells(model, lines, row, 0, sign(0)), delta(model, lines, row), ...sideCells(model, lines, row, 1, sign(1))];
  // Of two lines of one row the second one has the difference.
  const hasOther = side === 0 && lines.lines.line[1][row] > 0;
  const first = hasOther ? h('span.delta', { role: 'gridcell' }) : delta(model, lines, row);
  return [first, ...sideCells(model, lines, row, side ?? 1, side === undefined ? '' : sign(side))];
}

/** The difference of a row, with the mark of what is proven. @param {Model} model @param {Lines} lines @param {number} row */
function delta(model, lines, row) {
  const figure = figureOf(model, lines.pair('total', row));
  const state = STATES[lines.stateOf(row)];
  const mark = MARKS[state] || '';
  const isEqual = !mark && figure.difference[0] === '±';
  const text = figure.isNothing || isEqual ? '' : `${figure.difference} ${mark}`.trim();
  const title = figure.isNothing ? '' : figureWords(model, lines, row);
  return h('span', { className: `delta s-${mark ? state : 'same'}`, role: 'gridcell', title }, text);
}

/**
 * The cells of a row on one side: its bars with its time, its number, and its text.
 * @param {Model} model @param {Lines} lines @param {number} row @param {number} side @param {string} sign of a text that changed
 */
function sideCells(model, lines, row, side, sign) {
  const number = lines.lines.line[side]?.[row] || 0;
  const [own, total] = [lines.pair('own', row), lines.pair('total', row)];
  const bars = h('span.figure', { role: 'gridcell' }, total[side] > 0 ? figureOf(model, total).amount(side) : '');
  if (total[side] > 0) {
    bars.classList.add('timed');
    bars.style.setProperty('--own', String(own[side] / lines.most));
    bars.style.setProperty('--total', String(total[side] / lines.most));
  }
  const self = h('span.figure.own', { role: 'gridcell' }, own[side] > 0 ? figureOf(model, own).amount(side) : '');
  const code = h('span.code', { role: 'gridcell' });
  if (number && sign) code.classList.add(side ? 'added' : 'removed');
  const moved = h('span.moved', {}, ...(number ? cutCode(lines.lines.textOf(side, row)) : []));
  code.append(h('span.sign', {}, number ? sign : ''), moved);
  return [self, bars, h('span.number', { role: 'gridcell' }, number ? String(number) : ''), code];
}

/** What stands in place of lines. @param {Lines} lines @param {Item} item @returns {Child} */
export function itemWords({ lines }, { kind, row, count: rows }) {
  if (kind === 'file') return h('bdi', {}, `in ${shownCode(lines.fileOf(row))}`);
  if (kind === 'fold') return `… ${count(rows)} lines without time`;
  const left = [1, 0].map((side) => {
    const [before = 0, after = 0] = [lines.line[side]?.[row - 1], lines.line[side]?.[row + 1]];
    return before && after > before ? after - before - 1 : 0;
  });
  const more = left[0] || left[1];
  return `… ${more ? `${count(more)} ` : ''}lines without time, which are not in this page`;
}

/** The figures of a row in words. @param {Model} model @param {Lines} lines @param {number} row */
export function figureWords(model, lines, row) {
  const own = figureOf(model, lines.pair('own', row));
  const total = figureOf(model, lines.pair('total', row));
  if (model.sides === 1) return `self ${own.withShare(1)}, with what it calls ${total.withShare(1)}`;
  const number = lines.stateOf(row);
  const [low = NaN, high = NaN] = [lines.lines.low?.[row], lines.lines.high?.[row]];
  const ends = number !== UNTESTED && !Number.isNaN(low) ? ` (95 % interval ${interval(low, high, model.unit)})` : '';
  const isPart = number === UNTESTED ? 'not tested under filters' : 'not proven';
  const state = lines.isProven(row) ? `proven: ${STATES[number]}` : isPart;
  const verdict = total.isNothing ? '' : `: ${total.difference}${ends}, ${state}`;
  return `self ${own.span}, with what it calls ${total.span}${verdict}`;
}
