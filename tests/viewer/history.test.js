// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a history's page.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';

import { pageFile, readHistory } from './lib/pages.js';

const table = readHistory('history');

test('a history has its series with their profiles, points, functions and changes', () => {
  const [series, other] = table.series;
  assert.equal(table.series.length, 2);
  assert.equal(series.title, 'checkout on api-1');
  assert.equal(series.measureText, 'CPU time per request');
  assert.equal(series.profiles.length, 42);
  assert.deepEqual(series.profiles[0].slice(0, 4), ['checkout-001.pb.gz', Date.UTC(2026, 9, 12, 14, 2), 30000, false]);
  assert.deepEqual(series.profiles[41][7], { 'service.version': '42' });
  assert.deepEqual(series.points.map(({ at, part }) => [at, part]), [[13, 0], [20, null], [22, 1], [29, null], [31, null], [37, 2]]);
  assert.equal(series.points[1].pair, null, 'nothing changed there');
  assert.deepEqual(series.changes.slice(0, 2).map((change) => change.function), [null, 0]);
  assert.equal(series.functions[0].shown, 'parse_header');
  assert.deepEqual(other.changes, []);
  assert.equal(table.notices.length, 1);
});

test('values by profile are what the changes say', () => {
  const [series] = table.series;
  const [change] = series.changes.filter((one) => one.function === 0);
  const { self, total } = series.values[0];
  const mean = (/** @type {Float64Array} */ of) => of.reduce((sum, value) => sum + value, 0) / of.length;
  const near = (/** @type {number} */ value, /** @type {number} */ other) => assert.ok(Math.abs(value - other) < other / 1e4);
  near(mean(self.subarray(0, 37)), change.before);
  near(mean(self.subarray(37)), change.after);
  assert.ok(self.every((value, i) => value <= total[i] * 1.0001), 'total has what is called too');
  near(mean(series.whole), series.typicalTotal);
});

test('a thousand profiles of three thousand functions, of which 400 changed, are a page below two megabytes', () => {
  const [large] = readHistory('history-large').series;
  assert.equal(large.profiles.length, 1000);
  assert.equal(large.functions.length, 400);
  assert.ok(statSync(pageFile('history-large')).size < 2e6);
});
