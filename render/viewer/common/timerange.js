// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges of time as people write and read them: "2s-3s", "500–750 ms", "-1.5 s". Times are in microseconds.

const MS = 1e3;
const SECOND = 1e6;
/** Microseconds of the units that a time may have: of micro there are two signs. @type {Map<string, number>} */
const UNITS = new Map([['h', 3.6e9], ['min', 6e7], ['s', SECOND], ['ms', MS], ['us', 1], ['µs', 1], ['μs', 1]]);
const BETWEEN = /\s*(?:[-–—−…]|\.{2,3}|to)\s*/i;
const TIME = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-zµμ]*)$/i;
/** A range is written as exact as a part in so many of it. */
const EXACT = 1000;

/** What is said with whatever cannot be read. */
export const RANGE_EXAMPLES = '2s-3s, 500ms- or -1.5s';

/**
 * A number and its unit; null where a text is none.
 * @param {string} text @returns {{value: number, unit: number|undefined}|null}
 */
function timeOf(text) {
  const [, number, unit] = TIME.exec(text) || [];
  const scale = unit && UNITS.get(unit.toLowerCase());
  return !number || (unit && !scale) ? null : { value: Number(number), unit: scale || undefined };
}

/**
 * The range that a text names: null for all of the time, which has the length `end`; or what is wrong with the text. A
 * number without a unit has that of the other number, else it counts seconds.
 * @param {string} text @param {number} end
 * @returns {{range: number[]|null, error?: undefined}|{range?: undefined, error: string}}
 */
export function parseRange(text, end) {
  const wrong = (/** @type {string} */ what) => ({ error: `${what}. Write ${RANGE_EXAMPLES}` });
  if (!text.trim()) return { range: null };
  const parts = text.trim().split(BETWEEN);
  if (parts.length === 1 && timeOf(parts[0])) return wrong(`${parts[0]} is one time, and a range has two`);
  if (parts.length !== 2) return wrong(`“${text.trim()}” is not a range of time`);
  const bad = parts.find((part) => part && !timeOf(part));
  if (bad) return wrong(`“${bad}” is not a time`);
  const times = parts.map(timeOf);
  const [from, to] = times.map((time, i) =>
    time ? time.value * (time.unit || times[1 - i]?.unit || SECOND) : i * end,
  );
  if (times[1] && to <= from) return wrong('the range ends before it begins');
  if (from >= end) return wrong(`the recording ends at ${rangeText([0, end]).split('–')[1]}`);
  return { range: from > 0 || to < end ? [from, Math.min(to, end)] : null };
}

/** A range as it is shown, and as `parseRange` reads it. @param {number[]} range */
export function rangeText([from, to]) {
  const [unit, name] = to >= SECOND ? [SECOND, 's'] : to >= MS ? [MS, 'ms'] : [1, 'µs'];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10((EXACT * unit) / (to - from)))));
  const [first, last] = [from, to].map((time) => String(Number((time / unit).toFixed(decimals))));
  return `${first}–${last} ${name}`;
}
