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
 */

/** Verdicts in the order of reading, in words. @type {Record<string, string>} */
export const VERDICTS = {
  regressed: 'proven to be worse, by more than the precision',
  improved: 'proven to be better, by more than the precision',
  inconclusive: 'neither a change nor its absence is proven',
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
    const [baseRounds, baseIterations, rounds, iterations, part] = others;
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

/** Lengths of the axis of changes, in parts of base. */
const AXES = [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10];
/** So many of the changes must lie on the axis; those beyond it are marked at its end. */
const ON_AXIS = 0.9;

/** How far the axis of changes leads to either side. @param {Benchmark[]} benchmarks */
export function axisOf(benchmarks) {
  const known = benchmarks.filter((b) => Number.isFinite(b.change) && b.verdict !== 'unchanged');
  const sizes = known.map((b) => Math.abs(b.change)).sort((a, b) => a - b);
  const least = sizes[Math.ceil(ON_AXIS * sizes.length) - 1] || 0;
  // An interval around the largest change has room, too.
  return AXES.find((axis) => axis >= 1.25 * least) || AXES[AXES.length - 1];
}

/** Where a change lies on the axis, from 0 to 1. @param {number} change @param {number} axis */
export const axisPlace = (change, axis) => Math.max(0, Math.min(1, 0.5 + change / (2 * axis)));

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
