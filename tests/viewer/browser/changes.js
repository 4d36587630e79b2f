// SPDX-License-Identifier: GPL-3.0-or-later
// The page opens at its first proven change, and keys lead to the others.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** Where the mark of a path and the frame that it leads to are; null where there is no path. @param {any} report */
const path = (report) =>
  report.run(() => {
    const mark = /** @type {HTMLElement} */ (document.querySelector('.path'));
    const { model, picture } = /** @type {any} */ (window).kelvin;
    const node = model.selected >= 0 ? model.selected : picture.opened;
    const { left, top, width, height } = mark.getBoundingClientRect();
    const over = picture.overlay.getBoundingClientRect();
    return mark.hidden || node < 0
      ? null
      : { name: model.nameOf(node), x: left - over.left, y: top - over.top, width, height, box: picture.flame.outline(node) };
  });

/** The names of the changes in their order. @param {any} report @returns {Promise<string[]>} */
const names = (report) =>
  report.run(() => /** @type {any} */ (window).kelvin.model.provenChanges().map((/** @type {any} */ c) => c.f.name));

for (const [kind, viewport] of /** @type {[string, any][]} */ ([
  ['diff', { width: 1280, height: 720 }],
  ['trunks', { width: 1280, height: 720 }],
  ['python', { width: 1280, height: 720 }],
  ['diff', { width: 400, height: 720 }],
]))
  reportTest(
    `"${kind}", ${viewport.width} wide: the first change is on the first screen, wide enough to be seen, and its path is marked`,
    kind,
    async (report) => {
      const [first] = await names(report);
      const { height } = await report.picture();
      const { name, x, y, width, height: length, box } = await path(report);
      assert.equal(name, first);
      assert.ok(box.w >= 39, `${box.w} pixels`);
      assert.ok(box.y >= 0 && box.y + box.h <= height);
      assert.ok(Math.abs(x - box.x) < 2 && Math.abs(width - box.w) < 3 && Math.abs(y + length - box.y) < 2, 'it ends at the frame');
      assert.equal(await report.run(() => location.hash), '');
      assert.match(await report.text('.inspector'), /Proven increases/);
    },
    { context: { viewport } },
  );

/** How far down the picture is. @param {any} report */
const scroll = (report) => report.run(() => /** @type {any} */ (window).kelvin.picture.flame.scroll);

reportTest('where the page opens below the first row, "reset" leads back to it', 'trunks', async (report) => {
  assert.ok((await scroll(report)) > 0);
  await report.click('.crumbs button:text-is("reset")');
  assert.equal(await scroll(report), 0);
  assert.equal(await report.page.locator('.crumbs button:text-is("reset")').count(), 0);
});

reportTest(
  'what the address says comes first',
  'trunks',
  async (report) => {
    assert.equal(await path(report), null);
    assert.equal(await scroll(report), 0);
  },
  { hash: 'c=origin' },
);

reportTest(
  'a change too narrow to be seen is zoomed to; "reset" shows the whole, which is a step of its own, and reloads as such',
  'diff',
  async (report) => {
    const zoom = () => report.run(() => /** @type {any} */ (window).kelvin.model.zoom);
    const opened = await zoom();
    assert.ok(opened > 0);
    assert.equal(await report.run(() => location.hash), '');
    await report.click('.crumbs button:text-is("reset")');
    assert.equal(await zoom(), 0);
    assert.deepEqual(await report.hash(), { z: '' });
    await report.reload();
    assert.equal(await zoom(), 0);
    await report.press('Backspace');
    await report.until(() => location.hash === '');
    assert.equal(await zoom(), opened, 'and an empty address is again what it was');
  },
  { context: { viewport: { width: 280, height: 720 } } },
);

reportTest('. and , go through the proven changes, by keys and by buttons, and tell each', 'diff', async (report) => {
  const all = await names(report);
  assert.equal(await report.text('.steps'), `◀${all.length} changes▶`);
  const said = () => report.text('[role=status][aria-live=polite]');
  for (const [i, name] of all.entries()) {
    await report.press('.');
    assert.equal(await report.active(), name);
    assert.match(await said(), new RegExp(`^proven change ${i + 1} of ${all.length}: ${name} `));
    assert.equal(await report.text('.steps'), `◀change ${i + 1}/${all.length}▶`);
    const { box } = await path(report);
    const { height } = await report.picture();
    assert.ok(box.y >= 0 && box.y + box.h <= height && box.w >= 39);
  }
  await report.press('.');
  assert.equal(await report.active(), all[0], 'round');
  await report.press(',');
  assert.equal(await report.active(), all[all.length - 1]);
  await report.click('[aria-label="Next proven change"]');
  assert.equal(await report.active(), all[0]);
  assert.equal(await report.run(() => document.activeElement?.getAttribute('aria-label')), 'Next proven change');
  await report.press('Escape', '.');
  assert.equal(await report.active(), all[1], 'they go on where they were');
});

reportTest('what is gone is shown among what is gone, and the next change in the widths of head again', 'diff', async (report) => {
  const all = await names(report);
  const gone = all.indexOf('old_cache');
  for (let i = 0; i <= gone; i++) await report.press('.');
  assert.equal(await report.active(), 'old_cache');
  assert.equal((await report.hash()).e, '1');
  await report.press('.');
  assert.equal((await report.hash()).e, undefined);
});

reportTest('under a filter the changes that it leaves nothing of are passed by, and that is said', 'diff', async (report) => {
  const all = await names(report);
  for (let i = 0; i <= all.indexOf('compress'); i++) await report.press('.');
  assert.equal(await report.active(), 'compress');
  await report.press('k', '.');
  assert.equal(await report.active(), 'compress', 'no other is left');
  assert.match(await report.text('[role=status][aria-live=polite]'), / · \d+ passed by: not in this view$/);
  assert.match(await report.text('.steps'), /passed by: not in this view/);
});

reportTest('they go through turned trees, too', 'diff', async (report) => {
  await report.press('i', '.');
  const all = await names(report);
  assert.equal(await report.active(), all[0]);
  assert.ok((await path(report)).box.w > 3);
});

for (const kind of ['same', 'single'])
  reportTest(`"${kind}": where nothing is proven there are no buttons, and the keys do nothing`, kind, async (report) => {
    assert.equal(await report.text('.steps'), '');
    assert.ok(await report.page.locator('.steps').isHidden());
    await report.press('.', ',');
    assert.deepEqual(await report.hash(), {});
    assert.equal(await path(report), null);
  });
