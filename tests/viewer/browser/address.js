// SPDX-License-Identifier: GPL-3.0-or-later
// The address keeps the state.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import * as known from '../lib/known.js';
import { pageUrl } from '../lib/pages.js';

/** What a person sees, in short. @param {any} report */
const look = (report) =>
  report.run(() => {
    const pixels = (/** @type {string} */ selector) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(selector));
      const copy = new OffscreenCanvas(canvas.width, canvas.height);
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (copy.getContext('2d', { willReadFrequently: true }));
      context.drawImage(canvas, 0, 0);
      let sum = 0;
      for (const value of new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer))
        sum = (Math.imul(sum, 31) + value) | 0;
      return sum;
    };
    return {
      picture: pixels('canvas.flame'),
      marks: [...document.querySelectorAll('.mark')].map((e) => e.hidden || JSON.stringify(e.getBoundingClientRect())).join(),
      controls: document.querySelector('.controls')?.textContent,
      crumbs: document.querySelector('.crumbs')?.textContent,
      inspector: document.querySelector('.inspector')?.textContent,
      legend: document.querySelector('.legend')?.textContent,
    };
  });

/** Goes to an address as a person who pastes it. @param {any} report @param {string} kind @param {string} hash */
async function paste(report, kind, hash) {
  await report.page.goto('about:blank');
  await report.page.goto(pageUrl(kind, hash));
  report.requests.length = 1;
  report.requests[0] = pageUrl(kind, hash);
  await report.painted(10000);
}

reportTest('a link opens what was seen', 'diff', async (report) => {
  const states = [
    async () => report.clickFrame('parse'),
    async () => {
      await report.press('2');
      await report.page.fill('[data-keep=search]', 'lex|compare & <b>');
      await report.until(() => location.hash.includes('q='));
    },
    async () => {
      await report.press('Tab', 'Escape', 's');
      await report.select('[aria-label="System frames are"]', 'fold');
    },
    async () => {
      await report.page.focus('.overlay');
      await report.press('i', 'b', '1');
      await report.select('[aria-label=Palette]', 'classic');
    },
  ];
  for (const [i, change] of states.entries()) {
    await change();
    await report.point(1275, 400);
    const hash = await report.run(() => location.hash.slice(1));
    const before = await look(report);
    await paste(report, 'diff', hash);
    assert.deepEqual(await look(report), before, `step ${i}: ${hash}`);
    assert.equal(await report.run(() => location.hash.slice(1)), hash);
  }
});

reportTest('back and forward go through every step, and the picture follows', 'diff', async (report) => {
  const looks = [await look(report)];
  for (const key of ['b', '2', 'i', 's']) {
    await report.press(key);
    looks.push(await look(report));
  }
  for (let i = looks.length - 2; i >= 0; i--) {
    await report.page.goBack();
    await report.settle();
    assert.deepEqual(await look(report), looks[i], `back to ${i}`);
  }
  for (let i = 1; i < looks.length; i++) {
    await report.page.goForward();
    await report.settle();
    assert.deepEqual(await look(report), looks[i], `forward to ${i}`);
  }
});

reportTest('typing a search is no step of the history', 'diff', async (report) => {
  await report.press('b', '/');
  const before = await report.run(() => history.length);
  for (const text of ['p', 'a', 'r']) {
    await report.page.keyboard.type(text);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await report.until(() => location.hash.includes('q=par'));
  assert.equal(await report.run(() => history.length), before);
});

reportTest('an address changed by hand is followed', 'diff', async (report) => {
  await report.run(() => {
    location.hash = 'v=base&c=origin';
  });
  await report.until(() => document.querySelector('.choice[aria-label=Recording] [aria-pressed=true]')?.textContent === 'Base');
  assert.equal(await report.run(() => /** @type {any} */ (document.querySelector('[aria-label=Colour]')).value), 'origin');
});

reportTest('a link of one report opens the same frame in that of another run', 'diff', async (report) => {
  await report.zoomFrame('lex');
  const hash = await report.run(() => location.hash.slice(1));
  for (const kind of ['scaled', 'single']) {
    await paste(report, kind, hash);
    assert.equal((await report.texts('.crumbs .link')).pop(), 'lex', kind);
    assert.equal(await report.text('.inspector h2'), 'lex', kind);
  }
});

reportTest('a frame that the other run lacks opens as far as it goes', 'diff', async (report) => {
  await report.press('b');
  await report.zoomFrame('old_cache', 0);
  const hash = await report.run(() => location.hash.slice(1));
  await paste(report, 'single', hash);
  assert.equal((await report.texts('.crumbs .link')).pop(), 'main');
});

const BROKEN = [
  'p=nonsense',
  'v=nonsense',
  'c=nonsense',
  't=nonsense',
  's=nonsense',
  'z=nonsense',
  'g=9-1',
  'q=%E0%A4%A',
  'h=nobody',
];
for (const hash of BROKEN)
  reportTest(
    `a broken address draws all the same: ${hash}`,
    'diff',
    async (report) => {
      assert.ok(await report.page.locator('canvas.flame').isVisible(), 'the picture is there');
      const middle = await report.middle(known.frameOf('main'));
      await report.point(middle.x, middle.y);
      assert.match(await report.text('.status'), /^main /);
    },
    { hash },
  );
