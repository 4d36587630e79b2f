// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of frames in one row, in the page.

import assert from 'node:assert/strict';

import { reportTest, ROW } from '../lib/browser.js';

/** What is drawn in a row, at its left end. @param {any} report @param {number} row */
async function hitIn(report, row) {
  const { x, y } = await report.picture();
  await report.point(x + 30, y + (row + 0.5) * ROW);
  return report.text('.status');
}

reportTest('a trunk says that it stands for many, and its figures are those of the outermost frame', 'deep', async (report) => {
  assert.match(await hitIn(report, 1), /^level_1 \(the outermost of 1,?\d{3} frames in one row\) — /);
  assert.match(await report.text('.tip'), /1,?\d{3} frames.*in one row; these figures are those of the outermost/);
  const { x, y } = await report.picture();
  await report.page.mouse.click(x + 30, y + 1.5 * ROW);
  await report.settle();
  assert.equal(await report.text('.inspector h2'), 'level_1');
  const section = '.inspector section.trunk';
  assert.match(await report.text(`${section} h3`), /^1,?\d{3} frames in this row$/);
  assert.equal(await report.text(`${section} li:first-child strong`), 'level_1');
  await report.click(`${section} li:nth-child(7) button`);
  assert.equal(await report.active(), 'level_7', 'an inner frame can be selected');
  assert.match(await report.text('.status'), /^level_7 \(one of /);
  const mark = await report.page.locator('.mark.pinned').boundingBox();
  assert.ok(Math.abs(mark.y - y - ROW) < 2, 'the box of the trunk is outlined');
});

reportTest('arrows go by rows: one press leaves a trunk', 'deep', async (report) => {
  await report.press('ArrowDown');
  assert.equal(await report.active(), 'level_1');
  await report.press('ArrowDown');
  const last = Number((await report.active()).replace('level_', ''));
  assert.ok(last > 1000, `level_${last}`);
  await report.press('ArrowUp');
  assert.equal(await report.active(), 'level_1');
  await report.press('ArrowUp');
  assert.equal(await report.active(), 'all');
});

for (const [way, unfold] of /** @type {[string, (report: any) => Promise<void>][]} */ ([
  ['a key', (report) => report.press('g')],
  ['the box in the bar', (report) => report.click('.controls label:has-text("Fold runs") input')],
  [
    'the inspector',
    async (report) => {
      await report.press('ArrowDown');
      await report.click('.inspector button:text-is("Unfold")');
    },
  ],
  [
    'the menu',
    async (report) => {
      const { x, y } = await report.picture();
      await report.page.mouse.click(x + 30, y + 1.5 * ROW, { button: 'right' });
      await report.settle();
      await report.click('[role=menuitemcheckbox]:has-text("Fold runs")');
    },
  ],
]))
  reportTest(`${way} shows all frames, the address holds it, and the key folds them again`, 'deep', async (report) => {
    await unfold(report);
    assert.equal((await report.hash()).tr, '0');
    await report.press('Escape');
    await report.page.keyboard.press('0');
    await report.settle();
    assert.match(await hitIn(report, 3), /^level_3 — /);
    await report.reload();
    await report.press('0');
    assert.match(await hitIn(report, 3), /^level_3 — /);
    await report.press('g');
    assert.equal((await report.hash()).tr, undefined);
    assert.match(await hitIn(report, 1), /^level_1 \(the outermost/);
  });

reportTest('a frame that is searched for outlines its trunk, and is told by its own name', 'deep', async (report) => {
  await report.press('/');
  await report.page.keyboard.type('level_77$');
  await report.press('Enter');
  assert.match(await report.text('.found'), /^1\/1 /);
  assert.equal(await report.active(), 'level_77');
  const { width } = await report.picture();
  const [edge] = await report.pixels([[width / 2, ROW + 1]]);
  assert.deepEqual(edge.slice(0, 3), [192, 38, 211]);
});

reportTest('colours that tell what a frame is stay neutral where the frames of a trunk differ', 'trunks', async (report) => {
  const { width } = await report.picture();
  const at = [[width - 20, 1.5 * ROW], [width - 20, 0.5 * ROW]];
  for (const key of ['2', '3']) {
    await report.press(key, '0');
    const [trunk, root] = await report.pixels(at);
    assert.deepEqual(trunk, root, key);
  }
});
