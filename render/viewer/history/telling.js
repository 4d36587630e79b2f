// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of a profile: its name, time, labels, and the values of the lines that are shown.

import { h } from '../common/dom.js';
import { isolated, listName } from '../common/format.js';
import { factOf, nameOf, namesOf, stateAt } from './lines.js';
import { sinceText, valueText } from './rows.js';

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./plot.js').View} View */

/** So many lines and labels are told of; the rest is counted. */
const MOST = 8;
const MOST_NAMES = 3;

/** The value of a line as the chart has it. @param {View} view @param {Line} line @param {number} at */
function valueOf({ scale, series }, { func, values }, at) {
  const isPer = series.isPer && scale === 'value';
  return valueText({ ...series, isPer }, func, values[at]);
}

/** Names in a sentence: "main, parse, sort and 3 more". @param {string[]} names */
function listed(names) {
  const rest = names.length - MOST_NAMES;
  if (rest > 0) return `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more`;
  return [names.slice(0, -1).join(', '), names[names.length - 1]].filter(Boolean).join(' and ');
}

/** What a point is, in words, and which functions change there. @param {View} view @param {number} point */
function pointText({ series }, point) {
  const { part } = series.points[point];
  const changes = series.changes.filter(({ hasMoved }) => !hasMoved);
  const names = (/** @type {typeof changes} */ list) =>
    listed([...new Set(list.map((one) => isolated(listName(nameOf(series, one.function)))))]);
  const begun = changes.filter((one) => one.point === point);
  const gone = changes.filter((one) => one.went === point);
  const what = factOf(series.points[point]) || 'no cause is known';
  const parts = [begun.length > 0 && `changed: ${names(begun)}`, gone.length > 0 && `gone again: ${names(gone)}`];
  const sentence = parts.filter(Boolean).join('; ') || 'no change is proven';
  return `${what}; ${sentence}.${part === null ? '' : ' A click or Enter opens the diff.'}`;
}

/**
 * The content of the tooltip.
 * @param {View} view @param {Line[]} lines @param {number} at @param {number} point -1: of none @param {string} hot
 */
export function told(view, lines, at, point, hot) {
  const { series } = view;
  const [name, time, , isTimeOfFile, , , , labels] = series.profiles[at];
  const when = `${sinceText(series, at)}${time === null ? '' : ` UTC${isTimeOfFile ? ', when the file was changed' : ''}`}`;
  const first = lines.filter(({ key }) => key === hot);
  const shown = [...first, ...lines.filter(({ key }) => key !== hot)].slice(0, MOST);
  const names = namesOf(shown);
  const rows = shown.map((line, i) => {
    const state = stateAt(line, at);
    const cell = h(`td${state && `.s-${state}`}`, {}, valueOf(view, line, at));
    return h(line.key === hot ? 'tr.hot' : 'tr', {}, h('th', { scope: 'row' }, h('bdi', {}, listName(names[i]))), cell);
  });
  const rest = lines.length - shown.length;
  const pairs = Object.entries(labels);
  const told = pairs.slice(0, MOST).map(([key, value]) => `${key} ${value}`);
  return [
    h('p.name', {}, when),
    h('p.dim', {}, h('bdi', {}, name)),
    ...(told.length ? [h('p.dim', {}, h('bdi', {}, told.join(' · ')))] : []),
    h('table', {}, h('tbody', {}, ...rows)),
    ...(rest > 0 ? [h('p.dim', {}, `and ${rest} more`)] : []),
    ...(point >= 0 ? [h('p.at-point', {}, pointText(view, point))] : []),
  ];
}

/** The same for a screen reader. @param {View} view @param {Line[]} lines @param {number} at */
export function spoken(view, lines, at) {
  const { series } = view;
  const point = series.points.findIndex((one) => one.at === at);
  const names = namesOf(lines);
  const values = lines.slice(0, MOST).map((line, i) => `${names[i]} ${valueOf(view, line, at)}`);
  const parts = [sinceText(series, at), series.profiles[at][0], ...values, point >= 0 && pointText(view, point)];
  return parts.filter(Boolean).join(', ');
}
