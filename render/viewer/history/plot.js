// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a chart: axes, points, and lines with their levels. It is drawn for a size in pixels.

import { svg } from '../common/dom.js';
import { Labels } from '../drawing/labels.js';
import { factOf, namesOf, stateAt } from './lines.js';
import { placesOf, pointPlace, timesOf, timeTicks, valueTicks } from './scales.js';

/** @typedef {import('../data/history.js').Series} Series */
/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./lines.js').State} State */
/** @typedef {import('./scales.js').Tick} Tick */

/**
 * What is drawn.
 * @typedef {object} View
 * @property {Series} series
 * @property {Line[]} lines of functions
 * @property {Line|null} whole the line of the total, where profiles' totals can be compared
 * @property {string} selected key of the line that is shown before the others; "": none
 * @property {boolean} fits whether the axis of values fits the selected line alone
 * @property {'time'|'index'} axis
 * @property {'value'|'percent'} scale
 */

const [FLAGS, STRIP, GAP, FOOT, LEFT] = [22, 50, 24, 22, 62];
/** The column of names has room from this width on, in pixels; and how wide it is. */
const NAMED_FROM = 760;
const NAMES = 190;
const NAME_HEIGHT = 15;
/** Dots that are closer than this are small, in pixels. */
const APART = 5;
/** Pixels between two ticks. */
const TICK_X = 90;
const TICK_Y = 34;
/** How much of the range of the total is shown beyond its ends, and how much of its mean at least. */
const LEAST_RANGE = 0.05;

const STATES = /** @type {State[]} */ (['', 'more', 'less']);
/** @param {number} value */
const px = (value) => value.toFixed(1);

/** What values are multiplied with, and their unit. @param {View} view */
export function unitOf({ scale, series: { isPer, typicalTotal, unit } }) {
  return isPer && scale === 'value' ? { factor: typicalTotal / 100, unit } : { factor: 1, unit: '%' };
}

/** The greatest value of a line, with the ends of its intervals. @param {Line} line */
function mostOf({ jumps, values }) {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  for (const { high, low } of jumps) most = Math.max(most, high, low);
  return most;
}

/** The range of values of the total that is shown. @param {Line} line @returns {[number, number]} */
function rangeOf({ jumps, values }) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of [...values, ...jumps.flatMap(({ high, low }) => [high, low])]) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const middle = (least + most) / 2;
  const half = Math.max((most - least) / 2, middle * LEAST_RANGE) * 1.1;
  return [Math.max(0, middle - half), middle + half || 1];
}

/**
 * Where everything lies.
 * @typedef {object} Geometry
 * @property {number} width @property {number} height
 * @property {number} left @property {number} right
 * @property {number} top of the lines of functions @property {number} bottom
 * @property {number[]} xs of profiles
 * @property {number[]} points of points
 * @property {(value: number) => number} y of a function's value
 * @property {(value: number) => number} yWhole of the total's
 * @property {[number, number]} range of the total
 * @property {number} most the greatest value of functions that is shown, in percent
 */

/** @param {View} view @param {number} width @param {number} height @returns {Geometry} */
export function geometryOf(view, width, height) {
  const { fits, lines, selected, series, whole } = view;
  const left = LEFT;
  const right = Math.max(left + 40, width - (width >= NAMED_FROM ? NAMES : 10));
  const top = FLAGS + (whole ? STRIP + GAP : GAP - 6);
  const bottom = Math.max(top + 40, height - FOOT);
  const { places } = placesOf(series, view.axis === 'time');
  const x = (/** @type {number} */ place) => left + place * (right - left);
  const fitted = lines.filter(({ key }) => fits && key === selected);
  const most = Math.max(...(fitted.length ? fitted : lines).map(mostOf), 0) * 1.05 || 1;
  const range = whole ? rangeOf(whole) : /** @type {[number, number]} */ ([0, 1]);
  const [low, high] = range;
  return {
    width,
    height,
    left,
    right,
    top,
    bottom,
    range,
    most,
    xs: places.map(x),
    points: series.points.map(({ at }) => x(pointPlace(places, at))),
    y: (value) => bottom - (value / most) * (bottom - top),
    yWhole: (value) => FLAGS + STRIP - ((value - low) / (high - low)) * (STRIP - 8),
  };
}

/** @param {number} x @param {number} y @param {string} text @param {string} [kind] */
function label(x, y, text, kind = 'tick') {
  const element = svg('text', { x: px(x), y: px(y), class: kind });
  element.textContent = text;
  return element;
}

/** @param {string} kind @param {string} d */
const path = (kind, d) => svg('path', { class: kind, d });

/** @param {string} kind @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
const rule = (kind, x1, y1, x2, y2) => path(kind, `M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}`);

/** @param {View} view @param {Geometry} g */
function axes(view, g) {
  const { series, whole } = view;
  const { factor, unit } = unitOf(view);
  const out = [];
  for (const { at, text } of valueTicks(0, g.most * factor, (g.bottom - g.top) / TICK_Y, unit)) {
    const y = g.y(at / factor);
    out.push(rule(at ? 'grid-line' : 'axis-line', g.left, y, g.right, y), label(g.left - 6, y + 4, text, 'tick value'));
  }
  out.push(label(g.left, g.top - 6, unit === '%' ? '% of the total' : series.measureText, 'axis-title'));
  if (whole) {
    for (const { at, text } of valueTicks(...g.range, 3, series.unit)) {
      const y = g.yWhole(at);
      out.push(rule('grid-line', g.left, y, g.right, y), label(g.left - 6, y + 4, text, 'tick value'));
    }
    out.push(rule('axis-line', g.left, FLAGS + STRIP, g.right, FLAGS + STRIP));
  }
  return [...out, ...xTicks(view, g)];
}

/** @param {View} view @param {Geometry} g */
function xTicks({ axis, series }, { bottom, left, right, xs }) {
  const { length } = series.profiles;
  const most = (right - left) / TICK_X;
  const { from, to } = placesOf(series, axis === 'time');
  const isTimed = axis === 'time' && timesOf(series);
  /** @type {Tick[]} */
  const ticks = isTimed
    ? timeTicks(from, to, most).map(({ at, text }) => ({ at: left + ((at - from) / (to - from)) * (right - left), text }))
    : valueTicks(1, length, most, 'count')
        .filter(({ at }) => Number.isInteger(at))
        .map(({ at, text }) => ({ at: xs[at - 1], text }));
  // A text that would leave the chart is left out; the next one is near.
  return ticks.flatMap(({ at, text }) => [
    rule('axis-line', at, bottom, at, bottom + 4),
    ...(at > left + 12 && at < right - 4 ? [label(at, bottom + 16, text, 'tick time')] : []),
  ]);
}

/**
 * The flags of points: the longest form of each fact that has room, of points with changes first.
 * @param {View} view @param {Geometry} g @param {Labels} labels
 */
function flags({ series }, g, labels) {
  const { changes, points } = series;
  const isChanged = points.map((_, i) => changes.some((one) => !one.hasMoved && (one.point === i || one.went === i)));
  const order = points.map((_, i) => i).sort((a, b) => Number(isChanged[b]) - Number(isChanged[a]) || b - a);
  /** @type {[number, number][]} */ const taken = [];
  /** @type {Map<number, string>} */ const texts = new Map();
  for (const i of order) {
    const fact = factOf(points[i]);
    const begin = g.points[i] + 3;
    // The nearest flag to the right and all that reaches over this place decide how much room there is.
    if (taken.some(([from, to]) => from <= begin && begin < to + 6)) continue;
    const room = Math.min(g.width, ...taken.map(([from]) => from - 6).filter((from) => from > begin)) - begin;
    const text = labels.fit([fact, fact.replace(/^.* → /s, '')], room);
    if (!text) continue;
    taken.push([begin, begin + labels.width(text)]);
    texts.set(i, text);
  }
  return points.map(({ isDeploy }, i) => {
    const text = texts.get(i);
    const kind = `${isDeploy ? 'deploy' : 'found'} ${isChanged[i] ? 'changed' : ''}`;
    const line = rule('at', g.points[i], text ? 6 : FLAGS - 4, g.points[i], g.bottom);
    const flag = text ? [label(g.points[i] + 4, 14, text, 'flag')] : [];
    return svg('g', { class: `point ${kind}`, 'data-point': i }, line, ...flag);
  });
}

/** @param {number[]} xs @param {Float64Array} values @param {(value: number) => number} y */
function thread(xs, values, y) {
  let d = '';
  for (let i = 0; i < values.length; i++) d += `${i ? 'L' : 'M'}${px(xs[i])} ${px(y(values[i]))}`;
  return path('thread', d);
}

/**
 * Dots as pieces without a length, whose caps are round.
 * @param {Line} line @param {Geometry} g @param {(value: number) => number} y
 */
function dots(line, { xs }, y) {
  const paths = { '': '', more: '', less: '' };
  const { values } = line;
  for (let i = 0; i < values.length; i++) paths[stateAt(line, i)] += `M${px(xs[i])} ${px(y(values[i]))}h0`;
  const size = xs.length > 1 && (xs[xs.length - 1] - xs[0]) / (xs.length - 1) < APART ? 'small' : '';
  return STATES.filter((state) => paths[state]).map((state) => path(`dots ${size} ${state}`, paths[state]));
}

/** Where the level of a segment begins and ends. @param {Geometry} g @param {number} from @param {number} to */
function ends({ left, right, xs }, from, to) {
  const between = (/** @type {number} */ i) => (xs[i - 1] + xs[i]) / 2;
  return [from > 0 ? between(from) : left, to < xs.length ? between(to) : right];
}

/** @param {Line} line @param {Geometry} g @param {(value: number) => number} y */
function levels({ jumps, levels: list }, g, y) {
  const flat = list.map(({ end, from, level, state, to }) => {
    const [begin, stop] = ends(g, from, to);
    return rule(`level ${state} ${end === level ? '' : 'drift'}`, begin, y(level), stop, y(end));
  });
  const risers = jumps.map(({ after, at, before, high, low, state }) => {
    const [x] = ends(g, at, at);
    const bar = `M${px(x - 4)} ${px(y(low))}h8M${px(x)} ${px(y(low))}V${px(y(high))}M${px(x - 4)} ${px(y(high))}h8`;
    return svg('g', {}, rule(`level ${state}`, x, y(before), x, y(after)), path(`whisker ${state}`, bar));
  });
  return [...flat, ...risers];
}

/** @param {Line} line @param {Geometry} g */
function drawn(line, g) {
  const y = line.func === null ? g.yWhole : g.y;
  const kind = `line ${line.levels.length ? '' : 'plain'}`;
  const parts = [thread(g.xs, line.values, y), ...dots(line, g, y), ...levels(line, g, y)];
  return svg('g', { class: kind, 'data-key': line.key }, ...parts);
}

/** Whether names have a column of their own. @param {Geometry} g */
const hasNames = ({ right, width }) => right + NAMES <= width + 1;

/**
 * A name: beside the end of its line, or above it where there is no column of names.
 * @param {Geometry} g @param {Line} line @param {string} text @param {number} y of the end @param {number} at
 * @param {Labels} labels
 */
function nameOf(g, line, text, y, at, labels) {
  const state = line.levels.at(-1)?.state || '';
  const props = { class: `name ${state}`, 'data-key': line.key };
  if (!hasNames(g)) return svg('g', props, label(g.right - 2, at - 5, labels.fit(text, (g.right - g.left) / 2), 'inside'));
  const shown = label(g.right + 16, at + 4, labels.fit(text, NAMES - 34), '');
  if (line.func === null) return svg('g', props, shown);
  const from = Math.max(g.top, Math.min(g.bottom, y));
  return svg('g', props, rule('leader', g.right + 2, from, g.right + 12, at), shown);
}

/** The names of lines, none above another. @param {View} view @param {Geometry} g @param {Labels} labels */
function names({ lines, whole }, g, labels) {
  const texts = namesOf(lines);
  const ended = lines.map((line, i) => {
    const end = line.levels.at(-1)?.end ?? (line.values[line.values.length - 1] || 0);
    return { line, text: texts[i], y: g.y(end), at: 0 };
  });
  ended.sort((a, b) => a.y - b.y);
  let above = g.top - NAME_HEIGHT;
  for (const one of ended) above = one.at = Math.max(above + NAME_HEIGHT, Math.max(one.y, g.top));
  let below = g.bottom + NAME_HEIGHT / 2;
  for (const one of [...ended].reverse()) below = one.at = Math.min(below - NAME_HEIGHT, one.at);
  const out = ended
    .filter(({ at, y }) => at > g.top - NAME_HEIGHT && y > g.top - 1)
    .map(({ at, line, text, y }) => nameOf(g, line, text, y, at, labels));
  return whole ? [...out, nameOf(g, whole, whole.name, 0, FLAGS + (hasNames(g) ? STRIP / 2 : 13), labels)] : out;
}

/** Draws a chart. @param {View} view @param {Geometry} g @param {Labels} labels @returns {Element[]} */
export function plot(view, g, labels) {
  const { lines, selected, whole } = view;
  labels.fit('', 0);
  // Lines that do not fit the axis of the selected one are cut off at its top.
  const box = { x: 0, y: g.top - 4, width: g.width, height: g.bottom - g.top + 8 };
  const inner = svg('clipPath', { id: 'history-lines' }, svg('rect', box));
  const ordered = [...lines].sort((a, b) => Number(a.key === selected) - Number(b.key === selected));
  return [
    svg('defs', {}, inner),
    svg('g', { class: 'axes' }, ...axes(view, g)),
    svg('g', { class: 'points' }, ...flags(view, g, labels)),
    svg('g', { class: 'lines', 'clip-path': 'url(#history-lines)' }, ...ordered.map((line) => drawn(line, g))),
    ...(whole ? [svg('g', { class: 'lines' }, drawn(whole, g))] : []),
    svg('g', { class: 'names' }, ...names(view, g, labels)),
  ];
}
