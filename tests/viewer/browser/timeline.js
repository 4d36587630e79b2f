// SPDX-License-Identifier: GPL-3.0-or-later
// Time: the strip with its brush, the flame chart of a thread, threads as a filter.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** @param {any} report @param {number} from @param {number} to parts of the strip */
async function brush(report, from, to) {
  const box = await report.page.locator('.strip').boundingBox();
  await report.page.mouse.move(box.x + from * box.width, box.y + 20);
  await report.page.mouse.down();
  await report.page.mouse.move(box.x + ((from + to) / 2) * box.width, box.y + 20);
  await report.page.mouse.move(box.x + to * box.width, box.y + 20);
  await report.page.mouse.up();
  await report.settle();
}

const listed = (/** @type {any} */ report) => report.texts('.grid-row .cell:first-child');

reportTest('the strip shows both sides over time', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => !(/** @type {HTMLElement} */ (document.querySelector('.strip')).hidden));
  const { width, height } = await report.page.locator('.strip').boundingBox();
  const [early, late, air] = await report.pixels(
    [
      [width * 0.25, height - 3],
      [width * 0.75, height - 3],
      [width * 0.25, 8],
    ],
    'canvas.strip',
  );
  assert.ok(early[3] > 100 && late[3] > 100, 'busy all the time');
  assert.equal(air[3], 0, 'the first half is calmer: the workers run in the second');
});

reportTest('a brush filters the picture, the list and every figure; a double click lets go', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => !(/** @type {HTMLElement} */ (document.querySelector('.strip')).hidden));
  await brush(report, 0.02, 0.4);
  const { g } = await report.hash();
  const [from, to] = g.split('-').map(Number);
  assert.ok(Math.abs(from - 4e4) < 2e4 && Math.abs(to - 8e5) < 2e4, g);
  await report.click('.choice button:text-is("Flame")');
  const names = await listed(report);
  assert.ok(names.includes('load') && !names.includes('work') && !names.includes('worker'), String(names));
  const box = await report.picture();
  await report.page.mouse.move(box.x + box.width / 2, box.y + 9);
  await report.settle();
  assert.match(await report.text('.status'), /base 1\.5\d s 100\.0 % → head 1\.5\d s/);
  assert.match(await report.text('.controls .chip'), /0\.0\d–0\.80 s/);
  await report.page.dblclick('.strip');
  await report.settle();
  assert.ok((await listed(report)).includes('worker'));
  assert.equal((await report.hash()).g, undefined);
});

reportTest('the chip of a range removes it', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => !(/** @type {HTMLElement} */ (document.querySelector('.strip')).hidden));
  await brush(report, 0.6, 0.9);
  await report.click('.controls .chip');
  assert.equal((await report.hash()).g, undefined);
});

reportTest('a thread filters everything', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'io');
  assert.deepEqual((await listed(report)).sort(), ['epoll_wait', 'start_thread', 'wait_io']);
  const box = await report.picture();
  await report.page.mouse.move(box.x + box.width / 2, box.y + 9);
  await report.settle();
  assert.match(await report.text('.status'), /base 2\.00 s .*head 2\.00 s/);
  await report.select('[aria-label=Thread]', '');
  assert.ok((await listed(report)).includes('work'));
});

reportTest('the chart shows the chosen thread in order of time', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'main');
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.chart-host .caption')?.textContent?.includes('main'));
  const box = await report.page.locator('canvas.chart').boundingBox();
  const at = async (/** @type {number} */ x, /** @type {number} */ row) => {
    await report.page.mouse.move(box.x + x * box.width, box.y + row * 16 + 8);
    await report.settle();
    return report.text('.status');
  };
  assert.match(await at(0.2, 0), /^main — at 0\.000 s, sampled over (2000|1999) ms/);
  assert.match(await at(0.2, 1), /^load — at 0\.000 s, sampled over (1000|999) ms/);
  assert.match(await at(0.8, 1), /^work — at 1\.000 s, sampled over (1000|999) ms/);
  await report.page.mouse.click(box.x + 0.8 * box.width, box.y + 24);
  await report.settle();
  assert.equal(await report.text('.inspector h2'), 'work');
});

reportTest('the chart goes from thread to thread, also of the same name', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.chart-host .caption button'));
  const shown = async () => (await report.text('.caption')).split('. ')[0];
  const threads = Number(/ of (\d+) threads/.exec(await shown())?.[1]);
  assert.ok(threads > 2, await shown());
  const seen = new Set([(await shown()).split(',')[0]]);
  assert.ok(await report.page.locator('[aria-label="Busier thread"]').isDisabled());
  for (let i = 1; i < threads; i++) {
    await report.click('[aria-label="Less busy thread"]');
    seen.add((await shown()).split(',')[0]);
  }
  assert.equal(seen.size, threads);
  assert.ok(await report.page.locator('[aria-label="Less busy thread"]').isDisabled());
  await report.select('[aria-label=Thread]', 'main');
  assert.doesNotMatch(await shown(), /threads/);
});

reportTest('the chart follows the range and the side', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'worker-2');
  await report.click('.choice button:text-is("Timeline")');
  await report.click('.choice button:text-is("Base")');
  await report.until(() => document.querySelector('.chart-host .caption')?.textContent?.includes('of base'));
  await brush(report, 0.5, 0.6);
  const box = await report.page.locator('canvas.chart').boundingBox();
  await report.page.mouse.move(box.x + box.width / 2, box.y + 24);
  await report.settle();
  assert.match(await report.text('.status'), /^worker — at 1\.0\d\d s/);
});

reportTest('without a timeline there is no view of it', 'diff', async (report) => {
  assert.ok(!(await report.texts('.choice button')).includes('Timeline'));
  assert.ok(await report.page.locator('.strip').isHidden());
});
