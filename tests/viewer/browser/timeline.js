// SPDX-License-Identifier: GPL-3.0-or-later
// Time: the strip with its brush, the flame chart of a thread, threads as a filter.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { chart } from '../lib/modules.js';

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

const listed = async (/** @type {any} */ report) => {
  await report.openList();
  return report.texts('.grid-row .cell:first-child');
};

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
  await report.point(box.x + box.width / 2, box.y + 9);
  assert.match(await report.text('.status'), /base 1\.5\d s 100 % → head 1\.5\d s/);
  assert.match(await report.text('.chips .chip'), /✕ \d\d(\.\d)?–80\d(\.\d)? ms/);
  await report.page.dblclick('.strip');
  await report.settle();
  assert.ok((await listed(report)).includes('worker'));
  assert.equal((await report.hash()).g, undefined);
});

reportTest('the chip of a range removes it', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => !(/** @type {HTMLElement} */ (document.querySelector('.strip')).hidden));
  await brush(report, 0.6, 0.9);
  await report.click('.chips .chip');
  assert.equal((await report.hash()).g, undefined);
});

reportTest('a thread filters everything', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'io');
  assert.deepEqual((await listed(report)).sort(), ['epoll_wait', 'start_thread', 'wait_io']);
  const box = await report.picture();
  await report.point(box.x + box.width / 2, box.y + 9);
  assert.match(await report.text('.status'), /base 2\.00 s .*head 2\.00 s/);
  await report.select('[aria-label=Thread]', '');
  assert.ok((await listed(report)).includes('work'));
});

/** A row of the axis, the head of a lane, a row of frames, in pixels. */
const { AXIS, HEAD, ROW } = chart;

/** Opens the timeline and waits for its lanes. @param {any} report */
async function openLanes(report) {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.lane-head'));
}

/** Points at a place of the lanes and reads what the page tells of it. @param {any} report @param {number} x part of the width @param {number} y in pixels */
async function toldAt(report, x, y) {
  const box = await report.page.locator('.chart-overlay').boundingBox();
  await report.point(box.x + x * box.width, box.y + y);
  return report.text('.status');
}

const rowAt = (/** @type {number} */ row) => AXIS + HEAD + row * ROW + ROW / 2;

reportTest('a lane shows the frames of its thread in order of time', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'main');
  await openLanes(report);
  assert.match(await toldAt(report, 0.2, rowAt(0)), /^main — from 0\.000 s on, 2\.00 s, in 2,?000 samples of main/);
  assert.match(await toldAt(report, 0.2, rowAt(1)), /^load — from 0\.000 s on, 1\.00 s/);
  assert.match(await toldAt(report, 0.8, rowAt(1)), /^work — from 1\.000 s on, 1\.00 s/);
  await report.page.mouse.down();
  await report.page.mouse.up();
  await report.settle();
  assert.equal(await report.text('.inspector h2'), 'work');
});

reportTest('lanes stand one below the other, base above head, and can be folded', 'timeline', async (report) => {
  await openLanes(report);
  const heads = await report.texts('.lane-head');
  assert.match(heads[0], /base main \(\d+\)/);
  assert.match(heads[1], /head main \(\d+\)/);
  assert.match(await report.text('.caption'), /24 threads, the busiest first/);
  await report.click('.caption button:text-is("Fold all")');
  const folded = await report.texts('.lane-head');
  assert.ok(folded.length > heads.length && folded.every((text) => text.includes('▸')), String(folded));
  await report.page.focus('.lane-head:nth-child(2) button');
  await report.press('Enter');
  assert.match((await report.texts('.lane-head'))[1], /▾ head main/);
  assert.match(await report.run(() => document.activeElement?.textContent), /head main/, 'the focus stays');
  await report.click('.choice button:text-is("Base")');
  assert.ok((await report.texts('.lane-head')).every((text) => text.includes('base')));
});

reportTest('the lanes follow the range and the side', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'worker-2');
  await openLanes(report);
  await report.click('.choice button:text-is("Base")');
  await brush(report, 0.5, 0.6);
  assert.match(await toldAt(report, 0.5, rowAt(1)), /^worker — from 1\.\d+ s on, .* of worker-2/);
  assert.match(await report.text('.chips'), /✕ 1(\.\d+)?–1\.\d+ s/, 'one chip for the time');
  assert.doesNotMatch(await report.text('.caption'), /✕/);
});

reportTest('a brush is one step of the history, and a link has it from the start', 'timeline', async (report) => {
  await openLanes(report);
  const steps = await report.run(() => history.length);
  const box = await report.page.locator('.chart-overlay').boundingBox();
  await report.page.mouse.move(box.x + 0.25 * box.width, box.y + 60);
  await report.page.mouse.down();
  for (const x of [0.3, 0.4, 0.5]) {
    await report.point(box.x + x * box.width, box.y + 60);
  }
  await report.page.mouse.up();
  await report.settle();
  const [from, to] = (await report.hash()).g.split('-').map(Number);
  assert.ok(Math.abs(from - 5e5) < 1e4 && Math.abs(to - 1e6) < 1e4, `${from} to ${to}`);
  assert.equal(await report.run(() => history.length), steps + 1);
  await report.page.goBack();
  await report.settle();
  assert.equal((await report.hash()).g, undefined);
  await report.page.goForward();
  await report.click('.choice button:text-is("Flame")');
  await report.reload();
  assert.ok(await report.page.locator('.strip').isVisible(), 'the brush stands over the picture');
  assert.ok((await listed(report)).includes('load') && !(await listed(report)).includes('work'));
  assert.match(await report.page.locator('.strip').getAttribute('aria-valuetext'), /^0\.5\d* s to 1\.\d+ s of 2\.00 s/);
});

reportTest('keys and the wheel zoom, move and scroll the lanes', 'timeline', async (report) => {
  await openLanes(report);
  const shown = () => report.run(() => /** @type {any} */ (window).kelvin.timeline.shown);
  await report.press('+');
  const [from, to] = await shown();
  assert.ok(to - from < 1.4e6 && from > 3e5);
  await report.press('ArrowRight');
  assert.ok((await shown())[0] > from);
  await report.page.focus('.chart-overlay');
  await report.press('Enter');
  const { g } = await report.hash();
  assert.ok(g, 'Enter selects what is shown');
  await report.press('Escape', '0');
  assert.equal((await report.hash()).g, undefined);
  const box = await report.page.locator('.chart-overlay').boundingBox();
  await report.page.mouse.move(box.x + 0.75 * box.width, box.y + 60);
  await report.page.keyboard.down('Control');
  await report.page.mouse.wheel(0, -400);
  await report.page.keyboard.up('Control');
  await report.settle();
  const [left, right] = await shown();
  assert.ok(right - left < 1.2e6);
  assert.ok(Math.abs(left + 0.75 * (right - left) - 1.5e6) < 2e4, 'the time below the pointer stays');
  const before = await report.texts('.lane-head');
  await report.page.mouse.wheel(0, 1e5);
  await report.settle();
  assert.notDeepEqual(await report.texts('.lane-head'), before);
  await report.press('0');
  assert.deepEqual(await report.texts('.lane-head'), before);
  await report.page.focus('.strip');
  await report.press('ArrowRight', 'ArrowRight', 'Shift+ArrowRight');
  assert.match((await report.hash()).g, /^\d+-\d+$/);
  await report.press('Delete');
  assert.equal((await report.hash()).g, undefined);
});

reportTest('4,500 frames in a timeline: the canvas is no larger than its window, and the last row can be reached', 'deep-timeline', async (report) => {
  await openLanes(report);
  await report.click('.lane-head button:text-matches("all 4.?500 rows")');
  const { canvas, box } = await report.run(() => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.chart'));
    const view = document.querySelector('.chart-overlay').getBoundingClientRect();
    return { canvas: [width, height], box: [view.width, view.height] };
  });
  assert.ok(canvas[0] <= 2 * box[0] && canvas[1] <= 2 * box[1], `${canvas} in ${box}`);
  const drawn = await report.pixels([[box[0] / 2, AXIS + HEAD + ROW / 2]], 'canvas.chart');
  assert.ok(drawn[0][0] < 240, `frames have a colour: ${drawn[0]}`);
  await report.run(() => {
    const { timeline } = /** @type {any} */ (window).kelvin;
    timeline.chart.scroll = timeline.placed[0].rows * 17 + 22 - timeline.chart.room;
    timeline.draw(timeline.state);
  });
  assert.match(await toldAt(report, 0.5, box[1] - ROW / 2), /^level_4500 /);
}, { context: { deviceScaleFactor: 2, viewport: { width: 1280, height: 800 } } });

reportTest('a thread that has a tenth of a CPU has one box for a frame, which is pale between its samples', 'deep-timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'shared');
  await openLanes(report);
  assert.match(await toldAt(report, 0.5056, rowAt(1)), /^step — from 0\.000 s on, 991 ms, in 100 samples of shared/);
  const { width } = await report.page.locator('.chart-overlay').boundingBox();
  const at = (/** @type {number} */ ms) => [(ms / 1000) * width, AXIS + HEAD + ROW + 3];
  const [sampled, between] = await report.pixels([at(500.5), at(505)], 'canvas.chart');
  assert.ok(between[0] > sampled[0] + 20, `${sampled} and ${between}`);
});

reportTest('without a timeline there is no view of it', 'diff', async (report) => {
  assert.ok(!(await report.texts('.choice button')).includes('Timeline'));
  assert.ok(await report.page.locator('.strip').isHidden());
});

reportTest('the strip has a line of requests a second, and tells them', 'requests', async (report) => {
  await openLanes(report);
  assert.match(await report.text('.caption'), /line: up to 210 requests a second/);
  const box = await report.page.locator('.strip').boundingBox();
  const end = await report.run(() => /** @type {any} */ (window).kelvin.timeline.all.end);
  const pointAt = (/** @type {number} */ seconds) => report.point(box.x + ((1e6 * seconds) / end) * box.width, box.y + 20);
  await pointAt(0.5);
  assert.match(await report.text('.status'), /^at 0\.\d+ s: base 30\.0?, head 119 requests a second/);
  await pointAt(1.5);
  assert.match(await report.text('.status'), /base 50\.0?, head 119 requests a second/);
});
