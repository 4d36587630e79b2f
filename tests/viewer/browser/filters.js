// SPDX-License-Identifier: GPL-3.0-or-later
// Filters by function, module and process: every way in, the chips, the address, and what the views say of them.

import assert from 'node:assert/strict';

import { open, reportTest } from '../lib/browser.js';
import { format } from '../lib/modules.js';
import * as known from '../lib/known.js';
import { pageUrl } from '../lib/pages.js';

const share = (/** @type {number} */ part) => format.percent(part, known.TOTAL[1]);
const chips = (/** @type {any} */ report) => report.texts('.filters .chip');
const items = (/** @type {any} */ report) => report.texts('.menu [role^=menuitem]');
/** What the row of the root says of the side that is drawn. @param {any} report */
const total = async (report) => report.run(() => /** @type {any} */ (window).kelvin.model.totals());

/** A right click on a frame. @param {any} report @param {string} name */
async function menuOf(report, name) {
  const { x, y } = await report.middle(name);
  await report.page.mouse.click(x, y, { button: 'right' });
  await report.settle();
}

reportTest('a right click opens the menu of a frame; its entries filter, and the chip lets go', 'diff', async (report) => {
  await menuOf(report, 'parse');
  assert.equal(await report.text('.menu-title'), 'parse');
  assert.deepEqual((await items(report)).slice(0, 4), [
    'Only stacks with parsek',
    'Without stacks of parsew',
    'Merge parse into its callersm',
    'Only stacks through appK',
  ]);
  await report.click('.menu button:has-text("Only stacks with")');
  assert.deepEqual(await total(report), known.totalOf('parse'));
  assert.deepEqual(await chips(report), [`✕ only stacks with parse · ${share(known.totalOf('parse')[1])} of head`]);
  assert.match(await report.text('.filters .rule'), /only whole frames have verdicts/);
  assert.match(await report.text('.verdict .scope'), /of the whole, without the filters/);
  assert.equal(await report.page.locator('.scope').isVisible(), true);
  await report.press('Escape');
  assert.match(await report.text('.inspector'), /3 others are proven for the whole: the filters leave only a part/);
  await report.click('.filters .chip');
  assert.deepEqual(await report.hash(), {});
  assert.equal(await report.page.locator('.scope').isVisible(), false);
});

reportTest('filters can be combined by keys; the address and the history have them', 'diff', async (report) => {
  await report.clickFrame('parse');
  await report.press('k');
  const { w } = await report.hash();
  assert.match(w, /^o\w+$/);
  await report.page.evaluate(() => (location.hash += '&f='));
  const lex = known.sumOf((path) => path.includes('lex'));
  const node = () => report.run(() => /** @type {any} */ (window).kelvin.model.functions.find((f) => f.name === 'lex').id);
  await report.run((id) => /** @type {any} */ (window).kelvin.filtering.toggle('without', id), await node());
  await report.settle();
  const without = known.totalOf('parse').map((sum, side) => sum - lex[side]);
  assert.deepEqual(await total(report), without);
  const [, second] = await chips(report);
  assert.equal(second, `✕ without stacks of lex · left out: ${share(lex[1])} of head`);
  assert.match(await report.text('.filters .rule'), new RegExp(`together ${share(without[1])} of head`));
  await report.press('Delete');
  assert.deepEqual(await total(report), known.totalOf('parse'));
  await report.page.goBack();
  await report.settle();
  assert.deepEqual(await total(report), without, 'back to both');
  const link = await report.run(() => location.hash.slice(1));
  const other = await open('diff', { url: pageUrl('diff', link) });
  await other.painted(10000);
  assert.deepEqual(await total(other), without, 'a link has them from the start');
  await other.close();
});

reportTest('the menu of the keyboard: arrows move, letters choose, Escape gives the focus back', 'diff', async (report) => {
  await report.clickFrame('lex');
  await report.page.focus('.overlay');
  await report.press('Shift+F10');
  const focused = () => report.run(() => document.activeElement?.textContent);
  assert.equal(await focused(), 'Only stacks with lexk');
  await report.press('ArrowUp');
  assert.equal(await focused(), 'Copy link to this view', 'from the first to the last');
  await report.press('Home', 'ArrowDown');
  assert.equal(await focused(), 'Without stacks of lexw');
  await report.press('Escape');
  assert.match(await report.run(() => document.activeElement?.className), /^overlay/);
  assert.equal(await report.page.locator('.menu').isVisible(), false);
  await report.press('ContextMenu', 'm');
  assert.match((await chips(report))[0], /^✕ lex merged into its callers · its own: 6\.1 % of head/);
  await report.openList();
  const listed = await report.texts('.grid-row .cell:first-child');
  assert.ok(!listed.includes('lex') && listed.includes('parse'), String(listed));
  await report.page.click('.grid-row:has-text("compress")', { button: 'right' });
  await report.settle();
  assert.equal(await report.text('.menu-title'), 'compress');
  await report.press('K');
  assert.deepEqual(await total(report), known.totalOf('compress'));
  assert.match((await chips(report))[1], /^✕ only stacks through libz\.so · /);
  await report.press('u');
  await report.page.focus('.filters .chip');
  await report.press('Enter');
  assert.equal((await chips(report)).length, 2);
  assert.match(await focused(), /only stacks through libz/, 'the focus stays among the chips');
  await report.press('Delete', 'Delete');
  assert.equal((await report.hash()).w, undefined);
});

reportTest('what nothing passes says so, and what a report lacks is not obeyed', 'diff', async (report) => {
  await menuOf(report, 'parse');
  await report.press('k');
  await report.run(() => {
    const { filtering, model } = /** @type {any} */ (window).kelvin;
    filtering.toggle('only', model.functions.find((/** @type {any} */ f) => f.name === 'compress').id);
  });
  await report.settle();
  assert.equal(await report.text('.filters .nothing'), 'nothing passes these filters');
  await report.run(() => (location.hash = '#w=ozzzz'));
  await report.settle();
  assert.deepEqual(await total(report), known.TOTAL);
  assert.match((await chips(report))[0], /a function that this report lacks · not obeyed/);
});

reportTest('processes are the first row; one can be kept, and a key takes the row away', 'processes', async (report) => {
  const first = () =>
    report.run(() => {
      const { model } = /** @type {any} */ (window).kelvin;
      const names = [];
      for (let at = model.tree.first(0); at >= 0; at = model.tree.next(at)) names.push(model.nameOf(at));
      return names;
    });
  assert.deepEqual(await first(), ['web', 'worker']);
  const all = await total(report);
  await report.press('ArrowDown', 'ArrowRight');
  assert.match(await report.text('.inspector'), /worker.*a process: all its threads and runs/s);
  await report.press('k');
  assert.deepEqual(await first(), ['worker']);
  assert.deepEqual(await total(report), [130e7, 330e7]);
  assert.match((await chips(report))[0], /^✕ only process worker · /);
  await report.press('p');
  assert.deepEqual(await first(), ['__libc_start_main']);
  assert.deepEqual(await total(report), [130e7, 330e7]);
  await report.click('.chips .chip:has-text("all processes mixed")');
  assert.deepEqual(await first(), ['worker']);
  await report.press('Delete');
  assert.deepEqual(await total(report), all);
  await report.press('R');
  assert.match((await chips(report))[0], /recursion folded · in \d/);
});

reportTest('the timeline shows what the filters keep', 'timeline', async (report) => {
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.lane-head'));
  const before = (await report.text('.caption .dim')).match(/(\d+) threads/)?.[1];
  await report.run(() => {
    const { filtering, model } = /** @type {any} */ (window).kelvin;
    filtering.toggle('only', model.functions.find((/** @type {any} */ f) => f.name === 'load').id);
  });
  await report.settle();
  assert.equal(before, '24');
  assert.match(await report.text('.caption .dim'), /\b2 threads/, 'main alone loads, on both sides');
});

reportTest('a search tells the module or the file that it has found', 'diff', async (report) => {
  await report.page.fill('[data-keep=search]', 'libz');
  await report.until(() => document.querySelector('.found'));
  assert.match(await report.text('.found'), / · in module libz\.so$/);
  await report.page.fill('[data-keep=search]', 'file:app\\.c');
  await report.until(() => /file/.test(document.querySelector('.found')?.textContent || ''));
  assert.match(await report.text('.found'), / · in file src\/app\.c$/);
});

/** Searches for a text. @param {any} report @param {string} text */
async function search(report, text) {
  await report.page.fill('[data-keep=search]', text);
  await report.until(() => document.querySelector('.found'));
}

reportTest('what a search found is kept, or left out, by a button and by keys; the link has the expression', 'diff', async (report) => {
  await search(report, 'lex|nothing');
  await report.click('.matches button:has-text("filter")');
  assert.equal(await report.text('.menu-title'), 'lex|nothing');
  assert.deepEqual(await items(report), ['Only stacks with theseF', 'Leave these frames outH']);
  await report.press('Enter');
  const lex = known.sumOf((path) => path.includes('lex'));
  assert.deepEqual(await total(report), lex);
  assert.deepEqual(await chips(report), [`✕ only stacks with “lex|nothing” · ${share(lex[1])} of head`]);
  const link = await report.run(() => location.hash.slice(1));
  const other = await open('diff', { url: pageUrl('diff', link) });
  await other.painted(10000);
  assert.deepEqual(await total(other), lex, 'a link has it from the start');
  await other.close();
  await report.page.focus('.overlay');
  await report.press('F');
  assert.deepEqual(await chips(report), [], 'the same key lets go');
  await search(report, 'libz');
  await report.page.focus('[data-keep=search]');
  await report.press('Enter', 'H');
  assert.match((await chips(report))[0], /^✕ frames of “module:libz” left out · merged into callers: /);
  assert.equal(await report.page.inputValue('[data-keep=search]'), '', 'what is left out is not searched');
  assert.equal(await report.run(() => document.activeElement?.className.split(' ')[0]), 'overlay');
  await report.openList();
  assert.ok(!(await report.texts('.grid-row .cell:first-child')).includes('compress'));
  await report.press('Delete');
  assert.equal((await report.hash()).w, undefined);
  await search(report, 'lex');
  await report.page.focus('.matches [aria-haspopup]');
  await report.press('Enter', 'H');
  assert.match((await chips(report))[0], /“lex” left out/);
  assert.equal(await report.run(() => document.activeElement?.className.split(' ')[0]), 'overlay', 'the button is gone');
});

reportTest('the menu has the code of each origin, one at a time', 'diff', async (report) => {
  await menuOf(report, 'parse');
  await report.click('.menu button:has-text("Only library code")');
  assert.match((await chips(report))[0], /^✕ only library code · merged into callers: /);
  const { x, y } = await report.run(() => document.querySelector('.overlay')?.getBoundingClientRect().toJSON());
  await report.page.mouse.click(x + 30, y + 30, { button: 'right' });
  await report.settle();
  assert.equal(await report.run(() => document.querySelectorAll('.menu [aria-checked=true]').length), 2, 'that, and runs in one row');
  await report.click('.menu button:has-text("Only system code")');
  assert.deepEqual((await chips(report)).map((/** @type {string} */ chip) => chip.replace(/ ·.*/, '')), ['✕ only system code']);
  assert.equal((await report.hash()).w, 's');
});

reportTest(
  'an expression of a link that never ends is stopped, and its chip says so',
  'diff',
  async (report) => {
    await report.until(() => document.querySelector('.filters .chip'));
    assert.match((await chips(report))[0], /^✕ only stacks with “\(\(\[a-z_\]\*\)\*\)\*!” · .* · not obeyed$/);
    assert.deepEqual(await total(report), known.TOTAL);
  },
  { hash: `w=${encodeURIComponent('f(([a-z_]*)*)*!')}`, timeout: 10000 },
);
