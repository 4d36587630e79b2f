// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline below the flame graph as one picture: one brush, one selection; a range that is typed, a thread that is
// chosen.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { chart } from '../lib/modules.js';

const { AXIS, HEAD, ROW } = chart;
const FIELD = '.caption input';

/** @param {any} report */
async function openLanes(report) {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.lane-head'));
}

/** Types a range of time. @param {any} report @param {string} text */
async function typeRange(report, text) {
  await report.page.fill(FIELD, text);
  await report.press('Enter');
}

/** The names and widths of the frames below the root of the flame graph. @param {any} report @returns {Promise<string>} */
const drawn = (report) =>
  report.run(() => {
    const { model } = /** @type {any} */ (window).kelvin;
    return JSON.stringify([...model.callTree.total[0], ...model.callTree.total[1]]);
  });

reportTest('the flame graph stands above the lanes, and a bar between them gives one more room', 'timeline', async (report) => {
  await openLanes(report);
  const heights = () =>
    report.run(() => ['.flame-host', '.chart-view'].map((one) => document.querySelector(one).getBoundingClientRect().height));
  const [flame, lanes] = await heights();
  assert.ok(flame >= 120 && lanes >= 120, `${flame} and ${lanes}`);
  const bar = report.page.locator('.splitter:has(+ .chart-host)');
  const { x, y, width } = await bar.boundingBox();
  await report.page.mouse.move(x + width / 2, y + 2);
  await report.page.mouse.down();
  await report.page.mouse.move(x + width / 2, y + 42);
  await report.page.mouse.up();
  await report.settle();
  const [taller, lower] = await heights();
  assert.ok(Math.abs(taller - flame - 40) <= 4 && Math.abs(lanes - lower - 40) <= 4, `${taller} and ${lower}`);
  await bar.focus();
  await report.press('ArrowUp');
  assert.ok((await heights())[1] > lower);
  assert.match(await bar.getAttribute('aria-label'), /timeline/);
  await report.page.setViewportSize({ width: 800, height: 600 });
  await report.settle();
  const small = await heights();
  assert.ok(Math.min(...small) >= 80, `both are seen in a small window: ${small}`);
  const { below, foot } = await report.run(() => ({
    below: document.querySelector('.chart-view').getBoundingClientRect().bottom,
    foot: document.querySelector('footer').getBoundingClientRect().top,
  }));
  assert.ok(below <= foot + 1, `${below} over the legend at ${foot}`);
});

reportTest('one brush changes both', 'timeline', async (report) => {
  await openLanes(report);
  const before = await drawn(report);
  const box = await report.page.locator('.strip').boundingBox();
  await report.page.mouse.move(box.x + 0.1 * box.width, box.y + 20);
  await report.page.mouse.down();
  await report.point(box.x + 0.4 * box.width, box.y + 20);
  const during = await drawn(report);
  assert.notEqual(during, before, 'while it is dragged');
  await report.page.mouse.up();
  const { shown, range } = await report.run(() => {
    const { timeline, state } = /** @type {any} */ (window).kelvin;
    return { shown: timeline.shown, range: state.range };
  });
  assert.deepEqual(shown, range);
});

reportTest('a frame that is selected in one is marked in the other', 'timeline', async (report) => {
  await report.select('[aria-label=Thread]', 'main');
  await openLanes(report);
  const marks = () =>
    report.run(() => /** @type {any} */ (window).kelvin.timeline.chart.marks.map(({ x, w, y }) => [x, w, y].map(Math.round)));
  assert.deepEqual(await marks(), []);
  const lanes = await report.page.locator('.chart-overlay').boundingBox();
  await report.page.mouse.click(lanes.x + 0.75 * lanes.width, lanes.y + AXIS + HEAD + 1.5 * ROW);
  await report.settle();
  assert.equal(await report.text('.inspector h2'), 'work');
  assert.equal(await report.active(), 'work', 'it is selected in the flame graph');
  assert.ok(await report.page.locator('.mark.pinned').first().isVisible());
  const [first, second] = await marks();
  assert.ok(Math.abs(first[0] - lanes.width / 2) < 3 && Math.abs(first[1] - lanes.width / 2) < 3, `${first}`);
  assert.ok(second[2] > first[2], 'in base and in head');
  await report.clickNamed('load');
  assert.equal((await marks())[0][0], 0);
  await report.press('i');
  assert.ok((await marks()).length > 0 || (await report.active()) !== 'load', 'by function, where the tree is turned');
});

reportTest('what did a thread do in a range of time: by keys', 'timeline', async (report) => {
  await report.press('T');
  await report.until((field) => document.activeElement === document.querySelector(field), FIELD);
  await report.page.keyboard.type('500ms-1.5s');
  await report.press('Enter');
  assert.equal((await report.hash()).g, '500000-1500000');
  assert.equal(await report.page.inputValue(FIELD), '0.5–1.5 s', 'as ranges are written');
  assert.match(await report.text('.chips'), /✕ 0\.5–1\.5 s/);
  await report.press('Tab');
  await report.page.keyboard.type('worker-7');
  await report.settle();
  assert.equal((await report.hash()).h, 'worker-7');
  const heads = await report.texts('.lane-head');
  assert.ok(heads.length === 2 && heads.every((text) => text.includes('worker-7')), String(heads));
  assert.match(await report.text('.chips'), /only thread worker-7/);
});

reportTest('what did a thread do in a range of time: by pointer', 'timeline', async (report) => {
  await openLanes(report);
  await typeRange(report, '1s–1.5s');
  await report.select('[aria-label=Thread]', 'worker-7');
  assert.deepEqual(await report.hash(), { t: 'timeline', h: 'worker-7', g: '1000000-1500000' });
  const box = await report.page.locator('.chart-overlay').boundingBox();
  await report.point(box.x + 0.5 * box.width, box.y + AXIS + HEAD + 1.5 * ROW);
  assert.match(await report.text('.status'), /^worker — from 1\.\d+ s on, .* of worker-7/);
  const frames = await report.run(() => {
    const { model } = /** @type {any} */ (window).kelvin;
    return [...model.callTree.func].filter((f, i) => i && model.callTree.total[1][i]).map((f) => model.functions[f].name);
  });
  assert.ok(frames.includes('worker') && !frames.includes('load'), String(frames));
});

reportTest(
  'a thread of a link that this report lacks leaves all of them',
  'timeline',
  async (report) => {
    await report.until(() => document.querySelector('.lane-head'));
    assert.equal(await report.page.inputValue('[aria-label=Thread]'), '');
    assert.equal(await report.run(() => /** @type {HTMLSelectElement} */ (document.querySelector('[aria-label=Thread]')).selectedIndex), 0);
  },
  { hash: 't=timeline&h=nobody' },
);

reportTest('a range that cannot be read changes nothing and is explained; Escape takes it back', 'timeline', async (report) => {
  await openLanes(report);
  await typeRange(report, '1s-2s');
  const before = await drawn(report);
  await typeRange(report, '3s-1s');
  assert.match(await report.text('.wrong'), /ends before it begins\. Write 2s-3s, 500ms- or -1\.5s/);
  assert.equal(await report.page.getAttribute(FIELD, 'aria-invalid'), 'true');
  assert.equal(await drawn(report), before);
  assert.equal(await report.page.inputValue(FIELD), '3s-1s', 'it can be corrected');
  await report.press('Escape');
  assert.equal(await report.page.inputValue(FIELD), '1–2 s');
  assert.ok(await report.page.locator('.wrong').isHidden());
  await typeRange(report, '');
  assert.equal((await report.hash()).g, undefined, 'nothing typed is all of the time');
});

reportTest(
  'fingers: a tap selects, one moves the lanes, two zoom, and a strip is brushed',
  'timeline',
  async (report) => {
    await openLanes(report);
    const { page } = report;
    const client = await page.context().newCDPSession(page);
    const touch = (/** @type {string} */ type, /** @type {number[][]} */ at) =>
      client.send('Input.dispatchTouchEvent', {
        type: /** @type {any} */ (type),
        touchPoints: at.map(([x, y], id) => ({ x, y, id })),
      });
    const shown = () => report.run(() => /** @type {any} */ (window).kelvin.timeline.shown);
    const lanes = await page.locator('.chart-overlay').boundingBox();
    const [x, y] = [lanes.x + lanes.width / 2, lanes.y + AXIS + HEAD + 1.5 * ROW];
    await touch('touchStart', [[x - 20, y], [x + 20, y]]);
    for (const apart of [30, 40, 60, 80]) await touch('touchMove', [[x - apart, y], [x + apart, y]]);
    await touch('touchEnd', []);
    await report.settle();
    const [from, to] = await shown();
    assert.ok(to - from < 1e6 && Math.abs((from + to) / 2 - 1e6) < 5e4, `${from} to ${to}`);
    await touch('touchStart', [[x, y]]);
    for (const by of [20, 60, 100]) await touch('touchMove', [[x - by, y]]);
    await touch('touchEnd', []);
    await report.settle();
    assert.ok((await shown())[0] > from, 'the lanes follow the finger');
    assert.equal((await report.hash()).g, undefined, 'no range is selected');
    await page.touchscreen.tap(x, y);
    await report.settle();
    assert.ok((await report.text('.inspector h2')).length > 0);
    const strip = await page.locator('.strip').boundingBox();
    const at = (/** @type {number} */ part) => [[strip.x + part * strip.width, strip.y + 10]];
    await touch('touchStart', at(0.2));
    for (const part of [0.25, 0.35, 0.5]) await touch('touchMove', at(part));
    await touch('touchEnd', []);
    await report.settle();
    const range = (await report.hash()).g.split('-').map(Number);
    assert.ok(Math.abs(range[0] - 4e5) < 5e4 && Math.abs(range[1] - 1e6) < 5e4, String(range));
  },
  { context: { hasTouch: true } },
);

reportTest(
  'forced colours and less motion: bar, lanes and strip are seen, and nothing moves by itself',
  'timeline',
  async (report) => {
    await openLanes(report);
    for (const selector of ['.strip', '.flame-host', '.chart-view', FIELD]) assert.ok(await report.page.locator(selector).isVisible());
    const border = await report.run((field) => getComputedStyle(document.querySelector(field)).borderTopWidth, FIELD);
    assert.notEqual(border, '0px');
    assert.equal(await report.run(() => document.getAnimations().length), 0);
  },
  { context: { forcedColors: 'active', reducedMotion: 'reduce' } },
);
