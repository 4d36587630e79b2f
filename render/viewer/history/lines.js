// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a chart: the values of a function over time, and the levels that are known of it. A part of a line has a
// colour only behind a proven change, and only until that was gone again.

/** @typedef {import('../data/history.js').Change} Change */
/** @typedef {import('../data/history.js').Series} Series */

/** What a part of a line is coloured by. @typedef {'more'|'less'|''} State */

/**
 * A level: the mean of a segment, from the profile `from` up to but not including `to`.
 * @typedef {{from: number, to: number, level: number, end: number, state: State}} Level
 */

/**
 * A change where it is drawn.
 * @typedef {{at: number, before: number, after: number, low: number, high: number, state: State}} Jump
 */

/**
 * A line: of a function, or of the total.
 * @typedef {object} Line
 * @property {string} key names it in an address
 * @property {string} name
 * @property {string} whose which time of the function: "self" or "total"
 * @property {number|null} func null: the total
 * @property {boolean} isSelf
 * @property {Float64Array} values of functions in percent of the typical total, of the total in the unit
 * @property {Level[]} levels
 * @property {Jump[]} jumps proven changes
 */

/** What names the line of the total. */
export const WHOLE = 'total';
const SELF = 's';

/** The key of a line. @param {Series} series @param {number|null} func @param {boolean} isSelf */
export const keyOf = ({ functions }, func, isSelf) => (func === null ? WHOLE : functions[func].id + (isSelf ? SELF : ''));

/** What a key is of; undefined for a function that the series does not have. @param {Series} series @param {string} key */
export function keyed({ functions }, key) {
  if (key === WHOLE) return { func: null, isSelf: false };
  const isSelf = key.endsWith(SELF);
  const func = functions.findIndex(({ id }) => id === (isSelf ? key.slice(0, -SELF.length) : key));
  return func < 0 ? undefined : { func, isSelf };
}

/** The name of a function as people read it. @param {Series} series @param {number|null} func */
export const nameOf = ({ functions }, func) => (func === null ? '(total)' : functions[func].shown || '(no name)');

/** Which time of a function a line or a change is of. @param {number|null} func @param {boolean} isSelf */
export const whoseText = (func, isSelf) => (func === null ? '' : isSelf ? 'self' : 'total');

/** The fact that changed at a point; "deploy", or "" where none is known. @param {import('../data/history.js').Point} point */
export const factOf = ({ fact, isDeploy }) => fact || (isDeploy ? 'deploy' : '');

/** What a change is coloured by. @param {Change} change @returns {State} */
export const stateOf = ({ delta, hasMoved }) => (hasMoved || !delta ? '' : delta > 0 ? 'more' : 'less');

/**
 * The levels of a line from its changes.
 * @param {Series} series @param {Change[]} changes of the line
 * @returns {Level[]}
 */
function levelsOf({ points, profiles }, changes) {
  const sorted = [...changes].sort((a, b) => a.point - b.point);
  /** @type {Level[]} */ const out = [];
  const push = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ level, /** @type {State} */ state) =>
    to > from && Number.isFinite(level) && out.push({ from, to, level, end: level, state });
  if (sorted.length) push(0, points[sorted[0].point].at, sorted[0].before, '');
  sorted.forEach((change, i) => {
    const begin = points[change.point].at;
    const next = sorted[i + 1] ? points[sorted[i + 1].point].at : profiles.length;
    const went = change.went === null ? next : Math.min(next, points[change.went].at);
    push(begin, went, change.after, stateOf(change));
    push(went, next, sorted[i + 1]?.before ?? change.last, '');
  });
  return out;
}

/** A drift from its beginning to its end. @param {Series} series @param {number|null} func @returns {Level[]} */
function driftOf({ drifts, profiles }, func) {
  const drift = drifts.find((one) => one.function === func);
  return drift ? [{ from: 0, to: profiles.length, level: drift.first, end: drift.last, state: '' }] : [];
}

/** @param {Series} series @param {Change} change @returns {Jump} */
function jumpOf({ points }, change) {
  const { after, before, delta, high, low, point } = change;
  const [least, most] = [before + (low ?? delta), before + (high ?? delta)];
  return { at: points[point].at, before, after, low: least, high: most, state: stateOf(change) };
}

/** @param {Change} change */
const isDrawn = ({ after, before, hasMoved }) => !hasMoved && Number.isFinite(before) && Number.isFinite(after);

/** Makes a line. @param {Series} series @param {number|null} func @param {boolean} isSelf @returns {Line} */
export function lineOf(series, func, isSelf) {
  const changes = series.changes.filter((one) => one.function === func && (func === null || one.isSelf === isSelf));
  const levels = levelsOf(series, changes);
  return {
    key: keyOf(series, func, isSelf),
    name: nameOf(series, func),
    whose: whoseText(func, isSelf),
    func,
    isSelf,
    values: func === null ? series.whole : series.values[func][isSelf ? 'self' : 'total'],
    levels: levels.length || isSelf ? levels : driftOf(series, func),
    jumps: changes.filter(isDrawn).map((one) => jumpOf(series, one)),
  };
}

/** The names of lines: those of one function say which of its times they are. @param {Line[]} lines @returns {string[]} */
export const namesOf = (lines) =>
  lines.map((line) => {
    const isAlone = !lines.some((other) => other !== line && other.func === line.func);
    return isAlone ? line.name : `${line.name}, ${line.whose}`;
  });

/** What a profile of a line is coloured by. @param {Line} line @param {number} at */
export const stateAt = ({ levels }, at) => levels.find(({ from, to }) => at >= from && at < to)?.state || '';

/** So many lines are drawn without being asked for. */
const MOST_LINES = 8;
/** So many of a history in which nothing changed. */
const QUIET_LINES = 5;

/**
 * The lines that a chart begins with: of functions with changes that are no moved cost, open ones first; where there are
 * none, of the functions that cost most themselves.
 * @param {Series} series @returns {string[]} keys
 */
export function firstLines(series) {
  const changed = series.changes.filter((one) => one.function !== null && !one.hasMoved);
  const keys = new Set(changed.map((one) => keyOf(series, one.function, one.isSelf)));
  if (keys.size) return [...keys].slice(0, MOST_LINES);
  const last = series.profiles.length - 1;
  const size = (/** @type {number} */ func) => series.values[func].self[last] || 0;
  const order = series.functions.map((_, func) => func).sort((a, b) => size(b) - size(a));
  return order.slice(0, QUIET_LINES).map((func) => keyOf(series, func, true));
}
