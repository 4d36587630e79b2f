// SPDX-License-Identifier: GPL-3.0-or-later
// A report of simulations: the colour of bottlenecks, its legend, the inspector and the list.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { bottleneck, colour } from '../lib/modules.js';

const MODE = '[aria-label=Colour]';

/** The colour of a frame. @param {any} report @param {string} name */
async function fill(report, name) {
  const { edge, top } = await report.placeOf(name);
  const [seen] = await report.pixels([[edge + 2, top + 2]]);
  return [...seen.slice(0, 3)];
}

/** @param {string} name */
const wanted = (name) => colour.rgb(bottleneck.BOTTLENECK_COLOURS[bottleneck.BOTTLENECKS.indexOf(name)]);

reportTest('frames have the colours of their bottlenecks, by a key and in the address', 'bottlenecks', async (report) => {
  assert.ok((await report.texts(`${MODE} option`)).includes('bottleneck'));
  await report.press('5');
  assert.deepEqual(await report.hash(), { c: 'bottleneck' });
  assert.deepEqual(await fill(report, 'compute'), wanted('instruction'));
  assert.deepEqual(await fill(report, 'walk'), wanted('cache'));
  assert.deepEqual(await fill(report, 'chase'), wanted('memory'));
  assert.deepEqual(await report.texts('.legend .key'), [
    'instruction 64.6 %',
    'cache 23.8 %',
    'memory 10.4 %',
    'system 0.01 %',
    'mixed 1.2 %',
  ]);
  await report.press('i');
  assert.deepEqual(await fill(report, 'walk'), wanted('cache'), 'a function has the class of all its frames');
});

reportTest(
  'a click in the legend marks a class, which a chip takes back',
  'bottlenecks',
  async (report) => {
    await report.click('.legend .key:has-text("memory")');
    assert.equal((await report.hash()).x, '3');
    await report.openList();
    assert.deepEqual(await report.texts('.grid-row [role=gridcell]:first-child, .grid-row > :first-child'), ['chase']);
    assert.equal(await report.page.getAttribute('.legend .key:has-text("memory")', 'aria-pressed'), 'true');
    await report.click('.chip:has-text("bottleneck memory"), .filters button:has-text("bottleneck memory")');
    assert.deepEqual(await report.hash(), { c: 'bottleneck' });
  },
  { hash: 'c=bottleneck' },
);

reportTest('the inspector tells what a frame and its change consist of', 'bottlenecks', async (report) => {
  await report.until(() => /: cache misses/.test(document.querySelector('.inspector')?.textContent || ''));
  await report.clickNamed('parse');
  const text = await report.text('.inspector');
  assert.match(text, /Bottleneck: instructionTakes more: cache misses/);
  assert.match(text, /cache0\.00 %41\.9 %/);
  assert.match(await report.text('.verdict'), /parse itself has the largest change, .* of the total: cache misses/);
});

reportTest('a report of one recording has a column, and classes by frame', 'bottlenecks-single', async (report) => {
  await report.openList();
  await report.until(() => /memory/.test(document.querySelector('.grid')?.textContent || ''));
  await report.clickNamed('main');
  assert.match(await report.text('.inspector'), /Bottleneck: mixed/);
});

reportTest('other reports do not offer the colour', 'diff', async (report) => {
  assert.ok(!(await report.texts(`${MODE} option`)).includes('bottleneck'));
  await report.press('5');
  assert.deepEqual(await report.hash(), {});
});
