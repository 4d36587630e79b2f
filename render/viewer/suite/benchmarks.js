// SPDX-License-Identifier: GPL-3.0-or-later
// The benchmarks of a suite: rows from their table, and what is said of them in words.

import { amount, change as changeOf, count, digits, measureOf, pasted, signedPercent } from '../common/format.js';

/** @typedef {import('../data/report.js').SuiteTable} SuiteTable */

/**
 * A benchmark in the list; NaN where a side lacks it.
 * @typedef {object} Benchmark
 * @property {{id: number, name: string}} f its place in the order of reading, and its name
 * @property {string} uri
 * @property {string} where the URI without the name
 * @property {string} verdict
 * @property {number[]} value [base, head]
 * @property {number} change of head in parts of base
 * @property {number[]} interval of the change
 * @property {number[]} rounds [base, head]; 0: not known
 * @property {number[]} iterations
 * @property {number|null} part of the page; null: it has none
 * @property {{name: string, place: string}|null} because the function that explains the change, and the line of it; without a
 *   name what else there is to say
 */

/** Verdicts in the order of reading, in words. @type {Record<string, string>} */
export const VERDICTS = {
  regressed: 'proven to be worse, by more than the precision',
  improved: 'proven to be better, by more than the precision',
  inconclusive: 'neither a change nor its absence is proven',
  placement: 'different, but all code is the same: where the linker put it may be why',
  minor: 'proven to have changed, but not by more than the precision',
  added: 'only head has it',
  removed: 'only base has it',
  unchanged: 'equal within the precision',
};

const CHANGED = ['regressed', 'improved', 'added', 'removed'];

/** The class of the colour that a verdict has. @type {Record<string, string>} */
export const VERDICT_CLASSES = {
  regressed: 's-more',
  improved: 's-less',
  inconclusive: 's-unproven',
  placement: 's-unproven',
  minor: 's-same',
  added: 's-new',
  removed: 's-gone',
  unchanged: 's-same',
};

/** The part of a URI before a name that it ends with. @param {string} name @param {string} uri */
export function whereOf(name, uri) {
  if (!uri.endsWith(name)) return uri;
  return uri.slice(0, uri.length - name.length).replace(/(::|[/.])$/, '');
}

/** @param {number|null} value */
const known = (value) => value ?? NaN;

/** @param {SuiteTable} table @returns {Benchmark[]} */
export function benchmarksOf({ isExact, rows }) {
  return rows.map((columns, id) => {
    const [name, uri, verdict, base, head, change, low, high, , ...others] = columns;
    const [baseRounds, baseIterations, rounds, iterations, part, because] = others;
    return {
      f: { id, name },
      uri,
      where: whereOf(name, uri),
      verdict,
      value: [known(base), known(head)],
      change: known(change),
      interval: isExact ? [NaN, NaN] : [known(low), known(high)],
      rounds: [baseRounds, rounds],
      iterations: [baseIterations, iterations],
      part,
      because: because && { name: because[0], place: because[1] },
    };
  });
}

/** The change of a benchmark as "+12.3 %", or "8.76×". @param {Benchmark} benchmark */
export function changeText({ change }) {
  return Number.isFinite(change) ? changeOf(1, 1 + change) : '–';
}

/**
 * The interval of the change, in the unit of the change: "+9.20 to +14.8 %", "6.69 to 22.6×".
 * @param {Benchmark} benchmark
 */
export function intervalText({ change, interval: [low, high] }) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return '–';
  if (change >= 1) return `${digits(1 + low)} to ${digits(1 + high)}×`;
  return `${signedPercent(low, 1).replace(' %', '')} to ${signedPercent(high, 1)}`;
}

/** Whether a change is not proven although its own interval leaves out 0. @param {Benchmark} benchmark */
export const isShortOfProof = ({ interval: [low, high], verdict }) =>
  verdict === 'inconclusive' && (low > 0 || high < 0);

/** What a value of a suite is. @param {SuiteTable} table */
export function measured({ isMeasured, metric, metricWords, unit }) {
  return isMeasured ? 'time per iteration' : measureOf({ name: metric, unit, words: metricWords });
}

/**
 * How often a side ran a benchmark: "240 rounds, 1,200 iterations".
 * @param {Benchmark} benchmark @param {number} side
 */
export function timesText({ iterations, rounds }, side) {
  const said = (/** @type {number} */ times, /** @type {string} */ what) =>
    times > 0 && `${count(times)} ${what}${times === 1 ? '' : 's'}`;
  return [said(rounds[side], 'round'), said(iterations[side], 'iteration')].filter(Boolean).join(', ');
}

/**
 * A benchmark in a line: "1.20 ms → 1.35 ms, +12.3 % (+9.20 to +14.8 %)".
 * @param {Benchmark} benchmark @param {SuiteTable} table
 */
export function lineOf(benchmark, table) {
  const [base, head] = benchmark.value.map((value) => amount(value, table.unit));
  if (table.sides === 1 || benchmark.verdict === 'added') return head;
  if (benchmark.verdict === 'removed') return base;
  const text = `${base} → ${head}, ${changeText(benchmark)}`;
  return intervalText(benchmark) === '–' ? text : `${text} (${intervalText(benchmark)})`;
}

/** A tick of the axis of changes: head in parts of base, and what stands at it. @typedef {{ratio: number, text: string}} Tick */

/** Ticks above no change, and those below it that are as far from it. @type {Tick[][]} */
const TICKS = [
  [{ ratio: 1.01, text: '+1 %' }, { ratio: 0.99, text: '−1 %' }],
  [{ ratio: 1.1, text: '+10 %' }, { ratio: 0.9, text: '−10 %' }],
  [{ ratio: 2, text: '2×' }, { ratio: 0.5, text: '−50 %' }],
  [{ ratio: 10, text: '10×' }, { ratio: 0.1, text: '−90 %' }],
  [{ ratio: 100, text: '100×' }, { ratio: 0.01, text: '−99 %' }],
];
/** No axis ends below the second of these. */
const LEAST_TICKS = 2;
/** Up to about this change the axis is linear, and beyond it logarithmic. */
const LINEAR = 0.01;

/** How far a ratio lies from no change, in units of any axis. @param {number} ratio */
const distance = (ratio) => Math.log1p(Math.abs(Math.log(ratio)) / LINEAR);

/**
 * The axis of changes: a change of 1 % is seen beside one of ten times. It ends at the first tick that no change is
 * beyond, or at the last one.
 * @param {Benchmark[]} benchmarks
 */
export function axisOf(benchmarks) {
  const ratios = benchmarks.map(({ change }) => 1 + change).filter(Number.isFinite);
  const isWithin = (/** @type {Tick[]} */ [above, below]) => ratios.every((r) => r <= above.ratio && r >= below.ratio);
  const found = TICKS.findIndex((pair, i) => i >= LEAST_TICKS - 1 && isWithin(pair));
  const pairs = found < 0 ? TICKS : TICKS.slice(0, found + 1);
  const ends = pairs[pairs.length - 1];
  return { length: Math.max(...ends.map(({ ratio }) => distance(ratio))), ends, pairs };
}

/** @typedef {ReturnType<typeof axisOf>} Axis */

/** Where a change lies on the axis, from 0 to 1. @param {number} change of head in parts of base @param {Axis} axis */
export function axisPlace(change, { length }) {
  const part = (distance(1 + change) / length) * Math.sign(change);
  return Math.max(0, Math.min(1, 0.5 + part / 2));
}

/** Whether a change lies beyond an end of the axis. @param {number} change @param {Axis} axis */
export const isBeyond = (change, { ends: [above, below] }) => 1 + change > above.ratio || 1 + change < below.ratio;

/**
 * The benchmarks whose name or URI has a text, and that have one of the verdicts, where some are chosen.
 * @param {Benchmark[]} benchmarks @param {string} text @param {Set<string>} verdicts
 */
export function chosenOf(benchmarks, text, verdicts) {
  const wanted = text.trim().toLowerCase();
  return benchmarks.filter(
    (b) =>
      (!verdicts.size || verdicts.has(b.verdict)) &&
      (!wanted || b.uri.toLowerCase().includes(wanted) || b.f.name.toLowerCase().includes(wanted)),
  );
}

/**
 * How many benchmarks have each verdict, in the order of reading.
 * @param {Benchmark[]} benchmarks @returns {[string, number][]}
 */
export function verdictCounts(benchmarks) {
  const counts = Object.keys(VERDICTS).map((name) => /** @type {[string, number]} */ ([name, 0]));
  for (const { verdict } of benchmarks) {
    const found = counts.find(([name]) => name === verdict);
    if (found) found[1]++;
  }
  return counts.filter(([, times]) => times > 0);
}

/**
 * The benchmarks that one steps through: the changed ones that can be opened, in the order of a list; all that can be
 * opened where none of them has changed.
 * @param {Benchmark[]} benchmarks
 */
export function stepsOf(benchmarks) {
  const open = benchmarks.filter((b) => b.part !== null);
  const changed = open.filter((b) => CHANGED.includes(b.verdict));
  return changed.length ? changed : open;
}

/**
 * The benchmark before or after another one among those that one steps through; null where there is none. From one
 * that is none of these, the way leads to those that stand beside it in the list.
 * @param {Benchmark[]} list in its order @param {Benchmark[]} steps in the same order
 * @param {Benchmark|null} from null: before the first @param {number} by 1 or -1
 */
export function stepFrom(list, steps, from, by) {
  if (!from) return by > 0 ? steps[0] || null : null;
  const place = new Map(list.map((b, i) => [b, i]));
  const own = place.get(from) ?? -1;
  const beside = steps.filter((b) => Math.sign((place.get(b) ?? -1) - own) === by);
  return (by > 0 ? beside[0] : beside[beside.length - 1]) || null;
}

/** A word of a command line. @param {string} word */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/** The command that writes a page of one benchmark. @param {SuiteTable} table @param {Benchmark} benchmark */
export function commandOf({ recordings, sides }, benchmark) {
  const placeholders = sides === 2 ? ['BASE', 'HEAD'] : ['PROFILE'];
  const files = recordings.map(({ name }, i) => (name ? quoted(name) : placeholders[i]));
  const command = `kelvin ${sides === 2 ? 'diff' : 'report'} ${files.join(' ')}`;
  return pasted(`${command} --benchmark ${quoted(benchmark.uri)} -o benchmark.html`);
}

// ---- The address ----

const ONE = 'benchmark=';
const ALL = 'benchmarks=all';

/** What the address says of an open benchmark; of all together for null. @param {Benchmark|null} benchmark */
export const addressOf = (benchmark) => (benchmark ? ONE + encodeURIComponent(benchmark.uri) : ALL);

/** What an address opens: a URI, all together (null), or the list (undefined). @param {string} hash */
export function openedBy(hash) {
  const parts = hash.replace(/^#/, '').split('&');
  if (parts.includes(ALL)) return null;
  const one = parts.find((part) => part.startsWith(ONE));
  try {
    return one && decodeURIComponent(one.slice(ONE.length));
  } catch {
    return undefined;
  }
}
