// SPDX-License-Identifier: GPL-3.0-or-later
// Callers above and callees below one function, in one picture.

import assert from 'node:assert/strict';

import { near, reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';

/** What the status says of the frame at a place of the picture. @param {any} report @param {number} x part of the width @param {number} y pixels from the top */
async function frameAt(report, x, y) {
  const box = await report.picture();
  await report.point(box.x + box.width * x, box.y + y);
  return (await report.text('.status')).split(' — ')[0];
}

/** Where the function between the two lies, in pixels from the top. @param {any} report @returns {Promise<number>} */
function middleRow(report) {
  return report.run(() => -(/** @type {any} */ (window).kelvin.picture.flame.scroll));
}

reportTest(
  'callers stand above a function, callees below it, and all are as wide as their part of its time',
  'diff',
  async (report) => {
    await report.clickFrame('parse');
    await report.click('.inspector button:text-is("Callers and callees")');
    assert.ok((await report.text('.chips')).includes('callers and callees of parse'));
    const middle = (await middleRow(report)) + ROW / 2;
    const above = ['main', '__libc_start_main'];
    assert.equal(await frameAt(report, 0.5, middle), 'parse');
    for (const [i, name] of above.entries()) assert.equal(await frameAt(report, 0.5, middle - (i + 1) * ROW), name);
    // Callees in the order of their keys: lex, malloc; then what parse takes itself.
    const [, total] = known.totalOf('parse');
    const lex = known.sumOf((path) => path.includes('lex'))[1] / total;
    const malloc = known.sumOf((path) => path.includes('parse') && path.includes('malloc'))[1] / total;
    assert.equal(await frameAt(report, lex / 2, middle + ROW), 'lex');
    assert.equal(await frameAt(report, lex + malloc / 2, middle + ROW), 'malloc');
    const box = await report.picture();
    const y = middle + ROW - ROW / 2 + 2;
    const [background, filled] = await report.pixels([
      [box.width * (lex + malloc + 0.1), y],
      [box.width * (lex / 2), y],
    ]);
    assert.ok(near(background, [255, 255, 255]), 'its own time has nothing below it');
    assert.ok(!near(filled, [255, 255, 255]));
  },
);

reportTest(
  'x goes there and back; arrows walk up to callers and down to callees; the address keeps it',
  'diff',
  async (report) => {
    await report.clickFrame('malloc');
    await report.press('x');
    const { k, l } = await report.hash();
    assert.ok(k && k === l);
    assert.equal(await report.active(), 'malloc', 'the function itself is selected');
    assert.equal(await report.text('.inspector h2'), 'malloc');
    await report.press('ArrowUp', 'ArrowUp');
    assert.equal(await report.active(), 'main');
    await report.press('Enter');
    assert.equal((await report.texts('.crumbs .link')).pop(), 'main');
    const hash = await report.run(() => location.hash);
    await report.reload();
    assert.equal(await report.run(() => location.hash), hash);
    assert.equal((await report.texts('.crumbs .link')).pop(), 'main');
    assert.equal(await report.active(), 'main');
    await report.press('0', 'ArrowDown', 'ArrowDown');
    assert.equal(await report.active(), 'malloc');
    await report.press('ArrowDown');
    assert.equal(await report.active(), '_int_malloc');
    await report.press('x');
    assert.deepEqual(Object.keys(await report.hash()), []);
  },
);

reportTest('a search counts stacks through callers and callees once', 'diff', async (report) => {
  await report.clickFrame('malloc');
  await report.press('x');
  await report.page.fill('[type=search][data-keep=search]', 'main|_int_malloc');
  await report.until(() => document.querySelector('.found'));
  const ofAll = (/** @type {string} */ name) => ((100 * known.totalOf(name)[1]) / known.TOTAL[1]).toFixed(1);
  assert.ok((await report.text('.found')).endsWith(`· ${ofAll('malloc')} %`), await report.text('.found'));
  await report.page.fill('[type=search][data-keep=search]', 'page_fault');
  const share = ofAll('page_fault');
  await report.until((/** @type {string} */ part) => document.querySelector('.found')?.textContent?.includes(part), share);
});

reportTest('shares stay those of the whole around a function', 'diff', async (report) => {
  await report.openList();
  const shares = async () => ({
    status: (await report.text('.status')).split(' — ')[1],
    inspector: await report.texts('.inspector section:first-of-type table td'),
    legend: (await report.texts('.legend > .dim')).pop(),
    list: await report.run(() =>
      [...document.querySelectorAll('.grid-row')].map((row) => /** @type {HTMLElement} */ (row.children[3]).textContent),
    ),
  });
  await report.clickFrame('parse');
  const { x, y } = await report.picture();
  await report.point(x, y - 5);
  const before = await shares();
  await report.press('x');
  assert.deepEqual(await shares(), before);
});

reportTest(
  'callers of a function that this report lacks are left out',
  'diff',
  async (report) => {
    assert.equal(await report.page.locator('.chips .chip').count(), 0);
    assert.match(await report.text('#active-frame'), /^all/);
  },
  { hash: 'k=zzzzzz&l=zzzzzz' },
);
