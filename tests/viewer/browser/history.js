// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a history: the answer, the chart, the list of changes, and the way to the diff of a point and back.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** The names that are listed. @param {any} report @returns {Promise<string[]>} */
const listed = (report) => report.texts('.history-changes .grid-row [data-column=function]');

/** @param {any} report @param {string} name */
const row = (report, name) => report.page.locator('.history-changes .grid-row', { hasText: name }).first();

/** Until the report of a point, or the overview, is drawn. @param {any} report @param {string} name "" for the overview */
const until = (report, name) =>
  report.until(
    (/** @type {string} */ wanted) =>
      document.documentElement.dataset.ready && (document.querySelector('.part-bar:not([hidden]) b')?.textContent ?? '') === wanted,
    name,
  );

reportTest('the answer comes first, then lines over time and the changes', 'history', async (report) => {
  assert.match(await report.text('.answer'), /^checkout on api-1: 5 changes are open: 4 cost more, 1 costs less; 1 came and went\./);
  assert.deepEqual(await listed(report), ['(total)', 'parse_header', 'json::Value::clone', 'SSL_write', 'std::vector<Item>::reserve', 'gc_mark', 'lookup_price', 'log_line', 'log_record']);
  assert.equal(await report.page.locator('canvas').count(), 0, 'no diff was decoded');
  assert.equal(await report.run(() => document.title), 'History: checkout on api-1 – Kelvin');
});

reportTest('a click opens the diff of both segments, at the function; the bar leads back and on', 'history', async (report) => {
  await row(report, 'parse_header').click();
  await until(report, 'parse_header');
  assert.equal((await report.hash()).since, 'checkout-038.pb.gz');
  assert.match(await report.text('.inspector'), /parse_header/);
  await report.press('[');
  await until(report, 'libssl.so.3 3.0.11 → 3.0.15');
  await report.page.goBack();
  await until(report, 'parse_header');
  await report.press('a');
  await until(report, '');
  assert.equal(await report.text('.grid-row.selected [data-column=function]'), 'parse_header');
});
