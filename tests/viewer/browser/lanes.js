// SPDX-License-Identifier: GPL-3.0-or-later
// What is written in the lanes of the timeline can be read on every colour.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { colour } from '../lib/modules.js';
import { contrast } from '../lib/vision.js';

/** @param {any} report */
async function openLanes(report) {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.lane-head'));
}

/**
 * The least contrast of a text in the lanes with any pixel below it.
 * @param {any} report @returns {Promise<{least: number, text: string, texts: number}>}
 */
async function leastContrast(report) {
  const texts = await report.run(() => {
    const { timeline } = /** @type {any} */ (window).kelvin;
    const { canvas, context, ratio } = timeline.chart;
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pixels = /** @type {OffscreenCanvasRenderingContext2D} */ (copy.getContext('2d', { willReadFrequently: true }));
    const found = [];
    // The ground alone is drawn, and what would be written on it is noted.
    context.fillText = (text, x, y) => found.push({ text, x, y, w: context.measureText(text).width, ink: context.fillStyle });
    timeline.draw(timeline.state);
    delete context.fillText;
    pixels.drawImage(canvas, 0, 0);
    const out = found.map(({ text, x, y, w, ink }) => {
      const { data } = pixels.getImageData(x * ratio, (y - 5) * ratio, Math.max(1, w * ratio), 10 * ratio);
      const colours = new Set();
      // What would stand outside of the canvas is not seen.
      for (let i = 0; i < data.length; i += 4) if (data[i + 3]) colours.add([...data.subarray(i, i + 3)].join());
      return { text, ink, grounds: [...colours].map((one) => one.split(',').map(Number)) };
    });
    timeline.draw(timeline.state);
    return out;
  });
  let [least, worst] = [Infinity, ''];
  for (const { text, ink, grounds } of texts)
    for (const ground of grounds) {
      const value = contrast(colour.rgb(ink), ground);
      if (value < least) [least, worst] = [value, `${text} in ${ink} on ${ground}`];
    }
  return { least, text: worst, texts: texts.length };
}

for (const [kind, thread] of [['timeline', ''], ['waits', ''], ['deep-timeline', 'shared']])
  for (const colorScheme of /** @type {const} */ (['light', 'dark']))
    reportTest(
      `all that is written in the lanes of "${kind}" can be read, ${colorScheme}`,
      kind,
      async (report) => {
        if (thread) await report.select('[aria-label=Thread]', thread);
        await openLanes(report);
        for (const key of ['1', '2', '3', '4', '5']) {
          await report.press(key);
          const { least, text, texts } = await leastContrast(report);
          assert.ok(texts > 5 && least >= 4.5, `${least} with key ${key}: ${text}`);
        }
        // What is outside of the selected time is shaded.
        const box = await report.page.locator('.chart-overlay').boundingBox();
        await report.page.mouse.move(box.x + 0.3 * box.width, box.y + 60);
        await report.page.mouse.down();
        await report.point(box.x + 0.6 * box.width, box.y + 60);
        const { least, text } = await leastContrast(report);
        assert.ok(least >= 4.5, `${least} with a brush: ${text}`);
        await report.page.mouse.up();
      },
      { context: { colorScheme } },
    );
