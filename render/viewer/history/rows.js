// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the list: changes that are open, that came and went, drifts, and cost that only moved, in words. The words
// are those of all outputs of a history (render/history_words.c).

import { change as changeOf, digits, moduleName, pasted, percent, precise } from '../common/format.js';
import { factOf, keyOf, nameOf, stateOf, whoseText } from './lines.js';
import { dayText, precisionOf, timeText } from './scales.js';

/** @typedef {import('../data/history.js').Change} Change */
/** @typedef {import('../data/history.js').Drift} Drift */
/** @typedef {import('../data/history.js').Point} Point */
/** @typedef {import('../data/history.js').Series} Series */

/** What a row tells of. @typedef {'open'|'went'|'drift'|'moved'} Kind */

/**
 * A row of the list.
 * @typedef {object} Row
 * @property {{id: number, name: string}} f its place in the order of reading, and the name of its function
 * @property {string} whose which time of the function: "self" or "total"
 * @property {Kind} kind
 * @property {string} line the key of its line
 * @property {string} state "more", "less", "new", "gone"; "" where nothing is coloured
 * @property {string} since
 * @property {number} at the first profile behind its point
 * @property {string} module
 * @property {string} values "18.6 → 40.4 µs"
 * @property {string} delta "+2.20", "+28.1 %"
 * @property {number} size of the change, in points of the total
 * @property {string} interval 95 % interval of the change
 * @property {string} evidence
 * @property {number} q
 * @property {string} code
 * @property {string} fact
 * @property {number|null} point
 * @property {Change|null} change
 */

/** @type {Record<Kind, string>} */
export const KINDS = { open: 'open', went: 'came and went', drift: 'drifts', moved: 'only moved' };

/** What a verdict says, for a tooltip. @type {Record<string, string>} */
export const VERDICTS = {
  more: 'proven: it costs more since then, and the last profiles still show it',
  less: 'proven: it costs less since then, and the last profiles still show it',
  new: 'proven: it was not there before, and costs that much since then',
  gone: 'proven: it was there before, and costs nothing since then',
  went: 'proven at the time, and gone again since',
  drift: 'it changes bit by bit, at no point',
  moved: 'other functions have lost what this one has gained, or gained what it has lost: no change',
};

/** @type {Record<string, string>} */
const CODES = {
  changed: 'the code of the function changed at this point',
  same: 'the code of the function is the same before and behind this point',
  new: 'the function was not there before',
  gone: 'the function is not there behind this point',
};
/** @param {string} code */
export const codeWords = (code) => CODES[code] || '';

/** @type {WeakMap<Series, ReturnType<typeof precisionOf>>} */
const precisions = new WeakMap();

/** Which parts of a time tell the profiles of a series apart; they are looked at once. @param {Series} series */
function precisionIn(series) {
  let precision = precisions.get(series);
  if (!precision) precisions.set(series, (precision = precisionOf(series.profiles.map((one) => one[1]))));
  return precision;
}

/** A profile's time in words, or its number. @param {Series} series @param {number} at */
export function sinceText(series, at) {
  const time = series.profiles[at]?.[1] ?? null;
  return time === null ? `profile ${at + 1}` : timeText(time, precisionIn(series));
}

/** The days between which something was. @param {Series} series @param {number} from @param {number} to */
function spanText(series, from, to) {
  const { profiles } = series;
  const [begin, end] = [profiles[from][1], profiles[to][1]];
  if (begin === null || end === null) return `profiles ${from + 1} – ${to + 1}`;
  const { hasYear } = precisionIn(series);
  const [first, last] = [begin, end].map((time) => dayText(time, hasYear));
  return first === last ? first : `${first} – ${last}`;
}

/** A value in the unit of the list. @param {Series} series @param {number|null} func @param {number|null} value */
export function valueText({ isPer, typicalTotal, unit }, func, value) {
  if (value === null) return '–';
  if (func === null) return precise(value, unit);
  return isPer ? precise((value / 100) * typicalTotal, unit) : percent(value, 100);
}

/**
 * Values in one unit, which is written once: "18.6 → 40.4 µs".
 * @param {Series} series @param {number|null} func @param {(number|null)[]} values
 */
function valuesText(series, func, values) {
  const texts = values.map((value) => valueText(series, func, value));
  const parts = texts.map((text) => text.split(' '));
  const isSame = (/** @type {number} */ i) => i + 1 < parts.length && parts[i][1] === parts[i + 1][1];
  return texts.map((text, i) => (isSame(i) ? parts[i][0] : text)).join(' → ');
}

/** @param {number} points */
const pointsOf = (points) => (Math.abs(points) < 0.005 ? '0' : `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(2)}`);

/** @param {Change} change */
function deltaText({ function: func, after, before, delta }) {
  return func === null ? changeOf(before, after) : pointsOf(delta);
}

/** @param {Change} change */
function intervalText({ function: func, after, before, high, low }) {
  if (low === null || high === null) return '';
  const number = (/** @type {number} */ value) => `${value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}`;
  if (func !== null) return `${number(low)} to ${number(high)}`;
  if (changeOf(before, after).endsWith('×')) return `${digits(1 + low / before)} to ${digits(1 + high / before)}×`;
  const part = (/** @type {number} */ value) => (value < 0 ? '−' : '') + percent(Math.abs(value), before);
  return `${part(low).replace(' %', '')} to ${part(high)}`;
}

/** @param {number|null} q */
const qText = (q) => (q === null ? '' : q < 1e-4 ? '<0.0001' : String(Number(q.toPrecision(1))));

/** @param {Change} change */
function evidenceText({ agree, of, q }) {
  return [of > 0 && `${agree} of ${of}`, q !== null && `q ${qText(q)}`].filter(Boolean).join(', ');
}

/** What a verdict is called. @param {Change} change */
function verdictOf(change) {
  if (change.hasMoved) return '';
  const state = stateOf(change);
  if (change.code === 'new' && state === 'more') return 'new';
  return change.code === 'gone' && state === 'less' ? 'gone' : state;
}

/** @param {Change} change @returns {Kind} */
const kindOf = ({ hasMoved, went }) => (hasMoved ? 'moved' : went === null ? 'open' : 'went');

/** @param {Series} series @param {number|null} func */
const moduleOf = ({ functions }, func) => (func === null ? '' : moduleName(functions[func].shownIn || functions[func].module));

/** @param {Series} series @param {Change} change @param {number} id @returns {Row} */
function changeRow(series, change, id) {
  const { function: func, delta, isSelf, point, went } = change;
  const { at } = series.points[point];
  const kind = kindOf(change);
  return {
    f: { id, name: nameOf(series, func) },
    whose: whoseText(func, isSelf),
    kind,
    line: keyOf(series, func, isSelf),
    state: kind === 'open' ? verdictOf(change) : '',
    since: went === null ? sinceText(series, at) : spanText(series, at, series.points[went].at),
    at,
    module: moduleOf(series, func),
    values: valuesText(series, func, [change.before, change.after, ...(kind === 'went' ? [change.last] : [])]),
    delta: deltaText(change),
    size: func === null ? (100 * delta) / series.typicalTotal : delta,
    interval: intervalText(change),
    evidence: evidenceText(change),
    q: change.q ?? 1,
    code: change.code === 'unknown' ? '' : change.code,
    fact: factOf(series.points[point]),
    point,
    change,
  };
}

/** @param {Series} series @param {Drift} drift @param {number} id @returns {Row} */
function driftRow(series, { function: func, first, last, q }, id) {
  return {
    f: { id, name: nameOf(series, func) },
    whose: whoseText(func, false),
    kind: 'drift',
    line: keyOf(series, func, false),
    state: '',
    since: '',
    at: -1,
    module: moduleOf(series, func),
    values: valuesText(series, func, [first, last]),
    delta: func === null ? changeOf(first, last) : pointsOf(last - first),
    size: func === null ? (100 * (last - first)) / series.typicalTotal : last - first,
    interval: '',
    evidence: q === null ? '' : `q ${qText(q)}`,
    q: q ?? 1,
    code: '',
    fact: '',
    point: null,
    change: null,
  };
}

const ORDER = Object.keys(KINDS);

/** The rows of a series in the order of reading. @param {Series} series @returns {Row[]} */
export function rowsOf(series) {
  const rows = [
    ...series.changes.map((change) => changeRow(series, change, 0)),
    ...series.drifts.map((drift) => driftRow(series, drift, 0)),
  ];
  rows.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  rows.forEach((row, id) => (row.f.id = id));
  return rows;
}

/**
 * The command that writes the diff of a point; "" where nothing is known to have changed.
 * @param {Series} series @param {number} point
 */
export function commandOf({ points, profiles }, point) {
  const { at, pair } = points[point];
  const time = profiles[at]?.[1] ?? null;
  const file = time === null ? 'change' : new Date(time).toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return pair ? pasted(`kelvin diff ${pair[0]} ${pair[1]} -o ${file}.html`) : '';
}

/** The points that can be opened, in order of time. @param {Series} series */
export const openPoints = ({ points }) => points.flatMap(({ part }, i) => (part === null ? [] : [i]));

