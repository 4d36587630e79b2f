// SPDX-License-Identifier: GPL-3.0-or-later
// A recording of waits: its metrics, the row of classes, the colours, the inspector and the timeline.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { colour } from '../lib/modules.js';
import { readPage } from '../lib/pages.js';

const METRIC = '[aria-label=Metric]';
/** The number of a class. */
const LOCK = 1;
const WAITS = '[aria-label="Waits by class"]';

/** @param {any} report */
const classes = (report) => report.texts(`${WAITS} .chip`);

reportTest('metrics have names in words, the tested one first; zoom and selection stay', 'waits', async (report) => {
  assert.deepEqual(await report.texts(`${METRIC} option`), [
    'wall-clock time',
    'samples, untested',
    'CPU time, untested',
    'waiting time, untested',
    'idle time, untested',
  ]);
  assert.match(await report.text('.verdict'), /shown: wall-clock time 1\.06 s → 1\.46 s/);
  const { x, y } = await report.placeOf('serve');
  await report.page.mouse.dblclick(x, y);
  await report.settle();
  await report.clickNamed('get');
  await report.select(METRIC, 'off-cpu');
  assert.match(await report.text('.verdict'), /shown: waiting time 950 ms → 1\.35 s/);
  assert.equal(await report.text('.crumbs [aria-current=true]'), 'serve');
  assert.equal(await report.text('.inspector h2'), 'get');
  assert.ok(!(await report.texts('.inspector li')).some((text) => text.startsWith('compute')), 'it waits for nothing');
});

reportTest('classes of waits are left out and shown alone, which the address keeps', 'waits', async (report) => {
  assert.deepEqual(await classes(report), ['lock 68.7 %', 'timer 20.6 %', 'CPU time 7.3 %', 'io 3.4 %', 'idle (off)']);
  await report.click(`${WAITS} .chip:has-text("lock")`);
  assert.deepEqual(await classes(report), ['lock (off)', 'timer 20.6 %', 'CPU time 7.3 %', 'io 3.4 %', 'idle (off)']);
  const { w } = await report.hash();
  assert.match(w, /^w/);
  assert.match(await report.text('.verdict'), /shown: wall-clock time 456 ms → 456 ms/);
  await report.click('[aria-label="only timer"]');
  assert.match(await report.text('.verdict'), /300 ms → 300 ms/);
  assert.equal(await report.page.getAttribute('[aria-label="only timer"]', 'aria-pressed'), 'true');
  await report.page.goBack();
  await report.settle();
  assert.equal((await report.hash()).w, w);
  await report.click(`${WAITS} .idle`);
  assert.deepEqual(await report.hash(), { w, m: 'idle' });
  assert.deepEqual(await classes(report), ['idle 100 %']);
});

reportTest(
  'the colour of waiting, its legend, and the mark of what is no code',
  'waits',
  async (report) => {
    const legend = await report.texts('.legend .key');
    assert.deepEqual(legend, ['CPU time 7.3 %', 'lock 68.7 %', 'timer 20.6 %', 'io 3.4 %']);
    const box = await report.picture();
    const { x, y } = await report.placeOf('get');
    const [seen] = await report.pixels([[x - box.x + 40, y - box.y - 6]]);
    assert.deepEqual([...seen.slice(0, 3)], colour.rgb(readPage('waits').meta.waits.classes[LOCK].colour));
    const hatched = await report.run(() => {
      const { model, picture } = /** @type {any} */ (window).kelvin;
      return picture.flame.decorated.filter((/** @type {any} */ d) => d.texture).map((/** @type {any} */ d) => model.nameOf(d.node));
    });
    assert.deepEqual(new Set(hatched), new Set(['[waiting: lock]', '[waiting: timer]', '[waiting: io]']));
    await report.press('s');
    assert.ok(await report.placeOf('[waiting: lock]'));
  },
  { hash: 'c=waiting' },
);

reportTest('the inspector tells what for, of which lock and who released it', 'waits', async (report) => {
  await report.clickNamed('get');
  await report.until(() => /Released by/.test(document.querySelector('.inspector')?.textContent || ''));
  const text = await report.text('.inspector');
  assert.match(text, /lock600 ms → 1\.00 s/);
  assert.match(text, /cache_mutex · one function waits for it[^→]* → 1\.00 s/);
  assert.match(text, /Released byevict[^→]* → 1\.00 s/);
  await report.click('.inspector button:has-text("evict")');
  assert.equal(await report.text('.inspector h2'), 'evict');
});

reportTest(
  'in the timeline a wait is a box in the colour of its class, and tells who ended it',
  'waits',
  async (report) => {
    await report.until(() => !!document.querySelector('.lane-head'));
    const heads = await report.texts('.lane-head button:first-child');
    assert.match(heads[1], /head worker .* 105 ms on a CPU, 1\.30 s waiting/);
    assert.match(heads[heads.length - 1], /^▸ .*idler .* 1\.50 s waiting/, 'it only waits: folded');
    const box = await report.run(() => {
      const { x, y, width } = document.querySelector('.chart-overlay').getBoundingClientRect();
      return { x, y, width };
    });
    const head = await report.page.locator('.lane-head').nth(1).boundingBox();
    // The fourth row of head's worker, in the middle of the second that it waits for.
    await report.point(box.x + box.width * 0.4, head.y + 22 + 2.5 * 17);
    assert.match(await report.text('.status'), /^get — .* · waits 1\.00 s for a lock in get; released by evict$/);
    assert.ok((await report.texts('.legend .key')).some((text) => text === 'waits: lock'));
  },
  { hash: 't=timeline', context: { viewport: { width: 1280, height: 1200 } } },
);
