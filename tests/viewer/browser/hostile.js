// SPDX-License-Identifier: GPL-3.0-or-later
// Names that try to be more than names.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

const NAMES = [
  '</script><script>window.hacked=1</script>',
  '<img src=x onerror=window.hacked=2>',
  '<!--<script>',
  ']]>&lt;b&gt;&amp;"\'`',
  '${window.hacked=3}`javascript:window.hacked=4',
  '__proto__',
  'constructor',
  'toString',
  'a;b;c 7',
  '[a-z]+(*',
];

const hacked = (/** @type {any} */ report) => report.run(() => /** @type {any} */ (window).hacked);

/** The function list alone shows every name whole. @param {any} report @returns {Promise<string[]>} */
const listed = (report) =>
  report.run(() => [...document.querySelectorAll('.grid-row')].map((row) => /** @type {any} */ (row.children[0]).title.split('\n')[0]));

reportTest('every name is text, in list, picture, inspector and status', 'hostile', async (report) => {
  await report.click('.choice button:text-is("Functions")');
  const names = await listed(report);
  for (const name of NAMES) assert.ok(names.includes(name), name);
  await report.click('.choice button:text-is("Flame")');
  await report.openList();
  for (const name of NAMES) {
    await report.page.fill('[aria-label="Filter functions"]', name);
    await report.settle();
    const row = report.page.locator('.grid-row').first();
    await row.click();
    await report.settle();
    assert.equal(await report.text('.inspector h2'), name);
    assert.ok((await report.text('#active-frame')).startsWith(`${name},`), name);
    assert.ok((await report.text('.status')).startsWith(`${name} `), name);
  }
  assert.equal(await hacked(report), undefined);
  assert.equal(await report.page.locator('img, iframe, i, b:not(.more b)').count(), 0, 'no element came of a name');
  assert.equal(await report.page.locator('script:not([type])').count(), 1);
});

reportTest('title, command, module and threads are text as well', 'hostile', async (report) => {
  assert.equal(await report.text('h1'), '</title><img src=x onerror=window.hacked=6>');
  assert.ok((await report.run(() => document.title)).startsWith('</title><img src=x onerror=window.hacked=6>'));
  await report.click('details.more summary');
  assert.ok((await report.text('details.more')).includes('</title><script>window.hacked=5</script>'));
  assert.equal(await hacked(report), undefined);
});

reportTest('a hostile search and address do nothing but search', 'hostile', async (report) => {
  await report.page.fill('[data-keep=search]', '<img src=x onerror=window.hacked=7>');
  await report.until(() => location.hash.includes('q='));
  assert.equal(await report.page.locator('img').count(), 0);
  await report.run(() => {
    location.hash = 'h=%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D8%3E&u=%3Cb%3E&k=%3Cb%3E&z=%3Cscript%3E';
  });
  await report.settle();
  assert.equal(await hacked(report), undefined);
});

reportTest('a name of 10 kB is told whole and does not break the page', 'hostile', async (report) => {
  await report.openList();
  await report.page.fill('[aria-label="Filter functions"]', 'long<');
  await report.settle();
  await report.click('.grid-row');
  assert.equal((await report.text('.inspector h2')).length, 10000);
  const sizes = await report.run(() => ({
    page: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    heading: document.querySelector('.inspector h2')?.clientHeight,
    picture: document.querySelector('.flame-host')?.clientHeight,
  }));
  assert.ok(sizes.page <= 0, 'no scrolling sideways');
  assert.ok(sizes.heading < 300 && sizes.picture > 100, JSON.stringify(sizes));
});

reportTest('marks of direction in a name do not turn what stands beside it', 'hostile', async (report) => {
  await report.openList();
  await report.page.fill('[aria-label="Filter functions"]', 'right to left');
  await report.settle();
  await report.click('.grid-row');
  const mixed = await report.run(() => {
    const out = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent || '';
      const parent = /** @type {Element} */ (node.parentElement);
      if (!/[\u202a-\u202e\u2066-\u2069]/.test(text) || !parent.checkVisibility()) continue;
      const isolated =
        getComputedStyle(parent).unicodeBidi.includes('isolate') || getComputedStyle(parent).unicodeBidi === 'plaintext';
      const block = getComputedStyle(parent).display !== 'inline';
      const alone =
        parent.textContent === 'right to left mark' || /^\u202eright to left\u202c mark$/.test(parent.textContent || '');
      if (!(alone && (isolated || block))) out.push(`${parent.tagName}.${parent.className}: ${text.slice(0, 60)}`);
    }
    return out;
  });
  assert.deepEqual(mixed, [], 'each such name stands in an element of its own, isolated');
});

reportTest('control characters and broken bytes are shown, not obeyed', 'hostile', async (report) => {
  await report.click('.choice button:text-is("Functions")');
  const names = await listed(report);
  assert.ok(names.some((name) => name.startsWith('bell') && name.includes('line')));
  assert.ok(names.some((name) => name.includes('\ufffd')));
  assert.ok(names.includes('漢字関数名前<漢字, 漢字>::operator<(漢字)'));
});

reportTest(
  'an expression that would take for ever is stopped and says so; the page goes on',
  'hostile',
  async (report) => {
    await report.until(() => /too slow/.test(document.querySelector('.found')?.textContent || ''), undefined, 15000);
    await report.press('i', 'i');
    await report.page.fill('[data-keep=search]', '(a+b?)+c$|</script>');
    await report.until(() => /^\d*\/?1 ·/.test(document.querySelector('.found')?.textContent || ''), undefined, 15000);
  },
  { hash: `q=${encodeURIComponent('(x+x+)+y')}` },
);
