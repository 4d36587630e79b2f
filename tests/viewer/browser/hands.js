// SPDX-License-Identifier: GPL-3.0-or-later
// Pointer, wheel and fingers on the picture.

import assert from 'node:assert/strict';

import { reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';

/** How wide and where the picture is. @param {any} report @returns {Promise<{stretch: number, left: number, scroll: number}>} */
const place = (report) =>
  report.run(() => {
    const { stretch, left, scroll } = /** @type {any} */ (window).kelvin.picture.flame;
    return { stretch, left, scroll };
  });

/** Turns the wheel with a key held down. @param {any} report @param {string} key @param {number} by */
async function wheelWith(report, key, by) {
  await report.page.keyboard.down(key);
  await report.page.mouse.wheel(0, by);
  await report.page.keyboard.up(key);
  await report.settle();
}

/** @param {any} report */
const last = async (report) => (await report.texts('.crumbs .link')).pop();

reportTest('a click selects without zooming, beside all frames it lets go; double click, Enter and 0 zoom', 'diff', async (report) => {
  await report.clickFrame('parse');
  assert.equal(await last(report), 'all');
  assert.equal(await report.text('.inspector h2'), 'parse');
  const box = await report.picture();
  await report.page.mouse.click(box.x + 100, box.y + 14 * ROW);
  await report.settle();
  assert.deepEqual(await report.hash(), {});
  await report.zoomFrame('parse');
  assert.equal(await last(report), 'parse');
  await report.press('Backspace');
  assert.equal(await last(report), 'all', 'the way to the zoom is one step');
  assert.equal(await report.text('.inspector h2'), 'parse');
  await report.press('Enter');
  assert.equal(await last(report), 'parse');
  await report.press('0');
  assert.equal(await last(report), 'all');
});

reportTest('Ctrl and the wheel zoom at the pointer, a drag and Shift with the wheel move, 0 resets', 'diff', async (report) => {
  const { x, y } = await report.middle('parse');
  await report.page.mouse.move(x, y);
  for (let i = 0; i < 6; i++) await wheelWith(report, 'Control', -100);
  const zoomed = await place(report);
  assert.ok(zoomed.stretch > 4, JSON.stringify(zoomed));
  assert.equal(await report.run(() => visualViewport?.scale), 1, 'the browser does not zoom');
  assert.match(await report.text('.status'), /^parse /, 'what is at the pointer stays there');
  const frame = await report.middle('parse');
  const outline = await report.page.locator('.mark').first().boundingBox();
  const picture = await report.picture();
  const left = frame.edge * zoomed.stretch - zoomed.left;
  assert.ok(Math.abs(outline.x - picture.x - Math.max(left, -8)) < 1, `${outline.x - picture.x} for ${left}`);
  await wheelWith(report, 'Shift', 60);
  const shifted = await place(report);
  assert.ok(Math.abs(shifted.left - zoomed.left - 60) < 1, JSON.stringify(shifted));
  await report.page.mouse.move(x, y);
  await report.page.mouse.down();
  await report.page.mouse.move(x + 25, y, { steps: 3 });
  assert.ok(await report.page.locator('.tip').isHidden(), 'nothing in the way of a drag');
  await report.page.mouse.up();
  await report.settle();
  assert.ok(Math.abs((await place(report)).left - shifted.left + 25) < 1);
  assert.deepEqual(await report.hash(), {}, 'a drag is no click');
  await report.press('0');
  assert.deepEqual(await place(report), { stretch: 1, left: 0, scroll: 0 });
  await report.press('+');
  assert.ok((await place(report)).stretch > 1);
  await report.click('.crumbs button:text-is("reset")');
  assert.deepEqual(await place(report), { stretch: 1, left: 0, scroll: 0 });
});

reportTest('from a zoomed frame the wheel leads out to what is around it', 'diff', async (report) => {
  await report.zoomFrame('lex');
  const { x, y } = await report.middle(known.frameOf('lex'), 1, known.frameOf('lex'));
  await report.page.mouse.move(x, y);
  await wheelWith(report, 'Control', 10);
  assert.equal(await last(report), 'all');
  const out = await place(report);
  const part = known.placeOf(known.frameOf('lex'), 1).w;
  assert.ok(out.stretch > 1 && out.stretch < 1 / part, JSON.stringify(out));
  await report.point(x + 1, y);
  assert.match(await report.text('.status'), /^lex /);
});

reportTest('0 scrolls back to the first row', 'deep', async (report) => {
  const { x, y } = await report.picture();
  await report.page.mouse.move(x + 50, y + 50);
  await report.page.mouse.wheel(0, 5000);
  await report.settle();
  assert.ok((await place(report)).scroll > 4000);
  await report.press('0');
  assert.equal((await place(report)).scroll, 0);
}, { hash: 'tr=0' });

reportTest('a tooltip tells name, self, total and verdict, and never leaves the window', 'diff', async (report) => {
  const tip = report.page.locator('.tip');
  assert.ok(await tip.isHidden());
  await report.hover('parse');
  const text = await tip.innerText();
  assert.match(text, /^parse\n/);
  assert.match(text, /self\s+400 ms → 900 ms\s+2\.25×/);
  assert.match(text, /total\s+1\.23 s → 2\.23 s\s+\+81\.3 %/);
  assert.match(text, /takes more time\s*its function takes more time itself$/);
  const { x, y, width } = await report.picture();
  for (const [left, top] of [
    [x + 3, y + 5],
    [x + width - 2, y + 5],
    [x + width - 2, y + 2.5 * ROW],
  ]) {
    await report.point(left, top);
    const box = await tip.boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 800, JSON.stringify(box));
    const beside = left < box.x || left > box.x + box.width || top < box.y || top > box.y + box.height;
    assert.ok(beside, 'not in the way of the pointer');
  }
  await report.point(1270, 5);
  assert.ok(await tip.isHidden());
});

reportTest('a tooltip shows hostile names as text', 'hostile', async (report) => {
  const { x, y, width } = await report.picture();
  for (let i = 0; i < 12; i++) {
    await report.page.mouse.move(x + (width * (i + 0.5)) / 12, y + 1.5 * ROW);
    assert.equal(await report.run(() => document.querySelectorAll('.tip :not(p, bdi, table, tbody, tr, th, td)').length), 0);
  }
  assert.ok((await report.text('.tip .name')).length > 0);
});

reportTest(
  'two fingers zoom where they are',
  'diff',
  async (report) => {
    const { x, y } = await report.middle('parse');
    const client = await report.page.context().newCDPSession(report.page);
    const touch = (/** @type {string} */ type, /** @type {number} */ apart) =>
      client.send('Input.dispatchTouchEvent', {
        type: /** @type {any} */ (type),
        touchPoints: apart ? [x - apart, x + apart].map((at, id) => ({ x: at, y, id })) : [],
      });
    await touch('touchStart', 10);
    for (const apart of [12, 20, 30]) await touch('touchMove', apart);
    await touch('touchEnd', 0);
    await report.settle();
    const { stretch, left } = await place(report);
    assert.ok(stretch > 2 && stretch < 4, `${stretch}`);
    const at = x - (await report.picture()).x;
    assert.ok(Math.abs(left + at - at * stretch) < 15, 'the frame between the fingers stays there');
    assert.equal(await report.run(() => visualViewport?.scale), 1);
  },
  { context: { hasTouch: true } },
);
