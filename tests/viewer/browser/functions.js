// SPDX-License-Identifier: GPL-3.0-or-later
// The list of functions.

import assert from 'node:assert/strict';

import { near, reportTest } from '../lib/browser.js';
import * as known from '../lib/known.js';

const NAMES = [...new Set(known.STACKS.flatMap(([path]) => path))];

/** The visible rows. @param {any} report @returns {Promise<string[][]>} */
const rows = (report) =>
  report.run(() => [...document.querySelectorAll('.grid-row')].map((row) => [...row.children].map((cell) => cell.textContent)));

/** The visible texts of a column. @param {any} report @param {string} id @returns {Promise<string[]>} */
const cells = (report, id) => report.texts(`.grid-row [data-column="${id}"]`);

/** The titles of the columns that have room. @param {any} report @returns {Promise<string[]>} */
const titles = (report) => report.texts('.functions .grid-head .cell');

/** @param {any} report @param {string} title */
const sortBy = (report, title) => report.click(`.grid-head [role=columnheader]:text-is("${title}")`);

reportTest('all functions, proven changes first, the largest on top', 'diff', async (report) => {
  await report.openList();
  assert.match(await report.text('.functions .bar'), new RegExp(`${NAMES.length} of `));
  const first = (await rows(report)).slice(0, 5);
  assert.deepEqual(
    first.map((row) => row[0]),
    ['compress', 'new_audit', 'old_cache', 'lex', 'parse'],
  );
  assert.deepEqual(first[4].slice(1, 8), ['more self', '+500 ms', '2.25×', '400 ms', '900 ms', '1.23 s', '2.23 s']);
  assert.deepEqual((await cells(report, 'state')).slice(0, 5), ['less self', 'new self', 'gone self', 'more self', 'more self']);
  assert.deepEqual((await cells(report, 'change')).slice(0, 3), ['−40.0 %', 'none in base', '−100 %']);
});

reportTest('no figure is cut off: where columns have no room, the least important ones go', 'diff', async (report) => {
  await report.click('.choice button:text-is("Functions")');
  const essential = ['function', 'verdict', 'Δ', 'change', 'self base', 'self head', 'total base', 'total head'];
  const extra = ['where', 'Δ self', 'Δ total', '95 % interval of Δ'];
  /** @type {[number, string[]][]} */
  const widths = [[1900, [...essential, ...extra]], [1280, essential], [800, essential], [480, essential.slice(0, 3)]];
  for (const [width, wanted] of widths) {
    await report.page.setViewportSize({ width, height: 800 });
    await report.settle();
    const shown = await titles(report);
    assert.deepEqual(wanted.filter((title) => !shown.includes(title)), [], `${width}: ${shown}`);
    const cut = await report.run(() =>
      [...document.querySelectorAll('.functions .grid-head .cell, .grid-row .cell:not(.text), .grid-row [data-column=state]')]
        .filter((cell) => cell.scrollWidth > cell.clientWidth || cell.getBoundingClientRect().right > innerWidth)
        .map((cell) => cell.textContent),
    );
    assert.deepEqual(cut, [], `at ${width} pixels`);
    const hidden = essential.length + extra.length - shown.length;
    assert.equal(await report.text('.unseen'), hidden === 0 ? '' : hidden === 1 ? '1 column has no room here' : `${hidden} columns have no room here`);
  }
});

reportTest('a title sorts, and sorts the other way', 'diff', async (report) => {
  await report.click('.choice button:text-is("Functions")');
  const column = async (/** @type {number} */ i) => (await rows(report)).map((row) => row[i]);
  await sortBy(report, 'function');
  const up = await column(0);
  assert.deepEqual(
    up,
    [...up].sort((a, b) => (a < b ? -1 : 1)),
  );
  await sortBy(report, 'function');
  const down = await column(0);
  assert.deepEqual(
    down,
    [...down].sort((a, b) => (a < b ? 1 : -1)),
  );
  await sortBy(report, 'total base');
  assert.deepEqual((await column(0)).slice(0, 3), ['__libc_start_main', 'main', 'steady']);
  assert.equal(await report.run(() => document.querySelector('[aria-sort=descending]')?.textContent), 'total base');
  await sortBy(report, 'total base');
  assert.equal(await report.run(() => document.querySelector('[aria-sort=ascending]')?.textContent), 'total base');
  assert.equal((await column(0))[0], 'new_audit');
  await sortBy(report, 'Δ');
  assert.equal((await column(0))[0], 'new_audit', 'increases first');
  await sortBy(report, 'Δ');
  assert.equal((await column(0))[0], 'compress', 'then decreases');
  await sortBy(report, 'change');
  assert.equal((await column(0))[0], 'new_audit', 'what base lacks is the largest change of all');
  await sortBy(report, 'change');
  assert.deepEqual((await column(0)).slice(0, 2), ['old_cache', 'compress']);
});

reportTest('text, verdict and origin filter it', 'diff', async (report) => {
  await report.openList();
  await report.page.fill('[aria-label="Filter functions"]', 'LIBZ');
  await report.settle();
  assert.deepEqual(
    (await rows(report)).map((row) => row[0]),
    ['compress'],
  );
  await report.page.fill('[aria-label="Filter functions"]', '');
  await report.select('[aria-label="Filter by verdict"]', 'more');
  assert.deepEqual(
    (await rows(report)).map((row) => row[0]),
    ['lex', 'parse'],
  );
  assert.match(await report.text('.functions .bar'), /2 of /);
  await report.select('[aria-label="Filter by origin"]', 'system');
  assert.deepEqual(await rows(report), []);
  await report.select('[aria-label="Filter by verdict"]', '');
  assert.deepEqual((await rows(report)).map((row) => row[0]).sort(), [...known.SYSTEM].sort());
  await report.select('[aria-label="Filter by origin"]', '');
  await report.page.fill('[aria-label="Filter functions"]', 'nothing like it');
  await report.settle();
  assert.deepEqual(await rows(report), []);
});

reportTest('a click marks all frames of the function and selects the widest', 'diff', async (report) => {
  await report.openList();
  await report.page.fill('[aria-label="Filter functions"]', 'qsort');
  await report.settle();
  await report.click('.grid-row:has-text("qsort")');
  assert.equal(await report.text('.inspector h2'), 'qsort');
  assert.equal(await report.active(), 'qsort');
  const { edge, top } = await report.middle('qsort');
  const [found] = await report.pixels([[edge + 1.5, top]]);
  assert.ok(near(found, [192, 38, 211], 30), `framed: ${found}`);
  const mark = await report.run(() => document.querySelector('.mark.pinned').getBoundingClientRect().left);
  assert.ok(Math.abs(mark - (await report.picture()).x - edge) < 1.5, `${mark}`);
  assert.equal(await report.run(() => document.querySelector('.grid-row.selected .cell')?.textContent), 'qsort');
});

reportTest('a click on a frame marks its row', 'diff', async (report) => {
  await report.openList();
  await report.clickFrame('compress');
  assert.equal(await report.run(() => document.querySelector('.grid-row[aria-selected=true] .cell')?.textContent), 'compress');
});

reportTest('arrows walk through the rows and bring them into view', 'diff', async (report) => {
  await report.openList();
  await report.page.focus('.grid-body');
  for (let i = 0; i < 12; i++) await report.press('ArrowDown');
  const state = await report.run(() => {
    const row = /** @type {HTMLElement} */ (document.querySelector('.grid-row.selected'));
    const body = /** @type {HTMLElement} */ (document.querySelector('.grid-body'));
    const [r, b] = [row.getBoundingClientRect(), body.getBoundingClientRect()];
    const told = body.getAttribute('aria-activedescendant') === row.id;
    return { index: Number(row.getAttribute('aria-rowindex')), told, inside: r.top >= b.top - 1 && r.bottom <= b.bottom + 1 };
  });
  assert.deepEqual(state, { index: 14, told: true, inside: true }, 'the titles are the first row');
});

reportTest('a grid for screen readers: rows, columns, counts', 'diff', async (report) => {
  await report.openList();
  const roles = await report.run(() => ({
    grid: document.querySelectorAll('.functions [role=grid]').length,
    headers: document.querySelectorAll('.functions [role=columnheader]').length,
    cells: document.querySelectorAll('.grid-row')[0].querySelectorAll('[role=gridcell]').length,
    count: Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount')),
  }));
  assert.equal(roles.grid, 1);
  assert.ok(roles.headers >= 8);
  assert.equal(roles.cells, roles.headers);
  assert.ok(roles.count >= NAMES.length);
});

reportTest('one recording: self and total', 'single', async (report) => {
  await report.openList();
  assert.deepEqual(await report.texts('.grid-head .cell'), ['function', 'where', 'self', 'self %', 'total', 'total %']);
  assert.equal((await rows(report))[0][0], 'compress');
  await sortBy(report, 'total');
  assert.deepEqual(
    (await rows(report)).slice(0, 2).map((row) => row[0]),
    ['__libc_start_main', 'main'],
  );
  assert.deepEqual((await rows(report))[1].slice(4), ['17.8 s', '99.3 %']);
});

reportTest('the bar above the list moves by pointer and by key', 'diff', async (report) => {
  await report.openList();
  const height = () => report.run(() => document.querySelector('.functions')?.clientHeight);
  const before = await height();
  await report.page.focus('.splitter:has(+ .functions)');
  await report.press('ArrowUp', 'ArrowUp');
  assert.ok(Math.abs((await height()) - before - 48) <= 2);
  const bar = await report.page.locator('.splitter:has(+ .functions)').boundingBox();
  await report.page.mouse.move(bar.x + 200, bar.y + 2);
  await report.page.mouse.down();
  await report.page.mouse.move(bar.x + 200, bar.y + 102, { steps: 4 });
  await report.page.mouse.up();
  await report.settle();
  assert.ok(Math.abs((await height()) - before + 52) <= 6, `${before} then ${await height()}`);
  assert.ok(near(await report.fill('parse'), [0xd5, 0x5e, 0]), 'the picture follows');
});

reportTest('a frame that is chosen in the picture is shown in the list', 'diff', async (report) => {
  await report.openList();
  for (const name of ['page_fault', 'compress', 'steady_17']) {
    await report.clickFrame(name);
    const row = await report.run(() => {
      const line = /** @type {HTMLElement} */ (document.querySelector('.grid-row.selected'));
      const body = /** @type {Element} */ (document.querySelector('.grid-body')).getBoundingClientRect();
      const { top, bottom } = line.getBoundingClientRect();
      return { name: line.firstChild?.textContent, visible: top >= body.top - 1 && bottom <= body.bottom + 1 };
    });
    assert.deepEqual(row, { name, visible: true });
    await report.press('0');
  }
});

reportTest('header, list and inspector have one set of proven changes, and say what each is about', 'places', async (report) => {
  const side = await report.texts('.inspector .changes li');
  await report.click('.choice button:text-is("Functions")');
  assert.match(await report.text('.functions .bar .dim'), /, 2 proven changes$/);
  assert.deepEqual(side.length, 3, 'the two, and that of main, which they explain');
  const proven = (await rows(report)).map((row) => `${row[0]} ${row[1]}`).filter((text) => /(self|total)$/.test(text));
  assert.deepEqual(proven.slice(0, 3), ['audit new self', 'check more total', 'left more total'], 'the whole program comes last');
  assert.match(side[0], /^auditnew self 3\.00 s/);
  assert.match(side[1], /^leftmore total \+600 ms/);
  const words = await report.text('header .changes');
  assert.match(words, /audit is new and takes 3\.00 s itself\. left, with all it calls, takes 60\.0 % more time/);
});

reportTest('a line explains the verdict of a frame beside that of its function', 'places', async (report) => {
  await report.openList();
  await report.click('.grid-row:has-text("copy")');
  if ((await report.text('.inspector .badge')) !== 'takes more time') await report.press('n');
  assert.equal(await report.text('.inspector .badge'), 'takes more time', await report.text('.inspector'));
  assert.match(await report.text('.inspector'), /The colour is that of this place; in all 2 places together no change is proven\./);
  assert.doesNotMatch(await report.text('.inspector'), /smallest change|often miss/, 'nothing that contradicts it');
});

reportTest('where only a place is proven to have changed, header, legend and inspector say that', 'one-place', async (report) => {
  assert.match(await report.text('header .words'), /^no function's change is proven, only that of places in the call tree \(1 more\); a change of more than 13 % is excluded; head/);
  assert.match(await report.text('.inspector'), /No function is proven to have changed\.But 1 place in the call tree is, and coloured:/);
  assert.equal((await report.texts('.legend button.key'))[0], 'more time 1 place');
});

reportTest('increases and decreases are two lists, and what is the whole program is not in the first rows', 'places', async (report) => {
  const names = async () => (await rows(report)).map((row) => row[0]);
  await report.click('.choice button:text-is("Functions")');
  const first = await names();
  assert.deepEqual(first.slice(0, 3), ['audit', 'check', 'left']);
  assert.ok(!first.slice(0, 8).includes('main'), `${first}`);
  await report.click('.functions .choice button:text-is("Decreases")');
  assert.deepEqual(await names(), [], 'nothing takes less');
  await report.click('.functions .choice button:text-is("Increases")');
  assert.equal((await names())[0], 'audit');
  assert.deepEqual((await rows(report)).filter((row) => !/^\+/.test(row[2])), []);
  await report.select('[aria-label="Filter by verdict"]', 'more');
  assert.deepEqual(await names(), ['check', 'left', '__libc_start_main', 'main']);
  const bars = await report.run(() =>
    [...document.querySelectorAll('.grid-row')].map((row) => Number(row.querySelector('.barred').style.getPropertyValue('--bar'))),
  );
  assert.equal(bars[0], 1, 'the largest change that is not that of the whole');
  assert.ok(bars[1] > 0.1 && bars[1] < 0.3, `${bars}`);
});
