// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a history: the answer, the chart, the list of changes, and the way to the diff of a point and back.

import assert from 'node:assert/strict';

import { axe, reportTest } from '../lib/browser.js';
import { readHistory } from '../lib/pages.js';
import { pasted } from './keys.js';

/** The id of a function. @param {string} name */
const idOf = (name) => readHistory('history').series[0].functions.find(({ shown }) => shown === name)?.id;

/** The names that are listed. @param {any} report @returns {Promise<string[]>} */
const listed = (report) => report.texts('.history-changes .grid-row [data-column=name]');

/** @param {any} report @param {string} name */
const row = (report, name) => report.page.locator('.history-changes .grid-row', { hasText: name }).first();

/** Until the report of a point, or the overview, is drawn. @param {any} report @param {string} name "" for the overview */
const until = (report, name) =>
  report.until(
    (/** @type {string} */ wanted) =>
      document.documentElement.dataset.ready && (document.querySelector('.part-bar:not([hidden]) b')?.textContent ?? '') === wanted,
    name,
  );

reportTest('the answer comes first, then lines over time and the changes', 'history', async (report) => {
  assert.match(await report.text('.answer'), /^5 changes are open: 4 cost more, 1 costs less; 1 came and went\./);
  assert.deepEqual(await listed(report), ['(total)', 'parse_header', 'json::Value::clone', 'SSL_write', 'std::vector<Item>::reserve', 'gc_mark', 'lookup_price', 'log_line', 'log_record']);
  assert.equal(await report.page.locator('canvas').count(), 0, 'no diff was decoded');
  assert.equal(await report.run(() => document.title), 'History: checkout on api-1 – Kelvin');
});

reportTest('a click opens the diff of both segments, at the function; the bar leads back and on', 'history', async (report) => {
  await row(report, 'parse_header').click();
  await until(report, 'parse_header');
  assert.equal((await report.hash()).since, 'checkout-038.pb.gz');
  assert.match(await report.text('.inspector'), /parse_header/);
  await report.press('[');
  await until(report, 'libssl.so.3 3.0.11 → 3.0.15');
  await report.page.goBack();
  await until(report, 'parse_header');
  await report.press('a');
  await until(report, '');
  assert.equal(await report.text('.grid-row.selected [data-column=name]'), 'parse_header');
});

/** Where a profile, a value or a point of the chart lies in the window. @param {any} report @param {string} selector */
const boxOf = (report, selector) => report.page.locator(selector).first().boundingBox();

/** What the slider says to a screen reader. @param {any} report @returns {Promise<string>} */
const said = (report) => report.run(() => document.querySelector('.chart-profiles').getAttribute('aria-valuetext'));

/** The keys of the lines that are drawn. @param {any} report @returns {Promise<string[]>} */
const names = (report) => report.texts('.plot .name text');

reportTest('only what is proven has a colour', 'history', async (report) => {
  const coloured = await report.run(() => {
    const out = {};
    for (const line of document.querySelectorAll('.plot .line')) {
      const levels = [...line.querySelectorAll('.level')].filter((one) => one.matches('.more, .less'));
      const name = [...document.querySelectorAll('.plot .name')].find((one) => one.dataset.key === line.dataset.key)?.textContent;
      if (levels.length) out[name] = levels[0].getAttribute('class').trim().split(' ')[1];
    }
    return out;
  });
  assert.deepEqual(coloured, { '(total)': 'more', parse_header: 'more', 'json::Value::clone': 'more', SSL_write: 'more', 'std::vector<…>::reserve': 'less', gc_mark: 'more' });
  await report.page.fill('[role=combobox]', 'log_record');
  await report.press('Enter');
  await report.page.fill('[role=combobox]', 'render_template');
  await report.press('Enter');
  const plain = await report.run(() =>
    [...document.querySelectorAll('.plot .name')]
      .filter((one) => /^(log_record|render_template)/.test(one.textContent))
      .map((one) => document.querySelectorAll(`.plot .line[data-key="${one.dataset.key}"] :is(.more, .less)`).length),
  );
  assert.deepEqual(plain, [0, 0], 'cost that moved, and what did not change');
});

reportTest('a profile that is pointed at tells its name, time, labels and values', 'history', async (report) => {
  const { x, y, width } = await boxOf(report, '.chart-profiles');
  await report.point(x + width / 2, y + 150);
  const tip = await report.text('.history-chart .tip');
  assert.match(tip, /^\d+ (Oct|Nov) 14:02 UTCcheckout-0\d\d\.pb\.gzservice\.version 4\d/);
  assert.match(tip, /\(total\)1\.2\d ms.*parse_header2\d\.\d µs.*SSL_write\d{3} µs/);
  const flag = await boxOf(report, '.flag:text("version 41 → 42")');
  await report.point(flag.x + 20, flag.y + 5);
  assert.match(await report.text('.history-chart .tip .at-point'), /^version 41 → 42; changed: \(total\), parse_header and json::Value::clone\. A click or Enter opens the diff\.$/);
  await report.point(5, 5);
  assert.equal(await report.page.locator('.history-chart .tip').isVisible(), false);
});

reportTest('a deploy opens the diff of both sides; one where nothing changed says so', 'history', async (report) => {
  const quiet = await boxOf(report, '.flag:text-is("41")');
  await report.page.mouse.click(quiet.x + 4, quiet.y + 5);
  await report.settle();
  assert.equal(await report.text('.how'), 'version 40 → 41: no change is proven here, so that the page has no diff of it.');
  const flag = await boxOf(report, '.flag:text("version 39 → 40")');
  await report.page.mouse.click(flag.x + 20, flag.y + 5);
  await until(report, 'version 39 → 40');
  assert.deepEqual(await report.hash(), { since: 'checkout-014.pb.gz' });
  assert.match(await report.text('.part-bar'), /since 25 Oct 14:02/);
});

reportTest('the chart is read and opened by keys alone', 'history', async (report) => {
  await report.run(() => /** @type {HTMLElement} */ (document.querySelector('.axes-choice button:last-child')).focus());
  await report.press('Tab');
  assert.equal(await report.run(() => document.activeElement.className), 'chart-profiles');
  assert.match(await said(report), /^22 Nov 14:02, checkout-042\.pb\.gz, \(total\) 1\.\d\d ms, parse_header/);
  assert.ok(await report.page.locator('.history-chart .tip').isVisible());
  await report.press('ArrowLeft');
  assert.match(await said(report), /^21 Nov/);
  await report.press('PageUp');
  assert.match(await said(report), /^18 Nov 14:02, .*version 41 → 42; changed: \(total\), parse_header and/);
  await report.press('PageUp', 'PageUp', 'PageDown');
  assert.match(await said(report), /^12 Nov 14:02, .*no cause is known; gone again: gc_mark\.$/);
  await report.press('Home');
  assert.match(await said(report), /^12 Oct/);
  await report.press('PageDown', 'Enter');
  await until(report, 'version 39 → 40');
});

reportTest('the list is opened by keys alone, and shows the line of a row before the others', 'history', async (report) => {
  await report.press('ArrowDown');
  assert.equal(await report.run(() => document.activeElement.className), 'grid-body');
  await report.press('ArrowDown');
  assert.equal(await report.text('.plot .name.hot'), 'parse_header');
  await report.page.focus('.axes-choice button:text-is("Fit selected line")');
  const before = await report.texts('.plot .tick.value');
  await report.press('Enter');
  assert.notDeepEqual(await report.texts('.plot .tick.value'), before);
  await report.page.focus('.grid-body');
  for (let i = 0; i < 5; i++) await report.press('ArrowDown');
  assert.ok((await names(report)).includes('lookup_price'), 'a line that was not drawn is');
  await report.press('Enter');
  assert.match(await report.text('.how'), /^A drift lies between no two profiles/);
  await report.press('Escape');
  assert.ok(!(await names(report)).includes('lookup_price'));
  await report.press('ArrowDown', 'Enter');
  await until(report, 'parse_header');
});

reportTest('a function that is searched for gets a line, which the address keeps', 'history', async (report) => {
  await report.press('/');
  await report.page.keyboard.type('compress');
  assert.deepEqual(await report.texts('.choices [role=option]'), ['compress_blockself 140 µs']);
  await report.press('Enter');
  assert.ok((await names(report)).includes('compress_block'));
  await report.page.keyboard.type('handle');
  await report.press('ArrowDown', 'Enter');
  assert.deepEqual(await report.texts('.added .chip'), ['compress_block ×', 'handle_request ×']);
  await report.click('.axes-choice button:text-is("Profiles")');
  await report.click('.axes-choice button:text-is("% of total")');
  const { axis, lines, scale } = await report.hash();
  assert.deepEqual([axis, scale, lines.split('.').length], ['index', 'percent', 2]);
  await report.reload();
  assert.deepEqual(await report.texts('.added .chip'), ['compress_block ×', 'handle_request ×']);
  assert.ok((await report.texts('.plot .tick.time')).includes('10'));
  assert.ok((await report.texts('.plot .tick.value')).includes('100 %'));
  await row(report, 'parse_header').click();
  await until(report, 'parse_header');
  await report.press('a');
  await until(report, '');
  assert.equal((await report.hash()).lines, lines, 'the chart is as it was');
  await report.click('.added .chip');
  assert.deepEqual(await report.texts('.added .chip'), ['handle_request ×']);
  assert.equal((await report.hash()).lines, lines.split('.')[1]);
});

reportTest('each series has its answer, and back leads from one to the other', 'history', async (report) => {
  await report.click('.series button:nth-child(2)');
  await report.until(() => document.querySelector('h1').textContent === 'History: checkout on api-2');
  assert.match(await report.text('.answer'), /^No change is proven in 6 profiles/);
  assert.equal(await report.page.locator('.history-changes').isVisible(), false);
  assert.match(await report.text('.warnings'), /With 6 profiles only large changes can be proven\./);
  assert.deepEqual(await report.hash(), { series: 'checkout on api-2' });
  await report.page.goBack();
  await report.until(() => document.querySelector('h1').textContent === 'History: checkout on api-1');
  assert.equal((await listed(report)).length, 9);
});

reportTest('a change whose diff has no room in the page says how to look at it', 'history', async (report) => {
  await row(report, 'gc_mark').click();
  assert.match(await report.text('.how'), /^The diff of this point is not in the page\. This command writes it:kelvin diff \S+ \S+ -o 2026-11-10-1402\.htmlCopy$/);
  assert.deepEqual(await report.hash(), {});
});

reportTest(
  'a link opens a change; one to what the page does not have shows the overview, and says so',
  'history',
  async (report) => {
    assert.equal(await report.text('.part-bar b'), 'std::vector<Item>::reserve');
    assert.match(await report.text('.part-bar .figures'), /^90\.1 → 41\.0 µs, −4\.01 \(−4\.51 to −3\.51\)$/);
    await report.run(() => (location.hash = 'since=gone.pb.gz'));
    await until(report, '');
    assert.equal(await report.text('.how'), 'There is no deploy or change before "gone.pb.gz" in this page.');
  },
  { hash: `since=checkout-014.pb.gz&of=${idOf('std::vector<Item>::reserve')}s` },
);

reportTest('the list is copied as Markdown, below the answer', 'history', async (report) => {
  await report.page.focus('.grid-body');
  await report.press('E');
  await report.until(() => document.querySelector('.how')?.textContent === 'list copied');
  const lines = (await pasted(report)).split('\n');
  assert.equal(lines[0], '### History: checkout on api-1');
  assert.match(lines[2], /^\*\*5 changes are open: 4 cost more/);
  assert.match(lines[7], /^\| 18 Nov 14:02 \| more \| `parse&#95;header`|`parse_header` \| self \| 22\.0 → 47\.9 µs \| \+2\.11 \|/);
});

reportTest('names are text', 'history-hostile', async (report) => {
  assert.ok((await listed(report)).includes('(no name)'));
  await report.page.focus('[role=combobox]');
  await report.press('ArrowDown', 'Enter');
  const { x, y, width } = await boxOf(report, '.chart-profiles');
  await report.point(x + width / 2, y + 150);
  for (const selector of ['.history-changes .grid-row:nth-child(1)', '.history-changes .grid-row:nth-child(4)']) await report.click(selector);
  assert.equal(await report.run(() => /** @type {any} */ (window).hacked), undefined);
  assert.equal(await report.page.locator('img, iframe').count(), 0);
});

reportTest('paper has the whole list, and is light', 'history', async (report) => {
  await report.page.setViewportSize({ width: 1280, height: 500 });
  await report.page.emulateMedia({ colorScheme: 'dark' });
  await report.page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  await report.until(() => document.documentElement.dataset.theme === 'light');
  assert.equal((await listed(report)).length, 9);
  assert.equal(await report.page.locator('.history .controls').isVisible(), false);
  await report.page.emulateMedia({ colorScheme: 'dark', media: 'screen' });
  await report.until(() => document.documentElement.dataset.theme === 'dark');
});

reportTest('400 changes: only those on the screen stand in the page', 'history-large', async (report) => {
  assert.ok((await report.page.locator('.history-changes .grid-row').count()) < 40);
  assert.equal((await names(report)).length, 9, 'eight lines and the total');
  await row(report, '[399]').click();
  assert.match(await report.text('.how'), /^The diff of this point is not in the page/);
});

reportTest(
  'a narrow window shows the chart and the list without cutting figures',
  'history',
  async (report) => {
    const cut = await report.run(() =>
      [...document.querySelectorAll('.history-changes .cell')]
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && !(/** @type {HTMLElement} */ (e).title))
        .map((e) => e.textContent),
    );
    assert.deepEqual(cut, []);
    const outside = await report.run(() =>
      [...document.querySelectorAll('.plot text')]
        .map((e) => e.getBoundingClientRect())
        .filter(({ left, right }) => left < -1 || right > innerWidth + 1).length,
    );
    assert.equal(outside, 0, 'no text leaves the chart');
    assert.ok(await report.run(() => document.documentElement.scrollWidth <= innerWidth));
  },
  { context: { viewport: { width: 390, height: 780 } } },
);

for (const colorScheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `axe-core finds nothing in what opens on a history, ${colorScheme}`,
    'history',
    async (report) => {
      await report.press('/');
      await report.page.keyboard.type('r');
      assert.deepEqual(await report.findings(), [], 'the list of functions');
      await report.press('ArrowDown', 'Enter');
      await row(report, 'gc_mark').click();
      assert.deepEqual(await report.findings(), [], 'an added line and a command');
      await row(report, 'parse_header').click();
      await until(report, 'parse_header');
      assert.deepEqual(await report.findings(), [], 'the diff of a change');
    },
    { script: axe, context: { colorScheme } },
  );
