// SPDX-License-Identifier: GPL-3.0-or-later
// Times as people write them, and where an axis of time has its ticks. Times are in microseconds.

const MS = 1e3;
const SECOND = 1e6;
const MINUTE = 60 * SECOND;
/** Steps between ticks that are longer than those of 1, 2 and 5 times a power of ten. */
const LONG_STEPS = [10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400].map((s) => s * SECOND);
/** From this time on an axis whose steps are whole seconds counts minutes. */
const MINUTES_FROM = 2 * MINUTE;

/** The shortest usual step that is not shorter than a time. @param {number} least */
function stepOf(least) {
  const tenth = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const short = [1, 2, 5, 10].map((n) => n * tenth).find((step) => step >= least) || least;
  if (short < 10 * SECOND) return short;
  return LONG_STEPS.find((step) => step >= least) || Math.ceil(least / LONG_STEPS[13]) * LONG_STEPS[13];
}

/** A time in minutes and seconds. @param {number} time */
function minutesText(time) {
  const minutes = Math.floor(time / MINUTE);
  const seconds = Math.round((time - minutes * MINUTE) / SECOND);
  if (!minutes) return `${seconds} s`;
  return seconds ? `${minutes} min ${seconds} s` : `${minutes} min`;
}

/**
 * A time as an axis writes it: all ticks in one unit, with as many decimals as their step needs.
 * @param {number} time @param {number} step between ticks @param {number} latest the end of the axis
 */
function tickText(time, step, latest) {
  if (latest >= MINUTES_FROM && step >= SECOND) return minutesText(time);
  const unit = latest >= SECOND ? SECOND : MS;
  const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(time / unit).toFixed(decimals)} ${unit === SECOND ? 's' : 'ms'}`;
}

/**
 * The ticks of an axis.
 * @param {number[]} range the times at its ends @param {number} most how many ticks have room
 * @returns {{time: number, text: string}[]}
 */
export function ticks([from, to], most) {
  const step = stepOf((to - from) / Math.max(1, most));
  const out = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++)
    out.push({ time: n * step, text: tickText(n * step, step, to) });
  return out;
}

/** A point in time, as exact as a span around it needs. @param {number} time @param {number} span */
export function timeText(time, span) {
  return tickText(time, stepOf(span / 1000), Math.max(time, SECOND));
}

/** How long something took. @param {number} time */
export function lengthText(time) {
  if (time >= MINUTES_FROM) return minutesText(time);
  const [unit, name] = time >= SECOND ? [SECOND, 's'] : time >= MS ? [MS, 'ms'] : [1, 'µs'];
  const value = time / unit;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${name}`;
}
