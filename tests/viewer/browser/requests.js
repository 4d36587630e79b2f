// SPDX-License-Identifier: GPL-3.0-or-later
// What a service did, under the verdict.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** Where the parts of the picture are. @param {any} report */
const drawn = (report) =>
  report.run(() => {
    const svg = document.querySelector('.latencies');
    const box = (/** @type {Element} */ element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { left, top, width, height };
    };
    return {
      label: svg?.getAttribute('aria-label'),
      box: svg && box(svg),
      outlines: [...document.querySelectorAll('.latencies path:not(.floor, .p50, .p99)')].map(box),
      strokes: [...document.querySelectorAll('.latencies .head')].map((path) => getComputedStyle(path).stroke),
      quantiles: [...document.querySelectorAll('.latencies .p50, .latencies .p99')].map((path) => box(path).left),
      marks: [...document.querySelectorAll('.latencies text')].map((text) => text.textContent),
    };
  });

reportTest('requests stand under the verdict, with both distributions of latencies', 'requests', async (report) => {
  assert.match(await report.text('.requests p'), /^120 requests a second before, 119 after; p50/);
  const { label, box, outlines, strokes, quantiles, marks } = await drawn(report);
  assert.match(label, /base p50 17.*head p50 10/);
  assert.ok(box.width === 240 && box.height === 48);
  assert.equal(outlines.length, 2);
  for (const { left, top, width, height } of outlines) {
    assert.ok(left >= box.left - 1 && left + width <= box.left + box.width + 1);
    assert.ok(height > 15 && top >= box.top - 1);
  }
  /* The longer latencies of head are proven, so they have the colour of more. */
  assert.deepEqual(new Set(strokes), new Set(['rgb(179, 71, 0)']));
  const [basePart, baseTail, headPart, headTail] = quantiles;
  assert.ok(basePart < baseTail && baseTail < headPart && headPart < headTail);
  assert.deepEqual(marks, ['10 ms', '100 ms']);
});

reportTest('one recording has one distribution', 'requests-single', async (report) => {
  assert.match(await report.text('.requests p'), /^Requests: 1,190 answered/);
  assert.equal((await drawn(report)).outlines.length, 1);
});

reportTest('what was not counted takes no room', 'diff', async (report) => {
  assert.equal(await report.run(() => document.querySelectorAll('.requests').length), 0);
});
