// SPDX-License-Identifier: GPL-3.0-or-later
// The order of siblings, and the picture with its root at the bottom.

import assert from 'node:assert/strict';

import { reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';

const IN_MAIN = [...new Set(known.STACKS.filter(([path]) => path[1] === 'main').map(([path]) => path[2]))];
const MAIN_ROW = 3;

/** The frames below main that are wide enough to be pointed at, in an order, from left to right. @param {string[]} names @param {number} width */
function wideOf(names, width) {
  let left = 0;
  return names
    .map((name) => {
      const w = (known.totalOf(name)[1] / known.TOTAL[1]) * width;
      left += w;
      return { name, w, middle: left - w / 2 };
    })
    .filter(({ w }) => w >= 3);
}

/** Points at the middle of frames of a row, and reads their names. @param {any} report @param {number[]} middles @param {number} row */
async function namesAt(report, middles, row) {
  const box = await report.picture();
  const out = [];
  for (const middle of middles) {
    await report.point(box.x + middle, box.y + (row + 0.5) * ROW);
    out.push((await report.text('.status')).split(' ')[0]);
  }
  return out;
}

reportTest('o sorts siblings by size and by change; the address and Back know it', 'diff', async (report) => {
  const { width } = await report.picture();
  const size = (/** @type {string} */ name) => Math.max(...known.totalOf(name));
  const bySize = [...IN_MAIN].sort((a, b) => size(b) - size(a) || (a < b ? -1 : 1));
  const chosen = () => report.run(() => document.querySelector('select[aria-label=Order]').value);
  await report.press('o');
  assert.deepEqual([await chosen(), await report.hash()], ['size', { d: 'size' }]);
  const wide = wideOf(bySize, width);
  assert.deepEqual(
    await namesAt(report, wide.map(({ middle }) => middle), MAIN_ROW),
    wide.map(({ name }) => name),
  );
  await report.press('o');
  assert.deepEqual([await chosen(), await report.hash()], ['change', { d: 'change' }]);
  // +100, -80 and +70 ms a run.
  const changed = ['parse', 'compress', 'new_audit'];
  const middles = wideOf(changed, width).map(({ middle }) => middle);
  assert.deepEqual(await namesAt(report, middles, MAIN_ROW), changed);
  await report.press('Backspace');
  await report.until(() => location.hash === '#d=size');
  await report.press('Backspace');
  await report.until(() => !location.hash);
  assert.equal(await chosen(), 'name');
  // By name in the tree of calls, by size where functions that run stand side by side.
  await report.press('i');
  assert.deepEqual([await chosen(), await report.hash()], ['size', { i: '1' }]);
});

reportTest(
  'f puts the root at the bottom: pointer, arrows, search and the picture follow',
  'diff',
  async (report) => {
    assert.deepEqual(await report.run(() => document.querySelector('[aria-label=Flip]').ariaPressed), 'true');
    const { x, y, width, height } = await report.picture();
    const path = known.frameOf('lex');
    const place = known.placeOf(path, 1);
    const rise = (/** @type {number} */ depth) => height - depth * ROW - ROW / 2;
    const at = { left: (place.x + place.w / 2) * width, top: rise(place.depth) };
    await report.page.mouse.click(x + at.left, y + at.top);
    await report.settle();
    assert.equal(await report.active(), 'lex');
    const [red, , blue] = (await report.pixels([[place.x * width + 3, at.top - 5]]))[0];
    assert.ok(red > 2 * blue, 'it takes more time, which is orange');
    await report.press('ArrowDown');
    assert.equal(await report.active(), 'parse');
    await report.press('ArrowUp', 'Enter');
    assert.deepEqual((await report.texts('.crumbs .link')).pop(), 'lex');
    assert.ok(await report.run(() => !document.querySelector('.mark.pinned').hidden));
    const mark = await report.run(() => document.querySelector('.mark.pinned').getBoundingClientRect().top);
    assert.ok(Math.abs(mark - (y + at.top - ROW / 2)) < 2, 'the outline lies on the frame');
    await report.press('f');
    assert.equal((await report.hash()).b, undefined);
    assert.equal(await report.run(() => document.querySelector('[aria-label=Flip]').ariaPressed), 'false');
  },
  { hash: 'b=1' },
);

reportTest(
  'with its root at the bottom a deep tree scrolls up, and nothing lies below it',
  'deep',
  async (report) => {
    const { x, y, width, height } = await report.picture();
    await report.point(x + width / 2, y + height - ROW / 2);
    assert.match(await report.text('.status'), /^all /);
    await report.page.mouse.wheel(0, 1e6);
    await report.settle();
    await report.point(x + width / 2 + 1, y + height - ROW / 2);
    assert.match(await report.text('.status'), /^all /);
    await report.page.mouse.wheel(0, -1e6);
    await report.settle();
    await report.point(x + width / 2, y + ROW / 2);
    assert.match(await report.text('.status'), /^level_2000 /);
    const thumb = await report.run(() => document.querySelector('.flame-host .thumb').getBoundingClientRect().top);
    assert.ok(Math.abs(thumb - y) < 2, 'the scroll bar is at the top');
  },
  { hash: 'b=1&tr=0' },
);
