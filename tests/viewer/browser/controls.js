// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the picture, the crumbs, the search, the legend.

import assert from 'node:assert/strict';

import { near, reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';
import { colour, format } from '../lib/modules.js';

const share = (/** @type {number} */ part, /** @type {number} */ whole) => format.percent(part, whole);

reportTest('Base, Head and Diff keep position and zoom', 'diff', async (report) => {
  await report.zoomFrame('parse');
  for (const [name, side] of /** @type {[string, number][]} */ ([
    ['Base', 0],
    ['Head', 1],
    ['Diff', 1],
  ])) {
    await report.click(`.choice button:text-is("${name}")`);
    assert.equal((await report.texts('.crumbs .link')).pop(), 'parse');
    await report.hover('lex', side, known.frameOf('parse'));
    assert.match(await report.text('.status'), /^lex /);
  }
});

reportTest('the direction stands on its button', 'diff', async (report) => {
  await report.click('.controls button:text-is("Before → After")');
  assert.deepEqual(await report.hash(), { r: '1' });
  await report.hover('old_cache', 0);
  assert.match(await report.text('.status'), /^old_cache /);
  await report.click('.controls button:text-is("After → Before")');
  assert.deepEqual(await report.hash(), {});
});

reportTest('Removed says how much is gone and shows it', 'diff', async (report) => {
  await report.page.check('.controls label:has-text("Removed (3.4 %)") input');
  await report.settle();
  const box = await report.picture();
  await report.point(box.x + box.width - 20, box.y + 3.5 * ROW);
  assert.match(await report.text('.status'), /^old_cache — base 600 ms 3\.4 % → head 0 s/);
});

reportTest('system calls hidden: widths, shares and list follow, and the bar says how much', 'diff', async (report) => {
  await report.openList();
  await report.page.uncheck('.controls label:has-text("System calls") input');
  await report.settle();
  const bar = await report.text('.chips');
  assert.ok(bar.includes(`hidden: ${((100 * known.HIDDEN[0]) / known.TOTAL[0]).toFixed(1)} % of base`), bar);
  assert.ok(bar.includes(`${((100 * known.HIDDEN[1]) / known.TOTAL[1]).toFixed(1)} % of head`), bar);
  const box = await report.picture();
  const left = known.TOTAL[1] - known.HIDDEN[1];
  const names = ['0xdeadbeef', 'main'];
  let x = 0;
  for (const name of names) {
    const w = known.sumOf((path) => path.includes(name) && !known.SYSTEM.includes(path[path.length - 1]))[1] / left;
    await report.point(box.x + (x + w / 2) * box.width, box.y + 1.5 * ROW);
    const status = await report.text('.status');
    assert.ok(status.startsWith(`${name} `), status);
    const total = known.sumOf((path) => path.includes(name) && !known.SYSTEM.includes(path[path.length - 1]));
    assert.ok(status.includes(share(total[0], known.TOTAL[0] - known.HIDDEN[0])), `${status}: shares are of what remains`);
    x += w;
  }
  for (const name of known.SYSTEM) assert.ok(!(await report.texts('.grid-row .cell:first-child')).includes(name), name);
});

reportTest("system calls folded: their time is the caller's", 'diff', async (report) => {
  await report.openList();
  await report.press('s');
  await report.select('[aria-label="System frames are"]', 'fold');
  await report.page.fill('[aria-label="Filter functions"]', 'sort_items');
  await report.settle();
  const row = await report.texts('.grid-row .cell');
  assert.equal(row[0], 'sort_items');
  assert.ok(row.some((cell) => cell.startsWith('900 ms')), String(row));
  const box = await report.picture();
  await report.point(box.x + box.width / 2, box.y + ROW / 2);
  const status = await report.text('.status');
  assert.match(status, /base 17\.6 s .*head 17\.9 s/, 'nothing is hidden');
  await report.select('[aria-label="System frames are"]', 'hide');
  assert.deepEqual(await report.hash(), { s: 'hide' });
});

reportTest('interrupts: a control, a key, a row of the ledger, a class in the list and the inspector', 'interrupts', async (report) => {
  await report.openList();
  const box = () => report.run(() => /** @type {any} */ (document.querySelector('.controls label[title*="machine"] input'))?.checked);
  assert.equal(await box(), true);
  await report.press('2');
  assert.ok((await report.texts('.legend .key')).some((text) => /^interrupts \d/.test(text)));
  await report.page.fill('[aria-label="Filter functions"]', 'softirqs');
  await report.settle();
  const names = await report.texts('.grid-row .cell:first-child');
  assert.deepEqual(names, ['handle_softirqs', 'handle_softirqs (interrupt)'], 'what is not compared comes last');
  await report.select('[aria-label="Filter by origin"]', 'interrupts');
  assert.deepEqual(await report.texts('.grid-row .cell:first-child'), ['handle_softirqs (interrupt)']);
  await report.click('.grid-row');
  assert.match(await report.text('.inspector'), /what the machine did in this thread; not compared/);
  await report.click('.more summary');
  assert.match(await report.text('.more'), /interrupts370 ms .*1\.26 s .*Interrupts are the machine's work/s);
  await report.press('t');
  assert.equal(await box(), false);
  assert.equal((await report.hash()).n, 'fold');
  assert.match(await report.text('.chips'), /interrupts: their time counts as that of the frame they hit/);
  await report.press('s');
  assert.equal(await box(), undefined, 'they go with the system frames');
  await report.press('s');
  await report.press('t');
  assert.equal((await report.hash()).n, undefined);
});

reportTest('a page without interrupts does not speak of them', 'diff', async (report) => {
  await report.openList();
  await report.press('2');
  await report.press('t');
  assert.equal((await report.hash()).n, undefined);
  for (const part of ['.controls', '.legend', '.more', '.functions'])
    assert.doesNotMatch(await report.text(part), /interrupts/i, part);
});

reportTest('the tree by functions that run takes the zoom with it', 'diff', async (report) => {
  await report.zoomFrame('parse');
  await report.page.check('.controls label:has-text("By function") input');
  await report.settle();
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
  await report.page.uncheck('.controls label:has-text("By function") input');
  await report.settle();
  assert.deepEqual(await report.hash(), {});
});

reportTest('crumbs lead up, reset leads home, and so does a double click', 'diff', async (report) => {
  await report.zoomFrame('lex');
  assert.deepEqual(await report.texts('.crumbs .link'), ['all', '__libc_start_main', 'main', 'parse', 'lex']);
  await report.click('.crumbs .link:text-is("main")');
  assert.equal((await report.texts('.crumbs .link')).pop(), 'main');
  await report.click('.crumbs button:text-is("reset")');
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
  await report.zoomFrame('parse');
  const box = await report.picture();
  await report.page.mouse.dblclick(box.x + 100, box.y + 15 * ROW);
  await report.settle();
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
});

reportTest('a double click on a caller above the zoomed frame leads there', 'diff', async (report) => {
  await report.zoomFrame('lex');
  const box = await report.picture();
  await report.page.mouse.dblclick(box.x + box.width / 2, box.y + 3.5 * ROW);
  await report.settle();
  assert.equal((await report.texts('.crumbs .link')).pop(), 'parse');
  await report.point(box.x + box.width / 2, box.y + 0.5 * ROW);
  assert.match(await report.text('.status'), /^all /, 'the root is the first row of the path');
  await report.page.mouse.dblclick(box.x + box.width / 2, box.y + 0.5 * ROW);
  await report.settle();
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
});

reportTest('a search tells count and share of the union, and marks what it finds', 'diff', async (report) => {
  await report.page.fill('[type=search][data-keep=search]', 'lex|parse|compress');
  await report.until(() => location.hash.includes('q='));
  const sum = known.sumOf((path) => path.includes('parse') || path.includes('compress'))[1];
  assert.ok((await report.text('.found')).endsWith(share(sum, known.TOTAL[1])), await report.text('.found'));
  const inside = await report.middle('parse');
  const outside = await report.middle('steady');
  const places = [
    [Math.round(inside.edge) + 1, inside.top],
    [outside.edge + 3, outside.top - 6],
  ];
  const marks = await report.pixels(places);
  assert.ok(near(marks[0], [192, 38, 211], 30), `framed: ${marks[0]}`);
  const same = colour.rgb(colour.PALETTES.kelvin.same);
  assert.ok(near(marks[1], colour.mix([255, 255, 255], same, 0.4), 3), `the rest is faint: ${marks[1]}`);
  await report.page.fill('[type=search][data-keep=search]', '');
  await report.until(() => !location.hash.includes('q='));
  assert.ok(near((await report.pixels(places))[1], same, 2));
});

reportTest('a search that finds nothing says so, one that is no expression is taken as text', 'diff', async (report) => {
  await report.page.fill('[type=search][data-keep=search]', 'zzz');
  await report.until(() => document.querySelector('.found')?.textContent === 'no match');
  assert.equal(await report.page.locator('[aria-label="Next match"]').count(), 0);
  await report.page.fill('[type=search][data-keep=search]', '(par');
  await report.until(() => location.hash.includes('(par') || location.hash.includes('%28par'));
  assert.match(await report.text('.found'), /not a regular expression/);
});

reportTest('the buttons go through the matches, and zoom to what is too narrow to see', 'diff', async (report) => {
  await report.page.fill('[type=search][data-keep=search]', 'page_fault');
  await report.until(() => document.querySelector('.found'));
  await report.click('[aria-label="Next match"]');
  assert.equal(await report.active(), 'page_fault');
  assert.match(await report.text('.found'), /^1\/1 /);
  await report.click('[aria-label="Previous match"]');
  assert.equal(await report.active(), 'page_fault');
});

reportTest('the legend of the difference names every state, and its entries mark their frames', 'diff', async (report) => {
  const legend = await report.text('.legend');
  for (const word of ['more time', 'less time', '+ new', '− gone', 'not proven']) assert.ok(legend.includes(word), word);
  assert.match(legend, /−5\.6 −1\.4 0 \+1\.4 \+5\.6 % of total/, 'the scale');
  assert.match(legend, /base 17\.6 s → head 17\.9 s/, 'the totals');
  await report.click('.legend button.key:has-text("less time")');
  assert.equal(await report.run(() => document.querySelector('.legend button.key[aria-pressed=true]')?.textContent), 'less time 1');
  assert.match(await report.text('.chips .chip'), /highlighted: less time/);
  await report.openList();
  assert.deepEqual(await report.texts('.grid-row .cell:first-child'), ['compress'], 'the list has their functions alone');
  assert.match(await report.text('.found'), /^1 · 6\.7 %|^0\/1 · 6\.7 %/);
  await report.click('.legend button.key:has-text("less time")');
  assert.deepEqual(await report.hash(), {});
});

reportTest('the legend tells what the lower edges are, and marks their frames', 'diff', async (report) => {
  const self = '.legend button.key:has-text("self")';
  assert.match(await report.run(() => document.querySelector('.legend .key[title*="lower edge"]')?.textContent), /^self \d+$/);
  await report.click(self);
  assert.match(await report.text('.chips .chip'), /highlighted: proven of the function/);
  await report.openList();
  const listed = await report.texts('.grid-row .cell:first-child');
  assert.ok(listed.includes('parse') && listed.includes('compress') && !listed.includes('main'), String(listed));
  await report.click(self);
  assert.deepEqual(await report.hash(), {});
});

reportTest('the legend of origins filters by origin', 'diff', async (report) => {
  await report.openList();
  await report.press('2');
  await report.click('.legend button.key:has-text("library")');
  const found = known.totalOf('compress')[1];
  assert.ok((await report.text('.found')).endsWith(share(found, known.TOTAL[1])));
  const rows = await report.texts('.grid-row .cell:first-child');
  assert.deepEqual(rows, ['compress']);
  await report.click('.legend button.key:has-text("unknown")');
  assert.deepEqual((await report.texts('.grid-row .cell:first-child')).sort(), ['0xdeadbeef', 'compress']);
  await report.press('Escape');
  assert.equal(await report.page.locator('.found').count(), 0);
});

reportTest('light and dark: a button that is remembered, and the colours of the page follow', 'diff', async (report) => {
  const theme = () => report.run(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), 'light');
  const ground = [20, 15 * ROW];
  assert.ok(near((await report.pixels([ground]))[0], [255, 255, 255]));
  await report.click('[aria-label="Switch between light and dark"]');
  assert.equal(await theme(), 'dark');
  assert.ok((await report.pixels([ground]))[0][0] < 40);
  assert.ok(near(await report.fill('parse'), colour.rgb(colour.PALETTES.kelvin.more)));
  await report.reload();
  assert.equal(await theme(), 'dark');
});

reportTest('a control keeps the focus when the bar is made anew', 'diff', async (report) => {
  await report.page.focus('.controls label:has-text("By function") input');
  await report.page.keyboard.press('Space');
  await report.settle();
  assert.equal(await report.run(() => document.activeElement?.closest('label')?.textContent), 'By function');
  await report.page.focus('.choice button:text-is("Base")');
  await report.page.keyboard.press('Enter');
  await report.settle();
  assert.equal(await report.run(() => document.activeElement?.textContent), 'Base');
});
