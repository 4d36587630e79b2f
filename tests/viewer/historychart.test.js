// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of a history makes of its tables: axes, lines and their colours, rows in words, addresses.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { historyaddress, historylines, historyplot, historyrows, scales } from './lib/modules.js';
import { readHistory } from './lib/pages.js';

const table = readHistory('history');
const [series] = table.series;
const HOUR = 3600e3;
const DAY = 24 * HOUR;
const utc = (/** @type {number[]} */ ...parts) => Date.UTC(.../** @type {[number, number]} */ (parts));

/** @param {string} name */
const rowOf = (name) => historyrows.rowsOf(series).find(({ f }) => f.name === name);

test('times are those of UTC, with a year or seconds only where profiles need them', () => {
  const at = utc(2026, 10, 18, 4, 2, 9);
  assert.equal(scales.timeText(at, scales.precisionOf([at, at + DAY])), '18 Nov 04:02');
  assert.equal(scales.timeText(at, scales.precisionOf([at, at + 1000, at + DAY])), '18 Nov 04:02:09');
  assert.equal(scales.timeText(at, scales.precisionOf([at, at + 60 * DAY])), '18 Nov 2026 04:02');
});

test('an axis of time has as many ticks as have room, at times that people use', () => {
  const begin = utc(2026, 10, 3, 5, 17);
  for (const [span, most] of [[HOUR, 8], [DAY, 5], [9 * DAY, 6], [42 * DAY, 11], [400 * DAY, 7], [5000 * DAY, 4], [60e3, 9]]) {
    const ticks = scales.timeTicks(begin, begin + span, most);
    assert.ok(ticks.length <= most + 1, `${ticks.length} of ${most}`);
    assert.ok(ticks.length >= most / 4 - 1, `${ticks.length} of ${most}`);
    assert.ok(ticks.every(({ at }) => at >= begin && at <= begin + span));
    assert.equal(new Set(ticks.map(({ at }) => at)).size, ticks.length);
  }
  const weeks = scales.timeTicks(begin, begin + 42 * DAY, 7).map(({ at }) => new Date(at).getUTCDay());
  assert.ok(weeks.every((day) => day === 1), 'weeks begin on Mondays');
  const hours = scales.timeTicks(utc(2026, 10, 3, 20), utc(2026, 10, 4, 5), 4).map(({ text }) => text);
  assert.deepEqual(hours, ['21:00', '4 Nov', '03:00']);
  const months = scales.timeTicks(utc(2025, 10, 15), utc(2026, 1, 15), 4).map(({ text }) => text);
  assert.deepEqual(months, ['Dec', '2026', 'Feb']);
});

test('an axis of values has round ticks, without zeros at their ends', () => {
  assert.deepEqual(scales.valueTicks(0, 2.2e5, 5, 'nanoseconds').map(({ text }) => text), ['0', '50 µs', '100 µs', '150 µs', '200 µs']);
  assert.deepEqual(scales.valueTicks(0, 0.9, 4, '%').map(({ text }) => text), ['0', '0.5 %']);
  assert.deepEqual(scales.valueTicks(0, 30, 3, '%').map(({ text }) => text), ['0', '10 %', '20 %', '30 %']);
  assert.equal(scales.axisText(1200, 'count'), '1,200');
  assert.deepEqual(scales.valueTicks(0, 0, 4, '%'), []);
  assert.deepEqual(scales.valueTicks(1, 1, 4, 'count'), []);
});

test('profiles lie where they were recorded, or one beside the other', () => {
  const { places } = scales.placesOf(series, true);
  const [first, second] = places;
  assert.ok(first > 0 && places[41] < 1 && second > first);
  assert.ok(Math.abs(places[40] - places[39] - (second - first)) < 1e-9, 'a day is a day');
  assert.deepEqual(scales.placesOf(series, false).places.slice(0, 2), [0.5 / 42, 1.5 / 42]);
  const untimed = { ...series, profiles: series.profiles.map((profile, i) => (i === 3 ? [profile[0], null, ...profile.slice(2)] : profile)) };
  assert.equal(scales.timesOf(untimed), null, 'where one time is missing, there is no axis of time');
  assert.deepEqual(scales.placesOf(untimed, true).places.slice(0, 1), [0.5 / 42]);
});

test('a line has a colour only behind a proven change, and only until that was gone', () => {
  const line = (/** @type {string} */ name) => historylines.lineOf(series, series.functions.findIndex(({ shown }) => shown === name), true);
  const states = (/** @type {any} */ of) => series.profiles.map((_, at) => historylines.stateAt(of, at));
  assert.deepEqual(states(line('parse_header')), Array.from({ length: 42 }, (_, i) => (i < 37 ? '' : 'more')));
  assert.deepEqual(states(line('std::vector<Item>::reserve')), Array.from({ length: 42 }, (_, i) => (i < 13 ? '' : 'less')));
  assert.deepEqual(states(line('gc_mark')), Array.from({ length: 42 }, (_, i) => (i >= 29 && i < 31 ? 'more' : '')));
  assert.deepEqual([...new Set(states(line('log_record')))], [''], 'cost that only moved has none');
  assert.deepEqual(line('log_record').jumps, []);
  assert.deepEqual([...new Set(states(line('render_template')))], ['']);
  const { levels } = line('gc_mark');
  assert.deepEqual(levels.map(({ from, to }) => [from, to]), [[0, 29], [29, 31], [31, 42]]);
});

test('changes of one function that follow each other are steps', () => {
  const [change] = series.changes.filter((one) => one.function === 0);
  const two = {
    ...series,
    changes: [
      { ...change, point: 5, before: 3, after: 2, last: 2, delta: -1 },
      { ...change, point: 0, before: 1, after: 3, last: 2, delta: 2 },
    ],
  };
  const { levels } = historylines.lineOf(two, 0, true);
  assert.deepEqual(levels.map(({ from, level, state, to }) => [from, to, level, state]), [[0, 13, 1, ''], [13, 37, 3, 'more'], [37, 42, 2, 'less']]);
});

test('values that are no numbers draw no level', () => {
  const [change] = series.changes.filter((one) => one.function === 0);
  const broken = { ...series, changes: [{ ...change, after: /** @type {any} */ (null) }] };
  const line = historylines.lineOf(broken, 0, true);
  assert.deepEqual(line.levels.map(({ to }) => to), [37]);
  assert.deepEqual(line.jumps, []);
});

test('rows say in words what the text output says', () => {
  const rows = historyrows.rowsOf(series);
  assert.deepEqual(rows.map(({ kind }) => kind), ['open', 'open', 'open', 'open', 'open', 'went', 'drift', 'moved', 'moved']);
  const { change: _change, f: _f, line: _line, at: _at, point: _point, size: _size, q: _q, ...parse } = /** @type {any} */ (rowOf('parse_header'));
  assert.deepEqual(parse, {
    whose: 'self',
    kind: 'open',
    state: 'more',
    since: '18 Nov 14:02',
    module: 'checkout',
    values: '22.0 → 47.9 µs',
    delta: '+2.11',
    interval: '1.84 to 2.37',
    evidence: '5 of 5, q 0.0001',
    code: 'changed',
    fact: 'version 41 → 42',
  });
  assert.equal(rowOf('(total)')?.delta, '+3.5 %');
  assert.equal(rowOf('(total)')?.interval, '3.1 to 4.0 %');
  assert.equal(rowOf('json::Value::clone')?.values, '0 → 9.29 µs');
  assert.equal(rowOf('json::Value::clone')?.state, 'new');
  assert.equal(rowOf('std::vector<Item>::reserve')?.interval, '−4.51 to −3.51');
  assert.equal(rowOf('gc_mark')?.values, '24.0 → 41.3 → 23.9 µs');
  assert.equal(rowOf('gc_mark')?.state, '', 'what is gone again has no colour in the list');
  assert.equal(rowOf('log_line')?.state, '');
  const [shares] = readHistory('history-shares').series;
  assert.equal(historyrows.rowsOf(shares).find(({ f }) => f.name === 'parse_header')?.values, '1.8 → 3.9 %');
});

test('a point is looked at by a command where its diff is not in the page', () => {
  const at = series.points.findIndex((point) => point.part === null && point.pair);
  assert.match(historyrows.commandOf(series, at), /^kelvin diff checkout-\S+ checkout-\S+ -o 2026-11-\d\d-1402\.html$/);
  assert.equal(historyrows.commandOf(series, 1), '', 'nothing changed there');
  assert.deepEqual(historyrows.openPoints(series), [0, 2, 5]);
});

test('an address says what is shown, and says it again', () => {
  const { DEFAULTS, readAddress, writeAddress } = historyaddress;
  const there = (/** @type {object} */ change) => ({ ...DEFAULTS, ...change });
  for (const change of [{}, { axis: 'index', scale: 'percent' }, { series: 1, added: ['28cf0e0cc162s', '28cf0e0cc162'] }, { since: 'a b&c=d.pb.gz', of: 'total' }])
    assert.deepEqual(readAddress(writeAddress(there(change), table), table), there(change));
  assert.equal(writeAddress(DEFAULTS, table), '');
  assert.deepEqual(readAddress('#since=%E0%A4%A&axis=none&series=none&lines=..', table), DEFAULTS);
});

test('series of one title, and profiles without a name, have addresses of their own', () => {
  const { DEFAULTS, pointName, readAddress, seriesName, writeAddress } = historyaddress;
  const twins = { ...table, series: [series, { ...series }, { ...series, title: '' }] };
  assert.deepEqual([0, 1, 2].map((i) => seriesName(twins, i)), ['checkout on api-1 (1)', 'checkout on api-1 (2)', 'series (3)']);
  for (const i of [0, 1, 2]) assert.equal(readAddress(writeAddress({ ...DEFAULTS, series: i }, twins), twins).series, i);
  const unnamed = { ...series, profiles: series.profiles.map((profile) => ['', ...profile.slice(1)]) };
  assert.equal(pointName(/** @type {any} */ (unnamed), 0), '#14');
  assert.equal(pointName(series, 0), 'checkout-014.pb.gz');
});

test('keys name lines', () => {
  const key = historylines.keyOf(series, 0, true);
  assert.deepEqual(historylines.keyed(series, key), { func: 0, isSelf: true });
  assert.deepEqual(historylines.keyed(series, historylines.keyOf(series, 0, false)), { func: 0, isSelf: false });
  assert.deepEqual(historylines.keyed(series, historylines.keyOf(series, null, false)), { func: null, isSelf: false });
  assert.equal(historylines.keyed(series, 'nothing'), undefined);
  assert.equal(historylines.firstLines(series).length, 5, 'neither the total, nor drifts, nor what only moved');
  assert.equal(historylines.firstLines(readHistory('history-quiet').series[0]).length, 5, 'the largest, where nothing changed');
});

test('the axis of functions begins at 0, that of the total does not', () => {
  const lines = historylines.firstLines(series).map((key) => {
    const { func, isSelf } = /** @type {any} */ (historylines.keyed(series, key));
    return historylines.lineOf(series, func, isSelf);
  });
  const whole = historylines.lineOf(series, null, false);
  const view = { series, lines, whole, selected: '', fits: false, axis: 'time', scale: 'value' };
  const g = historyplot.geometryOf(/** @type {any} */ (view), 1200, 400);
  assert.equal(g.y(0), g.bottom);
  for (const { values } of lines) for (const value of values) assert.ok(g.y(value) >= g.top && g.y(value) <= g.bottom);
  assert.ok(g.range[0] > 0 && whole.values.every((value) => value >= g.range[0] && value <= g.range[1]));
  const [first] = lines;
  const fitted = historyplot.geometryOf(/** @type {any} */ ({ ...view, selected: first.key, fits: true }), 1200, 400);
  assert.ok(fitted.most < g.most);
  assert.deepEqual(historyplot.unitOf(/** @type {any} */ ({ series, scale: 'percent' })), { factor: 1, unit: '%' });
});

test('a deploy of which nothing else is known is called one', () => {
  const [first] = series.points;
  assert.equal(historylines.factOf({ ...first, fact: '' }), 'deploy');
  assert.equal(historylines.factOf({ ...first, fact: '', isDeploy: false }), '');
  assert.equal(historylines.factOf(first), 'version 39 → 40');
});
