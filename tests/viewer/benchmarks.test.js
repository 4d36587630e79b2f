// SPDX-License-Identifier: GPL-3.0-or-later
// The list of a suite's benchmarks: rows, words, order and addresses.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { benchmarks } from './lib/modules.js';
import { readSuite } from './lib/pages.js';

const table = readSuite('suite');
const rows = benchmarks.benchmarksOf(table);
const named = (/** @type {string} */ name) => rows.find((/** @type {any} */ b) => b.f.name === name);
const namesOf = (/** @type {any[]} */ list) => list.map((b) => b.f.name);

test('a row has the figures of its benchmark, and nothing where a side lacks it', () => {
  const parse = named('test_parse[10]');
  assert.deepEqual(parse.value, [1.2e6, 1.35e6]);
  assert.equal(parse.where, 'tests/test_parse.py');
  assert.equal(parse.verdict, 'regressed');
  assert.deepEqual([parse.rounds, parse.iterations], [[240, 240], [3360, 3360]]);
  assert.equal(named('test_audit').verdict, 'added');
  assert.ok(Number.isNaN(named('test_audit').value[0]));
  assert.equal(named('test_cache').verdict, 'removed');
  assert.equal(named('test_fork').part, null);
  assert.equal(table.all, 0);
  assert.equal(parse.part, 1);
});

test('a benchmark in a line', () => {
  const line = (/** @type {string} */ name) => benchmarks.lineOf(named(name), table);
  assert.equal(line('test_parse[10]'), '1.20 ms → 1.35 ms, +12.5 % (+9.0 to +16.0 %)');
  assert.equal(line('test_audit'), '3.00 ms');
  assert.equal(line('test_cache'), '2.00 ms');
  assert.equal(benchmarks.timesText(named('test_audit'), 0), '');
  assert.equal(benchmarks.timesText(named('test_audit'), 1), '240 rounds, 3,360 iterations');
  const exact = readSuite('suite-exact');
  const [first] = benchmarks.benchmarksOf(exact);
  assert.equal(benchmarks.lineOf(first, exact), '1,234,567 → 1,334,567, +8.1 %');
  assert.equal(benchmarks.measured(exact), 'instructions');
  assert.equal(benchmarks.measured(table), 'time per iteration');
});

test('a change is told as in the rest of the page: from twice as much on as a factor', () => {
  const text = (/** @type {number} */ change) => benchmarks.changeText({ change });
  assert.equal(text(0.123), '+12.3 %');
  assert.equal(text(1.04), '2.04×');
  assert.equal(text(-0.5), '−50.0 %');
  assert.equal(text(0), '±0.00 %');
  assert.equal(text(NaN), '–');
});

test('an interval has the unit of its change', () => {
  const text = (/** @type {number} */ change, /** @type {number[]} */ ...interval) =>
    benchmarks.intervalText({ change, interval });
  assert.equal(text(0.125, 0.09, 0.16), '+9.0 to +16.0 %');
  assert.equal(text(1.04, 0.6, 1.6), '1.60 to 2.60×');
  assert.equal(text(0, NaN, NaN), '–');
});

test('a change that is not proven although its interval leaves out 0 is marked', () => {
  const marked = (/** @type {string} */ verdict, /** @type {number[]} */ ...interval) =>
    benchmarks.isShortOfProof({ verdict, interval });
  assert.ok(marked('inconclusive', 0.01, 0.2) && marked('inconclusive', -0.2, -0.01));
  assert.ok(!marked('inconclusive', -0.01, 0.2) && !marked('regressed', 0.01, 0.2) && !marked('inconclusive', NaN, NaN));
});

test('the URI without the name says where a benchmark is', () => {
  const where = benchmarks.whereOf;
  assert.equal(where('test_a[1::2]', 'tests/test_a.py::TestB::test_a[1::2]'), 'tests/test_a.py::TestB');
  assert.equal(where('BenchmarkSort', 'example.com/pkg.BenchmarkSort'), 'example.com/pkg');
  assert.equal(where('fib', 'fib'), '');
  assert.equal(where('short', 'quite/another'), 'quite/another');
});

test('the axis shows 1 % beside ten times, and marks what is beyond its ends', () => {
  const axis = (/** @type {number[]} */ ...changes) => benchmarks.axisOf(changes.map((change) => ({ change })));
  const ends = (/** @type {number[]} */ ...changes) => axis(...changes).ends.map((/** @type {any} */ { text }) => text);
  assert.deepEqual(ends(), ['+10 %', '−10 %']);
  assert.deepEqual(ends(0.02, NaN), ['+10 %', '−10 %']);
  assert.deepEqual(ends(0.2), ['2×', '−50 %']);
  assert.deepEqual(ends(-0.6), ['10×', '−90 %']);
  assert.deepEqual(ends(7.9, 0.09), ['10×', '−90 %']);
  assert.deepEqual(ends(1000), ['100×', '−99 %']);
  const wide = axis(7.9, 0.09);
  const place = (/** @type {number} */ change) => benchmarks.axisPlace(change, wide);
  assert.equal(place(0), 0.5);
  assert.ok(place(0.01) > 0.55 && place(0.09) > 0.68 && place(1) > 0.85 && place(7.9) > 0.98 && place(7.9) < 1);
  assert.ok(place(-0.01) < 0.45 && place(-0.99) === 0);
  for (const [more, less] of [[0.3, 0.2], [0.02, 0.01], [-0.1, -0.2]]) assert.ok(place(more) > place(less));
  assert.ok(benchmarks.isBeyond(20, wide) && benchmarks.isBeyond(-1, wide) && !benchmarks.isBeyond(7.9, wide));
});

test('a row names the function and the line that explain it', () => {
  assert.equal(named('test_parse[10]').because?.name, 'work_of_parse');
  assert.ok(named('test_parse[10]').because?.place);
  assert.deepEqual(named('test_fork').because, { name: '', place: 'about 14 more executions would decide this' });
  assert.equal(named('test_lex').because, null);
});

test('a text and verdicts choose benchmarks', () => {
  const chosen = (/** @type {string} */ text, /** @type {string[]} */ ...verdicts) =>
    namesOf(benchmarks.chosenOf(rows, text, new Set(verdicts)));
  assert.deepEqual(chosen('PARSE.py'), ['test_parse[10]', 'test_lex']);
  assert.deepEqual(chosen(' parse ', 'regressed'), ['test_parse[10]']);
  assert.deepEqual(chosen('', 'added', 'removed'), ['test_audit', 'test_cache']);
  assert.deepEqual(chosen('[('), []);
  assert.deepEqual(benchmarks.verdictCounts(rows).slice(0, 2), [['regressed', 2], ['improved', 1]]);
});

test('steps lead through the changed benchmarks that can be opened, in the order of the list', () => {
  const steps = benchmarks.stepsOf(rows);
  assert.deepEqual(namesOf(steps), ['test_parse[10]', 'TestPage::test_render', 'test_sort', 'test_audit', 'test_cache']);
  const from = (/** @type {string} */ name, /** @type {number} */ by) =>
    benchmarks.stepFrom(rows, steps, name ? named(name) : null, by)?.f.name;
  assert.equal(from('', 1), 'test_parse[10]');
  assert.equal(from('', -1), undefined);
  assert.equal(from('test_parse[10]', 1), 'TestPage::test_render');
  assert.equal(from('test_parse[10]', -1), undefined);
  assert.equal(from('test_fork', 1), 'test_audit');
  assert.equal(from('test_lex', -1), 'test_cache');
  assert.equal(from('test_lex', 1), undefined);
  assert.deepEqual(namesOf(benchmarks.stepsOf([named('test_lex'), named('test_fork')])), ['test_lex']);
});

test('the command for a benchmark can be pasted', () => {
  const of = (/** @type {any} */ change, /** @type {string} */ uri) =>
    benchmarks.commandOf({ ...table, ...change }, { ...rows[0], uri });
  assert.equal(
    of({}, 'a.py::test_a[1]'),
    "kelvin diff before.pb.gz 'after change.pb.gz' --benchmark 'a.py::test_a[1]' -o benchmark.html",
  );
  assert.equal(
    of({ sides: 1, recordings: [{ name: '' }] }, "it's\x1b[31m $x"),
    "kelvin report PROFILE --benchmark 'it'\\''s\ufffd[31m $x' -o benchmark.html",
  );
});

test('an address names a benchmark by its URI', () => {
  const uri = 'a b.py::test[&=#%é]';
  const hash = benchmarks.addressOf({ uri });
  assert.match(hash, /^benchmark=[\w%.-]+$/);
  assert.equal(benchmarks.openedBy(`#${hash}&v=head`), uri);
  assert.equal(benchmarks.openedBy(`#${benchmarks.addressOf(null)}&t=timeline`), null);
  assert.equal(benchmarks.openedBy('#v=head'), undefined);
  assert.equal(benchmarks.openedBy(''), undefined);
  assert.equal(benchmarks.openedBy('#benchmark=%'), undefined);
  assert.equal(benchmarks.openedBy('#benchmark='), '');
});
