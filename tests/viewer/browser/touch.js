// SPDX-License-Identifier: GPL-3.0-or-later
// For fingers: how large everything is, what a long press does, and that what a mouse finds by pointing is found by tapping.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { fingerOf } from '../lib/finger.js';

/** The middle of an element. @param {any} report @param {string} selector */
async function middleOf(report, selector) {
  const { x, y, width, height } = await report.page.locator(selector).first().boundingBox();
  return /** @type {[number, number]} */ ([x + width / 2, y + height / 2]);
}

/** Runs in the page: controls that are smaller than they must be. @param {number} least */
function tooSmall(least) {
  const controls = 'button, select, input, a, summary, [role=columnheader], [role=slider], [role=tree], [role=grid], .grid-row, .thumb, .splitter';
  const out = [];
  for (const e of document.querySelectorAll(controls)) {
    if (!e.checkVisibility() || e.matches('.skip') || getComputedStyle(e).pointerEvents === 'none') continue;
    const own = (e.closest('label.toggle, .grid-row') || e).getBoundingClientRect();
    // What reaches beyond an element is a part of it.
    const around = e.matches('.splitter') ? -2 * parseFloat(getComputedStyle(e, '::before').top) : 0;
    const [width, height] = [own.width, own.height + around];
    if (!width || !height || own.bottom < 0) continue;
    if (Math.min(width, height) < least - 0.5)
      out.push(`${e.tagName.toLowerCase()}.${e.className} "${(e.textContent || '').slice(0, 20)}" ${width.toFixed(0)} × ${height.toFixed(0)}`);
  }
  return out;
}

/** Opens what the page has. @param {any} report @param {string} kind */
async function everything(report, kind) {
  if (/^(suite|history)/.test(kind)) return;
  await report.openList();
  await report.press('ArrowDown', 'ArrowDown', 'k');
  await report.page.fill('[data-keep=search]', 'a');
  await report.until(() => document.querySelector('.found'));
}

for (const [hasTouch, least] of /** @type {[boolean, number][]} */ ([
  [false, 24],
  [true, 44],
]))
  for (const [width, height] of [
    [1280, 800],
    [800, 1000],
    [390, 780],
  ])
    for (const kind of ['timeline', 'waits', 'suite', 'history'])
      reportTest(
        `every control is ${least} pixels wide and high, ${hasTouch ? 'by finger' : 'by mouse'}, "${kind}", ${width} pixels`,
        kind,
        async (report) => {
          await everything(report, kind);
          assert.deepEqual(await report.run(tooSmall, least), [], 'as it opens');
          if (/^(suite|history)/.test(kind)) return;
          if (await report.page.locator('.opens-more').isVisible()) {
            await report.click('.opens-more');
            assert.deepEqual(await report.run(tooSmall, least), [], 'more controls');
          }
        },
        { context: { hasTouch, isMobile: hasTouch, viewport: { width, height } } },
      );

const finger = { context: { hasTouch: true, isMobile: true, viewport: { width: 800, height: 1000 } } };

reportTest(
  'a long press opens the menu of a frame, and its entries are tapped',
  'diff',
  async (report) => {
    const { longPress, tap } = await fingerOf(report);
    const { x, y } = await report.middle('parse');
    await longPress(x, y);
    assert.ok(await report.page.locator('.menu').isVisible());
    assert.equal(await report.text('.menu-title'), 'parse');
    const box = await report.page.locator('.menu').boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 800 && box.y + box.height <= 1000, JSON.stringify(box));
    await tap(...(await middleOf(report, '.menu button')));
    assert.match(await report.text('.filters .chip'), /only stacks with parse/);
    assert.ok(await report.page.locator('.menu').isHidden());
  },
  finger,
);

reportTest(
  'what a search found is filtered by with a tap',
  'diff',
  async (report) => {
    const { tap } = await fingerOf(report);
    await report.page.fill('[data-keep=search]', 'parse|lex');
    await report.until(() => document.querySelector('.matches [aria-haspopup]'));
    await tap(...(await middleOf(report, '.matches [aria-haspopup]')));
    assert.ok(await report.page.locator('.menu').isVisible());
    await tap(...(await middleOf(report, '.menu button')));
    assert.match(await report.text('.filters .chip'), /only stacks with “parse\|lex”/);
  },
  finger,
);

reportTest(
  'a long press on a row of the list opens its menu; a press that moves, and a short one, do not',
  'diff',
  async (report) => {
    const { longPress, tap } = await fingerOf(report);
    await report.openList();
    const row = await middleOf(report, '.grid-row');
    await tap(...row);
    assert.ok(await report.page.locator('.menu').isHidden());
    await longPress(...row);
    assert.ok(await report.page.locator('.menu').isVisible());
    await report.press('Escape');
    const client = await report.page.context().newCDPSession(report.page);
    const { x, y } = await report.middle('parse');
    const send = (/** @type {any} */ type, /** @type {any[]} */ touchPoints) => client.send('Input.dispatchTouchEvent', { type, touchPoints });
    await send('touchStart', [{ x, y }]);
    await send('touchMove', [{ x: x - 30, y: y + 3 }]);
    await report.page.waitForTimeout(650);
    await send('touchEnd', []);
    assert.ok(await report.page.locator('.menu').isHidden());
  },
  finger,
);

for (const [width, height] of [
  [800, 1000],
  [390, 780],
])
  reportTest(
    `a tap tells what pointing tells: the inspector is in the window, ${width} pixels`,
    'diff',
    async (report) => {
      const { tap } = await fingerOf(report);
      const { x, y } = await report.middle('parse');
      await tap(x, y);
      assert.equal(await report.text('.inspector h2'), 'parse');
      for (const text of ['.inspector h2', '.inspector .badge']) {
        const box = await report.page.locator(text).first().boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= height && box.x + box.width <= width, `${text}: ${JSON.stringify(box)}`);
      }
      assert.match(await report.text('.inspector'), /400 ms.*900 ms/s);
    },
    { hash: 'z=', context: { hasTouch: true, isMobile: true, viewport: { width, height } } },
  );

reportTest(
  'a long press tells the hint of a control, the next touch takes it away; the help is a button',
  'timeline',
  async (report) => {
    const { longPress, tap } = await fingerOf(report);
    await longPress(...(await middleOf(report, '.legend button.key')));
    assert.match(await report.text('.told'), /a click keeps the colour/);
    assert.ok(await report.page.locator('.told').isVisible());
    assert.deepEqual(await report.hash(), {}, 'it is no tap');
    await tap(...(await middleOf(report, '[aria-label=Help]')));
    assert.ok(await report.page.locator('.told').isHidden());
    assert.ok(await report.page.locator('dialog').isVisible());
    assert.match(await report.text('dialog'), /long press/);
  },
  finger,
);

reportTest('keys that move the focus tell the hint of what gets it; any other key takes it away', 'diff', async (report) => {
  await report.page.focus('[aria-label=Colour]');
  await report.press('ArrowRight');
  assert.match(await report.text('.told'), /system code: the kernel/);
  const box = await report.page.locator('.told').boundingBox();
  assert.ok(box.x >= 0 && box.y >= 0);
  await report.page.keyboard.press('Space');
  assert.ok(await report.page.locator('.told').isHidden());
});
