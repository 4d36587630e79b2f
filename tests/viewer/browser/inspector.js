// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of a frame.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import * as known from '../lib/known.js';
import { recordedUrl } from '../lib/pages.js';
import { pasted } from './keys.js';

/** The rows of the inspector's first table: label, then cells with their lines. @param {any} report */
function figures(report) {
  return report.run(() =>
    [...document.querySelectorAll('.inspector table')[0].querySelectorAll('tbody tr:not(.about)')].map((row) =>
      [...row.children].map((cell) => /** @type {HTMLElement} */ (cell).innerText.replace(/\n/g, ' | ')),
    ),
  );
}

reportTest('without a frame: the change that the verdict names, then the largest; a click leads to the function', 'diff', async (report) => {
  const names = await report.texts('.inspector .changes button');
  assert.deepEqual(names, ['parse', 'new_audit', 'lex', 'main → compress', 'old_cache'], 'increases, then decreases');
  await report.click('.inspector .changes button:text-is("lex")');
  assert.equal(await report.text('.inspector h2'), 'lex');
  assert.ok((await report.text('.found')).startsWith('1/1 '));
});

reportTest('hover shows a frame, leaving lets go, a click pins it', 'diff', async (report) => {
  await report.hover('compress');
  assert.equal(await report.text('.inspector h2'), 'compress');
  await report.point(1270, 300);
  assert.equal(await report.page.locator('.inspector h2').count(), 0);
  await report.clickFrame('compress');
  const box = await report.picture();
  await report.point(box.x + box.width / 2, box.y + 10);
  assert.equal(await report.text('.inspector h2'), 'compress', 'pinned');
  await report.press('Escape');
  assert.notEqual(await report.text('.inspector h2'), 'compress');
});

reportTest('figures of both sides, the difference, beside base and of the total', 'diff', async (report) => {
  await report.clickFrame('parse');
  const rows = await figures(report);
  const [total, self] = ['total', 'self'].map((name) => rows.find((row) => row[0] === name) ?? []);
  assert.equal(total[1], '1.23 s | 7.0 %');
  assert.equal(total[2], '2.23 s | 12.5 %');
  assert.equal(total[3], '+1.00 s | +81.3 % | +5.59 points of total');
  assert.equal(self[1], '400 ms | 2.3 %');
  assert.equal(self[2], '900 ms | 5.0 %');
  assert.equal(self[3], '+500 ms | 2.25× | +2.79 points of total');
});

reportTest('head is scaled in every figure', 'scaled', async (report) => {
  await report.clickFrame('parse');
  const [total] = await figures(report);
  assert.equal(total[2], '2.23 s | 12.5 %');
  assert.equal(total[3], '+1.00 s | +81.3 % | +5.59 points of total');
});

reportTest('verdict, interval, place in the source, origin and the rule that decided', 'diff', async (report) => {
  await report.clickFrame('parse');
  const text = await report.text('.inspector');
  assert.match(text, /takes more time/);
  assert.match(text, /95 % interval of the difference: \+0\.\d+ to \+1\.\d+ s/);
  assert.match(text, /app · src\/app\.c:42/);
  assert.match(text, /user – the program itself/);
  await report.press('0');
  await report.clickFrame('compress');
  assert.match(await report.text('.inspector'), /library – a library's directory/);
});

reportTest('what only one side has says so', 'diff', async (report) => {
  await report.clickFrame('new_audit');
  assert.match(await report.text('.inspector .state'), /^new/);
  assert.match(await report.text('.inspector table'), /none in base/);
  await report.press('0', 'b');
  await report.clickFrame('old_cache', 0);
  assert.match(await report.text('.inspector .state'), /^gone/);
});

/** The bars of a section of the inspector: name and difference, then a line for each side. @param {any} report @param {string} title */
const list = (report, title) =>
  report.run(
    (/** @type {string} */ t) =>
      [...document.querySelectorAll('.inspector section')]
        .filter((s) => s.querySelector('h3')?.textContent === t)
        .flatMap((s) => [...s.querySelectorAll('li')].map((li) => [...li.children].map((one) => one.textContent).join(' | '))),
    title,
  );

reportTest('callers and callees with the figures of the sides that are shown; a click leads there', 'diff', async (report) => {
  await report.clickFrame('parse');
  assert.deepEqual(await list(report, 'Callers'), ['main+1.00 s | base1.23 s 7.0 % | head2.23 s 12.5 %']);
  assert.deepEqual(await list(report, 'Callees'), [
    'self+500 ms | base400 ms 2.3 % | head900 ms 5.0 %',
    'lex+500 ms | base600 ms 3.4 % | head1.10 s 6.1 %',
    'malloc±0 s | base230 ms 1.3 % | head230 ms 1.3 %',
  ]);
  const lengths = await report.run(() =>
    [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.inspector .bars .bar'))]
      .slice(2, 8)
      .map((bar) => Number(Number(bar.style.getPropertyValue('--bar')).toFixed(3))),
  );
  assert.deepEqual(lengths, [400, 900, 600, 1100, 230, 230].map((ms) => Number((ms / 1100).toFixed(3))), 'on one scale');
  await report.press('b');
  assert.deepEqual(await list(report, 'Callers'), ['main | base1.23 s 7.0 %'], "base's share beside base's widths");
  await report.press('h');
  assert.deepEqual((await list(report, 'Callees'))[1], 'lex | head1.10 s 6.1 %');
  await report.press('d');
  await report.click('.inspector section button:text-is("lex")');
  assert.equal(await report.text('.inspector h2'), 'lex');
});

reportTest('all callers and all callees of a function, and back', 'diff', async (report) => {
  await report.clickFrame('malloc');
  await report.click('.inspector button:text-is("All callers")');
  assert.ok((await report.text('.chips')).includes('callers of malloc'));
  const box = await report.picture();
  for (const [row, name] of ['malloc', 'parse', 'main', '__libc_start_main'].entries()) {
    await report.point(box.x + box.width / 2, box.y + (row + 1.5) * 19);
    assert.ok((await report.text('.status')).startsWith(`${name} — base 230 ms`), await report.text('.status'));
  }
  await report.click('.chips .chip');
  assert.deepEqual(await report.hash(), {});
  await report.clickFrame('sort_items');
  await report.click('.inspector button:text-is("All callees")');
  await report.point(box.x + box.width / 2, box.y + 1.5 * 19);
  assert.match(await report.text('.status'), /^sort_items — base 900 ms/);
});

reportTest('name and stack are copied', 'diff', async (report) => {
  await report.clickFrame('compare');
  const status = await report.text('.status');
  await report.click('.inspector button:text-is("Copy name")');
  await report.until(() => document.querySelector('[role=status]')?.textContent === 'name copied');
  assert.equal(await pasted(report), 'compare');
  await report.click('.inspector button:text-is("Copy stack")');
  await report.until(() => document.querySelector('[role=status]')?.textContent === 'stack copied');
  const [titles, ...lines] = (await pasted(report)).split('\n');
  assert.match(titles, /^ *base +head +difference +function$/);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).filter(Boolean)[3].replace(/ \(.*/, '')),
    known.frameOf('compare'),
  );
  // The last line has the figures of the frame that is selected.
  for (const figure of lines[lines.length - 1].split(/ {2,}/).filter(Boolean).slice(0, 3))
    assert.ok(status.includes(figure), `${figure} in ${status}`);
});

reportTest('a link to what is seen is copied: the selected frame, the filters', 'diff', async (report) => {
  await report.clickFrame('compare');
  await report.press('k');
  await report.press('Shift+F10');
  await report.click('.menu button:has-text("Copy link")');
  await report.until(() => document.querySelector('[role=status]')?.textContent === 'link copied');
  const { href } = await report.run(() => ({ href: location.href }));
  assert.match(href, /#w=o.*&f=/);
  assert.equal(await pasted(report), href);
});

reportTest(
  'a caller says where it is, and a frame that is picked is read from its beginning',
  'diff',
  async (report) => {
    await report.clickFrame('compare');
    const caller = report.page.locator('.inspector .bars .link').first();
    assert.match(await caller.getAttribute('title'), /^\S.*\n.+/, 'its whole name, and its module');
    await report.run(() => document.querySelector('.inspector')?.scrollTo(0, 9999));
    assert.ok((await report.run(() => document.querySelector('.inspector')?.scrollTop)) > 0, 'it is longer than the window');
    await caller.click();
    await report.settle();
    assert.notEqual(await report.text('.inspector h2'), 'compare');
    assert.equal(await report.run(() => document.querySelector('.inspector')?.scrollTop), 0);
  },
  { context: { viewport: { width: 1280, height: 600 } } },
);

reportTest('one recording: time and share only', 'single', async (report) => {
  await report.clickFrame('parse');
  const [total, self] = await figures(report);
  assert.deepEqual(total, ['total', '2.23 s', '12.5 %']);
  assert.deepEqual(self, ['self', '900 ms', '5.0 %']);
  assert.doesNotMatch(await report.text('.inspector'), /base|head|Δ|difference|proven/i);
});

reportTest('under a filter the interval of the whole is not shown', 'diff', async (report) => {
  await report.openList();
  await report.press('s');
  await report.click('.grid-row:has-text("parse")');
  assert.equal(await report.text('.inspector h2'), 'parse');
  assert.doesNotMatch(await report.text('.inspector'), /95 % interval/);
});

reportTest(
  'where an interval without 0 proves nothing, the reason stands beside it',
  'diff',
  async (report) => {
    const reason = /^not proven: its own 95 % interval excludes 0, but among so many functions/;
    await report.openList();
    await report.click('[role=columnheader]:has-text("self base")');
    await report.click('.grid-row:has-text("checksum")');
    assert.match(await report.text('.inspector h2'), /checksum/);
    const states = await report.run(() => [...document.querySelectorAll('.inspector .state')].map((state) => state.textContent ?? ''));
    assert.ok(states.some((state) => reason.test(state)), states.join('; '));
    assert.ok((await report.text('.status')).includes(` · ${await report.text('.inspector .badge')}`), 'the foot says the same');
    assert.match(await report.text('.inspector'), /95 % interval of the difference: [-−–]/);
    const titles = await report.run(() => {
      const row = [...document.querySelectorAll('.grid-row')].find((r) => /checksum/.test(r.firstElementChild?.textContent ?? ''));
      return [...(row?.querySelectorAll('.s-unproven') ?? [])].map((cell) => /** @type {HTMLElement} */ (cell).title);
    });
    assert.ok(titles.length > 0 && titles.every((title) => states.includes(title)), 'the row says the same as the inspector');
  },
  { url: recordedUrl('criterion_base_1', 'criterion_head_1') },
);

reportTest('each verdict stands below the figures that it is about', 'places', async (report) => {
  await report.openList();
  await report.click('.grid-row:has-text("copy")');
  const tables = await report.run(() =>
    [...document.querySelectorAll('.inspector table.figures')].map((table) =>
      [...table.querySelectorAll('tbody tr')].map((row) => row.querySelector('th')?.textContent || row.querySelector('.badge')?.textContent),
    ),
  );
  assert.deepEqual(
    tables.map((rows) => rows.filter((text) => text === 'total' || text === 'self')),
    [['total', 'self'], ['total', 'self']],
  );
  for (const rows of tables) assert.ok(!['total', 'self'].includes(rows[1]), `a verdict follows the total: ${rows}`);
});

reportTest('a verdict under a toggle stands with what was tested, and with what is shown', 'diff', async (report) => {
  await report.openList();
  await report.press('s');
  await report.click('.grid-row:has-text("parse")');
  const text = await report.text('.inspector');
  assert.match(text, /tested without filters: 1\.23 s → 2\.23 s, \+1\.00 s \+81\.3 %/);
  assert.match(text, /total.*1\.00 s/);
});

reportTest('what of it is mine, a library, the system; and all of its module in one step, and back', 'diff', async (report) => {
  await report.clickFrame('main');
  const here = await list(report, 'Here, by origin of what ran');
  assert.deepEqual(
    here.map((text) => text.replace(/[+±−].*/, '')),
    ['user', 'library', 'system'],
  );
  assert.match(here[1], /^library−800 ms \| base2\.00 s 11\.4 % \| head1\.20 s 6\.7 %$/);
  await report.press('0');
  await report.clickFrame('compress');
  assert.match((await list(report, 'Everything through libz.so')).join(), /base2\.00 s 11\.4 % \| head1\.20 s 6\.7 %/);
  await report.click('.inspector .module button');
  assert.match(await report.text('.filters[aria-label=Filters]'), /only stacks through libz\.so/);
  assert.equal(await report.run(() => document.querySelector('.inspector .module button')?.getAttribute('aria-pressed')), 'true');
  await report.click('.inspector .module button');
  assert.equal(await report.text('.filters[aria-label=Filters]'), '');
});

reportTest('what is gone is led to in one click, whatever the view', 'diff', async (report) => {
  for (const keys of [[], ['h'], ['b'], ['i'], ['h', 'i']]) {
    await report.press(...keys);
    await report.click('.inspector .changes button:text-is("old_cache")');
    assert.equal(await report.active(), 'old_cache', keys.join());
    const mark = await report.run(() => {
      const { width, height } = /** @type {Element} */ (document.querySelector('.mark.pinned:not([hidden])')).getBoundingClientRect();
      return width > 2 && height > 2;
    });
    assert.ok(mark, `it is seen: ${keys}`);
    await report.page.goto(report.page.url().split('#')[0] + '#');
    await report.settle();
  }
});

reportTest('without a frame, a single recording shows the functions with the most own time', 'single', async (report) => {
  const names = [...new Set(known.STACKS.map(([path]) => path[path.length - 1]))];
  const busiest = names.sort((a, b) => known.selfOf(b)[1] - known.selfOf(a)[1]);
  const links = await report.texts('.inspector .neighbours .link');
  assert.equal(links.length, 8);
  assert.deepEqual(links.slice(0, 2), busiest.slice(0, 2));
  await report.click('.inspector .neighbours .link');
  assert.match(await report.text('#active-frame'), new RegExp(`^${links[0]},`));
});
