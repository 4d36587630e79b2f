// SPDX-License-Identifier: GPL-3.0-or-later
// A profile of several value types: one is chosen, and everything shows it.

import assert from 'node:assert/strict';

import { reportTest, ROW } from '../lib/browser.js';

const METRIC = '[aria-label=Metric]';

reportTest('the tested metric comes first; the others follow it everywhere, without verdicts', 'metrics', async (report) => {
  await report.openList();
  const names = await report.texts(`${METRIC} option`);
  assert.deepEqual(names, ['cpu', 'samples, untested', 'alloc_space, untested']);
  const box = await report.picture();
  const at = async (/** @type {number} */ x, /** @type {number} */ row) => {
    await report.point(box.x + box.width * x, box.y + (row + 0.5) * ROW);
    return report.text('.status');
  };
  assert.match(await at(0.1, 2), /^fill_cache — base 1\.00 s 20\.0 % → head 1\.00 s 20\.0 %/);
  await report.select(METRIC, 'alloc_space');
  assert.deepEqual(await report.hash(), { m: 'alloc_space' });
  const status = await at(0.9, 2);
  assert.match(status, /^fill_cache — base 10\.0 MB 100 % → head 30\.0 MB 100 % · \+20\.0 MB 3\.00× · app\.c:42 app$/);
  await report.page.mouse.click(box.x + box.width / 2, box.y + 2.5 * ROW);
  await report.settle();
  assert.match(await report.text('.inspector'), /Only cpu was tested, so alloc_space has no verdicts/);
  assert.doesNotMatch(await report.text('.inspector'), /interval/);
  assert.match(await report.text('.legend'), /only cpu was tested/);
  const [colour] = await report.pixels([[box.width - 10, 2.2 * ROW]]);
  assert.ok(Math.max(...colour.slice(0, 3)) - Math.min(...colour.slice(0, 3)) < 12, 'nothing is coloured as changed');
  const rows = await report.texts('.grid-row');
  assert.ok(rows.some((row) => row.includes('fill_cache') && row.includes('30.0 MB')));
  assert.ok(!rows.some((row) => row.includes('think')), 'what allocates nothing is not listed');
  await report.page.goBack();
  await report.settle();
  assert.match(await at(0.1, 2), /base 1\.00 s/);
});

reportTest(
  'a link opens the metric; one that is not here is left out',
  'metrics',
  async (report) => {
    await report.openList();
    assert.match(await report.text('.grid-row'), /30\.0 MB/);
    await report.run(() => (location.hash = 'm=nothing'));
    await report.until(() => !document.querySelector('.grid-row')?.textContent?.includes('MB'));
  },
  { hash: 'm=alloc_space' },
);
