// SPDX-License-Identifier: GPL-3.0-or-later
// Where times and values lie on the axes of a chart, and what stands at their ticks. Times are in UTC, as in all outputs
// of a history, in milliseconds since 1970.

import { precise } from '../common/format.js';

/** @typedef {import('../data/history.js').Series} Series */

/** What an axis writes at a place. @typedef {{at: number, text: string}} Tick */

const MINUTE = 60e3;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Steps between ticks that are shorter than a month. */
const STEPS = [
  ...[1, 2, 5, 10, 30].map((n) => n * 1e3),
  ...[1, 2, 5, 10, 30].map((n) => n * MINUTE),
  ...[1, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14].map((n) => n * DAY),
];
const MONTH_STEPS = [1, 2, 3, 6];
/** Months are about as long as this. */
const MONTH = 30 * DAY;
/** A Monday, so that weeks begin with one. */
const MONDAY = Date.UTC(1970, 0, 5);

/** @param {number} time */
const two = (time) => String(time).padStart(2, '0');

/** Which parts of a time tell the profiles of a series apart. @param {(number|null)[]} times in their order */
export function precisionOf(times) {
  const known = /** @type {number[]} */ (times.filter((time) => time !== null));
  const minutes = known.map((time) => Math.floor(time / MINUTE));
  const years = known.map((time) => new Date(time).getUTCFullYear());
  return { hasYear: years.some((year) => year !== years[0]), hasSeconds: minutes.some((minute, i) => i > 0 && minute === minutes[i - 1]) };
}

/** A day: "18 Nov", "18 Nov 2026". @param {number} time @param {boolean} hasYear */
export function dayText(time, hasYear) {
  const date = new Date(time);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${hasYear ? ` ${date.getUTCFullYear()}` : ''}`;
}

/** A time: "18 Nov 14:02". @param {number} time @param {{hasYear: boolean, hasSeconds: boolean}} precision */
export function timeText(time, { hasYear, hasSeconds }) {
  const date = new Date(time);
  const clock = [date.getUTCHours(), date.getUTCMinutes(), ...(hasSeconds ? [date.getUTCSeconds()] : [])];
  return `${dayText(time, hasYear)} ${clock.map(two).join(':')}`;
}

/** The first tick at or after a time. @param {number} from @param {number} step */
const firstTick = (from, step) => MONDAY + Math.ceil((from - MONDAY) / step) * step;

/** Ticks at beginnings of months. @param {number} from @param {number} to @param {number} months between two ticks */
function monthTicks(from, to, months) {
  const out = [];
  const begin = new Date(from);
  for (let n = begin.getUTCFullYear() * 12 + begin.getUTCMonth(); ; n++) {
    const time = Date.UTC(Math.floor(n / 12), n % 12);
    if (time > to) return out;
    if (time < from || n % months) continue;
    const isYear = n % 12 === 0;
    out.push({ at: time, text: isYear ? String(Math.floor(n / 12)) : MONTHS[n % 12] });
  }
}

/**
 * The ticks of an axis of time.
 * @param {number} from @param {number} to @param {number} most how many have room @returns {Tick[]}
 */
export function timeTicks(from, to, most) {
  const least = (to - from) / Math.max(1, most);
  const step = STEPS.find((one) => one >= least);
  if (!step) {
    const months = MONTH_STEPS.find((n) => n * MONTH >= least) || 12 * Math.ceil(least / MONTH / 12);
    return monthTicks(from, to, months);
  }
  const out = [];
  for (let time = firstTick(from, step); time <= to; time += step) {
    const date = new Date(time);
    const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    const isDay = time % DAY === 0;
    out.push({ at: time, text: isDay ? dayText(time, false) : step < MINUTE ? `${clock}:${two(date.getUTCSeconds())}` : clock });
  }
  return out;
}

/** The least of 1, 2 and 5 times a power of ten that is not less than a value. @param {number} least */
export function niceStep(least) {
  const tenth = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * tenth).find((step) => step >= least * (1 - 1e-9)) || 10 * tenth;
}

/**
 * A value as an axis writes it, without zeros at its end.
 * @param {number} value @param {string} unit "%" or that of a metric
 */
export function axisText(value, unit) {
  if (value === 0) return '0';
  const text = unit === '%' ? `${value.toFixed(2)} %` : precise(value, unit);
  return text.replace(/\.0+(?= |$)|(\.\d*?[1-9])0+(?= |$)/, '$1');
}

/**
 * The ticks of an axis of values.
 * @param {number} from @param {number} to @param {number} most @param {string} unit @returns {Tick[]}
 */
export function valueTicks(from, to, most, unit) {
  if (!(to > from)) return [];
  const step = niceStep((to - from) / Math.max(1, most));
  const out = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-9); n++)
    out.push({ at: n * step, text: axisText(n * step, unit) });
  return out;
}

/** The times of a series by profile; null where they are not all known. @param {Series} series @returns {number[]|null} */
export function timesOf({ profiles }) {
  const times = profiles.map(([, time]) => time);
  const isWhole = times.length > 0 && times.every((time) => time !== null);
  return isWhole && times[times.length - 1] !== times[0] ? /** @type {number[]} */ (times) : null;
}

/** How much of an axis of time is left free at its ends. */
const MARGIN = 0.012;

/**
 * Where profiles lie on the axis, from 0 to 1, and where an axis of time begins and ends.
 * @param {Series} series @param {boolean} byTime
 */
export function placesOf(series, byTime) {
  const times = byTime ? timesOf(series) : null;
  const { length } = series.profiles;
  if (!times) return { places: series.profiles.map((_, i) => (i + 0.5) / length), from: 0, to: 0 };
  const span = times[length - 1] - times[0];
  const from = times[0] - MARGIN * span;
  const to = times[length - 1] + MARGIN * span;
  return { places: times.map((time) => (time - from) / (to - from)), from, to };
}

/** Where a point lies: between two profiles. @param {number[]} places @param {number} at the first profile behind it */
export const pointPlace = (places, at) => ((places[at - 1] ?? 0) + (places[at] ?? 1)) / 2;
