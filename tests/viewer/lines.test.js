// SPDX-License-Identifier: GPL-3.0-or-later
// Functions line by line: their tables, their times under filters, and what of them the pane shows. The page "lines" is
// made by kinds_lines.c, whose rows these tests know.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { filters, hash, heat, linetables, lines, Model, state, throughlines } from './lib/modules.js';
import { functionOf, readPage, shown } from './lib/pages.js';

const { Lines, rowTimes } = lines;
const { lineName, lineOf, lineWords, rowNamed, samplesThrough } = throughlines;
/** Samples of a millisecond in ten runs. */
const TEN = 1e7;

const page = readPage('lines');

/** @param {any} of a page @param {string} name @param {object} [change] */
function linesOf(of, name, change = {}) {
  const model = shown(of, change);
  const listed = model.tables.lines.byFunction.get(functionOf(model, name).id);
  return new Lines(model, { ...state.DEFAULTS, ...change }, listed);
}

/** The row of a line of head, else of base. @param {any} of @param {number} line @param {number} [side] */
const rowAt = ({ lines: table, listed }, line, side = 1) => rowNamed(table, listed, `${side ? 'h' : 'b'}${line}`);

/** @param {any} a @param {any} b @param {string} what */
function near(a, b, what) {
  assert.equal(a.length, b.length);
  a.forEach((/** @type {number} */ value, /** @type {number} */ i) =>
    assert.ok(Math.abs(value - b[i]) <= 1e-6 * Math.max(1, Math.abs(b[i])), `${what}, row ${i}: ${value} instead of ${b[i]}`),
  );
}

test('a line has its own time, that of code inlined at it, and that of all it calls; a stack counts once', () => {
  const of = linesOf(page, 'parse_header');
  const pair = (/** @type {'own'|'inlined'|'total'} */ part, /** @type {number} */ line) => of.pair(part, rowAt(of, line));
  // 43 → 47: base has 90 ms of inlined code there and 10 ms itself, head 240 ms in what it calls.
  assert.ok(Math.abs(pair('own', 47)[0] - 10 * TEN) < TEN);
  assert.ok(Math.abs(pair('inlined', 47)[0] - 100 * TEN) < 2 * TEN);
  assert.ok(Math.abs(pair('total', 47)[1] - 252 * TEN) < 3 * TEN);
  // 58 → 62 calls itself, twice in some stacks.
  assert.ok(Math.abs(pair('total', 62)[1] - 35 * TEN) < 2 * TEN);
  assert.equal(pair('own', 62)[1], 0);
});

for (const kind of ['lines', 'lines-single', 'lines-large'])
  test(`the times that the page adds up are those that the program wrote where nothing is filtered (${kind})`, () => {
    const own = kind === 'lines' ? page : readPage(kind);
    const { lineStacks, meta, samples } = own;
    lineStacks.forEach((stacks, side) => {
      if (!stacks) return;
      const values = samples[side].values[1];
      const times = throughlines.sumRows(stacks, values, own.lines.count, side ? meta.factor || 1 : 1);
      for (const part of /** @type {const} */ (['self', 'inlined', 'total'])) near(times[part], own.lines.times[side][part], `${part} of side ${side}`);
    });
  });

test('under a filter by thread lines have the time of that thread, and verdicts go where times are others', () => {
  const model = shown(page);
  const named = model.narrowing.threadChoices.map(([value]) => value);
  assert.ok(named.includes('other'));
  const [all, part, rest] = ['', 'other', 'app'].map((thread) => linesOf(page, 'parse_header', { thread }));
  for (const row of all.rows)
    for (const side of [0, 1]) {
      const sum = part.pair('total', row)[side] + rest.pair('total', row)[side];
      assert.ok(Math.abs(sum - all.pair('total', row)[side]) < 1);
    }
  assert.equal(all.proven.length, 2);
  assert.ok(part.pair('total', rowAt(part, 63))[1] > 0);
  assert.equal(part.proven.length, 0, 'what is proven of the whole is not proven of a part');
});

test('a filter by a line keeps the samples through it, and leaves the times of the lines beside it', () => {
  const of = linesOf(page, 'parse_header');
  const func = functionOf(shown(page), 'parse_header');
  const row = rowAt(of, 47);
  const text = filters.withFilter('', 'line', `${hash.hashOf(func)}-${lineName(page.lines, row)}`);
  const model = shown(page, { filters: text });
  assert.equal(model.isPart, true);
  model.totals().forEach((total, side) => assert.ok(Math.abs(total - of.pair('total', row)[side]) < 1));
  rowTimes(model, { ...state.DEFAULTS, filters: text });
  const kept = model.narrowing.keptIn({ ...state.DEFAULTS, filters: text });
  kept.forEach((/** @type {Uint8Array} */ marks, /** @type {number} */ side) =>
    assert.deepEqual(marks, samplesThrough(page.lineStacks, row)[side], 'the timeline has the same samples'),
  );
  const { filters: chips } = model.filterTimes({ ...state.DEFAULTS, filters: text });
  assert.ok(Math.abs(chips[0][0] - of.pair('total', row)[0]) < 1, 'the chip has the share of the line');
  const beside = linesOf(page, 'parse_header', { filters: text });
  assert.deepEqual(beside.pair('total', rowAt(of, 63)), of.pair('total', rowAt(of, 63)));
  const other = filters.withFilter(text, 'line', `${hash.hashOf(func)}-h63`);
  assert.equal(filters.filtersOf(other).length, 1, 'one line at a time');
});

test('the samples through a line are those whose stack has it', () => {
  const of = linesOf(page, 'parse_header');
  for (const row of of.rows)
    samplesThrough(page.lineStacks, row).forEach((marks, side) => {
      const values = page.samples[side].values[1];
      const sum = marks.reduce((all, mark, i) => all + (mark ? values[i] : 0), 0) * (side ? page.meta.factor : 1);
      assert.ok(Math.abs(sum - page.lines.times[side].total[row]) < 1);
    });
});

test('a line is called by its number, and by its file where that is another one', () => {
  const of = linesOf(page, 'parse_header');
  for (const row of of.rows) assert.equal(rowNamed(page.lines, of.listed, lineName(page.lines, row)), row);
  assert.equal(lineWords(page.lines, rowAt(of, 47)), 'line 43 → 47');
  assert.equal(lineWords(page.lines, rowAt(of, 44)), 'line 44');
  assert.equal(lineWords(page.lines, rowAt(of, 60, 0)), 'line 60 of base');
  assert.equal(lineWords(page.lines, of.rows[of.rows.length - 1]), 'line 7 of limits.h');
  for (const wrong of ['', 'h', 'h99999', 'x42', 'h7', 'h42-zzz', '__proto__']) assert.equal(rowNamed(page.lines, of.listed, wrong), -1, wrong);
  const model = new Model(page);
  assert.equal(lineOf(page, (text) => model.functionOf(text), 'nothing-h42'), undefined);
});

test('a function that was renamed has the lines of both its names', () => {
  const of = linesOf(page, 'render_page');
  const row = rowAt(of, 72);
  assert.deepEqual(page.lines.line.map((column) => column[row]), [72, 72]);
  of.pair('total', row).forEach((time) => assert.ok(Math.abs(time - 100 * TEN) < 2 * TEN, String(time)));
});

test('rows far from time and changes are folded, and opened one by one', () => {
  const of = linesOf(page, 'parse_header');
  const items = of.items(false, new Set());
  const folds = items.filter(({ kind }) => kind === 'fold');
  assert.equal(folds.length, 1);
  const [fold] = folds;
  assert.ok(fold.count >= 4);
  const covered = items.reduce((sum, { kind, count }) => sum + (kind === 'file' ? 0 : count), 0);
  assert.equal(covered, of.rows.length, 'no row is lost');
  assert.equal(items.filter(({ kind }) => kind === 'file').length, 1);
  const opened = of.items(false, new Set([fold.row]));
  assert.equal(opened.length, items.length - 1 + fold.count);
});

test('in one column base comes before head where texts differ, and every line of both is there once', () => {
  const of = linesOf(page, 'parse_header');
  const items = of.items(true, new Set(of.rows)).filter(({ kind }) => kind === 'row');
  for (const side of [0, 1]) {
    const numbers = items.filter((item) => item.side === undefined || item.side === side).map(({ row }) => page.lines.line[side][row]);
    assert.deepEqual(numbers, of.rows.map((row) => page.lines.line[side][row]).filter(Boolean));
  }
  const at = items.findIndex(({ row, side }) => row === rowAt(of, 47) && side === 0);
  assert.deepEqual([items[at + 1].row, items[at + 1].side], [rowAt(of, 47), 1]);
});

test('hot lines come by their own time, with inlined code where it counts at its call; proven ones by their change', () => {
  const hotLines = (/** @type {object} */ change) => {
    const of = linesOf(page, 'parse_header', change);
    return of.hot.map((row) => page.lines.line[1][row]);
  };
  assert.deepEqual(hotLines({}), [46, 47, 7]);
  assert.equal(hotLines({ inlined: 'call' })[0], 47, '100 ms of base');
  assert.ok(hotLines({ inlined: 'call' }).includes(49));
  const of = linesOf(page, 'parse_header');
  assert.deepEqual(of.proven, [rowAt(of, 47), rowAt(of, 60, 0)]);
});

test('a report of one recording has lines without verdicts', () => {
  const of = linesOf('lines-single', 'parse_header');
  assert.equal(of.sides, 1);
  assert.equal(of.proven.length, 0);
  assert.ok(of.hot.length > 0);
});

test('a strip has as many places as can be told apart, and loses neither the hottest nor a proven line', () => {
  const marks = Array.from({ length: 5000 }, (_, i) => ({ heat: i === 4321 ? 1 : 0.1, state: i === 77 ? 'more' : '' }));
  const places = heat.placesOf(marks);
  assert.ok(places.length <= 400);
  assert.equal(Math.max(...places.map((place) => place.heat)), 1);
  assert.equal(places.filter((place) => place.state === 'more').length, 1);
  assert.deepEqual(heat.placesOf([]), []);
});

test('tables that were cut off or do not fit together are damage, and never read beyond', () => {
  const bytes = Uint8Array.from([0, 1, 0, 5, 0, 0, 1]);
  for (let size = 0; size < bytes.length; size++) {
    const cut = bytes.slice(0, size);
    assert.throws(() => linetables.decodeLineStacks(cut, 1, 6), Error);
  }
  assert.throws(() => linetables.decodeLineStacks(Uint8Array.from([0, 1, 0, 9, 0, 0, 1]), 1, 6), /not whole/);
  assert.throws(() => linetables.decodeLineStacks(Uint8Array.from([0, 1, 7, 5, 0, 0, 1]), 1, 6), /not whole/);
  assert.equal(linetables.decodeLineStacks(Uint8Array.from([1]), 2, 6), null, 'no room');
  assert.throws(() => new linetables.LineTable(Uint8Array.from([3]), 2), /cut off/);
});

test('the times of lines are added up once for what is shown', () => {
  const change = { thread: 'other' };
  const model = shown(page, change);
  const all = { ...state.DEFAULTS, ...change };
  assert.equal(rowTimes(model, all), rowTimes(model, { ...all, line: 'h47' }));
});
