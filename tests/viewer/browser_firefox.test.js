// SPDX-License-Identifier: GPL-3.0-or-later
// One smoke run in Firefox: the page is read, painted and answers, without a complaint.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { executable, Firefox } from './lib/firefox.js';
import { frameOf, placeOf } from './lib/known.js';
import { pageUrl } from './lib/pages.js';
import { draw } from './lib/modules.js';

const { ROW } = draw;
const wanted = !!process.env.KELVIN_NO_SKIP || !!process.env.CI;
const skip = executable() || wanted ? false : 'no firefox-esr on PATH';

/** Where a known frame lies on the screen, beside its label. @param {any} box @param {string} name */
function pointOf(box, name) {
  const { x, w, depth } = placeOf(frameOf(name), 1);
  const left = box.x + (x + Math.min(w / 2, 2 / box.width)) * box.width;
  return [Math.round(left), Math.round(box.y + depth * ROW + 3)];
}

test('Firefox paints the report and answers', { skip, timeout: 600000 }, async () => {
  assert.ok(executable(), 'Firefox is not installed (package firefox-esr)');
  const firefox = await Firefox.start();
  try {
    await firefox.open(pageUrl('diff'));
    await firefox.until('!!document.documentElement.dataset.ready');
    const box = await firefox.run(`(() => {
      const { x, y, width, height } = document.querySelector('.overlay').getBoundingClientRect();
      return { x, y, width, height };
    })()`);
    const names = ['parse', 'compress', 'new_audit', 'steady'];
    const [parse, compress, added, steady] = await firefox.pixels(names.map((name) => pointOf(box, name)));
    assert.ok(parse[0] > parse[2] + 40, `more is orange: ${parse}`);
    assert.ok(compress[2] > compress[0] + 40, `less is blue: ${compress}`);
    assert.ok(added[0] > added[2] + 40, `new is brown: ${added}`);
    assert.ok(Math.abs(steady[0] - steady[2]) < 12, `the same is grey: ${steady}`);
    assert.match(await firefox.run(`document.querySelector('.verdict').textContent`), /1\.7 % more CPU time per run/);

    const [clientX, clientY] = pointOf(box, 'parse').map((at) => at + 1);
    const place = JSON.stringify({ bubbles: true, cancelable: true, clientX, clientY });
    await firefox.run(`document.querySelector('.overlay').dispatchEvent(new MouseEvent('contextmenu', ${place}))`);
    await firefox.until(`document.activeElement?.getAttribute('role') === 'menuitem'`);
    await firefox.run(`document.activeElement.click()`);
    await firefox.until(`/only stacks with parse/.test(document.querySelector('.filters .chip')?.textContent || '')`);
    await firefox.run(`document.querySelector('.filters .chip').click()`);
    await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))`);
    await firefox.until(`location.hash === ''`);

    await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'i', bubbles: true }))`);
    await firefox.until(`location.hash === '#i=1'`);
    await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'L', bubbles: true }))`);
    await firefox.run(
      `(() => { const field = document.querySelector('[data-keep=search]'); field.value = '(l+e+)+x'; field.dispatchEvent(new Event('input')); })()`,
    );
    await firefox.until(`/1 ·/.test(document.querySelector('.found')?.textContent || '')`);
    await firefox.until(`document.querySelectorAll('.grid-row').length > 5`);

    assert.deepEqual(firefox.complaints(), []);
    assert.deepEqual(
      firefox.requests().filter((url) => !/^(file|data|blob|about):/.test(url)),
      [],
      'nothing is loaded from elsewhere',
    );
  } finally {
    await firefox.close();
  }
});

test('Firefox saves pictures from file:// under the policy of the page', { skip, timeout: 600000 }, async () => {
  const firefox = await Firefox.start();
  try {
    await firefox.open(pageUrl('diff'));
    await firefox.until('!!document.documentElement.dataset.ready');
    for (const kind of ['PNG', 'SVG']) {
      await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'E', bubbles: true }))`);
      await firefox.until(`document.activeElement?.getAttribute('role') === 'menuitem'`);
      await firefox.run(
        `[...document.querySelectorAll('.menu button')].find((button) => button.textContent.includes('${kind}')).click()`,
      );
      await firefox.until(`document.querySelector('[role=status]').textContent.startsWith('saved as ')`);
      const file = await firefox.saved(`.${kind.toLowerCase()}`);
      assert.ok(kind === 'PNG' ? file.subarray(1, 4).toString() === 'PNG' : file.toString().includes('>parse</text>'), kind);
    }
    assert.deepEqual(firefox.complaints(), []);
  } finally {
    await firefox.close();
  }
});

test('Firefox opens a benchmark of a suite, and goes back', { skip, timeout: 600000 }, async () => {
  const firefox = await Firefox.start();
  const name = `document.querySelector('.part-bar:not([hidden]) b')?.textContent`;
  try {
    await firefox.open(pageUrl('suite'));
    await firefox.until('!!document.documentElement.dataset.ready');
    assert.equal(await firefox.run(`document.querySelectorAll('.benchmarks .grid-row').length`), 10);
    await firefox.run(`document.querySelector('.benchmarks .grid-row').click()`);
    await firefox.until(`!!document.documentElement.dataset.ready && !!document.querySelector('canvas.flame')`);
    await firefox.until(`${name} === 'test_parse[10]'`);
    await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'h', bubbles: true }))`);
    await firefox.until(`location.hash.endsWith('&v=head')`);
    await firefox.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: ']', bubbles: true }))`);
    await firefox.until(`${name} === 'TestPage::test_render' && !!document.documentElement.dataset.ready`);
    await firefox.run(`history.back()`);
    await firefox.until(`${name} === 'test_parse[10]' && !!document.documentElement.dataset.ready`);
    assert.match(await firefox.run(`location.hash`), /&v=head$/);
    await firefox.run(`history.go(-2)`);
    await firefox.until(`!document.querySelector('canvas.flame') && document.querySelectorAll('.benchmarks .grid-row').length === 10`);
    assert.deepEqual(firefox.complaints(), []);
  } finally {
    await firefox.close();
  }
});

test('Firefox draws a history, opens a change, and goes back', { skip, timeout: 600000 }, async () => {
  const firefox = await Firefox.start();
  const name = `document.querySelector('.part-bar:not([hidden]) b')?.textContent`;
  try {
    await firefox.open(pageUrl('history'));
    await firefox.until('!!document.documentElement.dataset.ready');
    assert.equal(await firefox.run(`document.querySelectorAll('.plot .line').length`), 6);
    assert.equal(await firefox.run(`document.querySelectorAll('.history-changes .grid-row').length`), 9);
    await firefox.run(`document.querySelector('.history-changes .grid-row:nth-child(2)').click()`);
    await firefox.until(`${name} === 'parse_header' && !!document.querySelector('canvas.flame') && !!document.documentElement.dataset.ready`);
    await firefox.run(`history.back()`);
    await firefox.until(`!document.querySelector('canvas.flame') && document.querySelectorAll('.plot .line').length === 6`);
    assert.deepEqual(firefox.complaints(), []);
  } finally {
    await firefox.close();
  }
});
