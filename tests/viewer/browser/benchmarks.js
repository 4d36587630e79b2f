// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a suite: the list of benchmarks, and the way to the report of each and back.

import assert from 'node:assert/strict';

import { axe, reportTest } from '../lib/browser.js';
import { pasted } from './keys.js';

const PARSE = 'tests/test_parse.py::test_parse[10]';
const RENDER = 'tests/test_page.py::TestPage::test_render';

/** The names that are listed. @param {any} report @returns {Promise<string[]>} */
const listed = (report) => report.texts('.benchmarks .grid-row > :first-child');

/** Until the report of a benchmark, or the list, is drawn. @param {any} report @param {string} name "" for the list */
const until = (report, name) =>
  report.until(
    (/** @type {string} */ wanted) =>
      document.documentElement.dataset.ready && (document.querySelector('.part-bar:not([hidden]) b')?.textContent ?? '') === wanted,
    name,
  );

/** @param {any} report @param {string} name */
const row = (report, name) => report.page.locator('.benchmarks .grid-row', { hasText: name }).first();

reportTest('the list comes first: verdict, what limits it, benchmarks with figures', 'suite', async (report) => {
  assert.match(await report.text('.suite-verdict'), /^mixed2 of 8 benchmarks are slower: test_parse\[10\] by 12\.5 %/);
  assert.deepEqual((await report.texts('.warnings li')).length, 2);
  assert.deepEqual((await listed(report)).slice(0, 4), ['test_parse[10]', 'TestPage::test_render', 'test_sort', 'test_fork']);
  const first = await report.texts('.benchmarks .grid-row:first-child .cell');
  assert.deepEqual(first.slice(1, 7), ['tests/test_parse.py', 'regressed', '1.20 ms', '1.35 ms', '+12.5 %', '+9.0 to +16.0 %']);
  assert.equal(await report.run(() => document.title), 'Benchmarks: pytest --codspeed: before → after change – Kelvin diff');
  assert.equal(await report.page.locator('canvas').count(), 0, 'no benchmark was decoded');
});

reportTest('the interval is drawn where it lies', 'suite', async (report) => {
  const drawn = await report.run(() => {
    const line = document.querySelector('.benchmarks .grid-row .interval');
    const box = line.getBoundingClientRect();
    const part = (/** @type {string} */ s) => {
      const { left, right } = line.querySelector(s).getBoundingClientRect();
      return [(left - box.left) / box.width, (right - box.left) / box.width];
    };
    return { reach: part('.reach'), point: part('.point') };
  });
  // The axis leads from -50 % to 2 times; 9 to 16 % more lie in the outer half of its upper half.
  assert.ok(Math.abs(drawn.reach[0] - 0.77) < 0.01 && Math.abs(drawn.reach[1] - 0.826) < 0.01, String(drawn.reach));
  assert.ok(drawn.point[0] < 0.802 && drawn.point[1] > 0.8, String(drawn.point));
  assert.deepEqual(await report.texts('.axis .tick'), ['−50 %', '+1 %', '−1 %', '+10 %', '−10 %', '0', '2×']);
  const places = await report.run(() => {
    const box = document.querySelector('.axis').getBoundingClientRect();
    return [...document.querySelectorAll('.axis .tick:not(.low, .high)')]
      .map((e) => e.getBoundingClientRect())
      .filter((e) => e.width)
      .map((e) => ((e.left + e.right) / 2 - box.left) / box.width);
  });
  assert.ok(places.length >= 2 && places.every((at) => at > 0 && at < 1), String(places));
});

reportTest('the list and the report of a benchmark say the same, and which line explains it', 'suite-made', async (report) => {
  const cells = await report.texts('.benchmarks .grid-row:first-child .cell');
  const change = cells.find((text) => /^[+−][\d.]+ %$/.test(text)) || '';
  const because = cells[cells.length - 1];
  assert.match(because, /^parse \S+:\d+$/);
  await row(report, 'test_parse').click();
  await until(report, 'test_parse');
  const sentence = await report.text('.verdict .words');
  assert.ok((await report.text('.part-bar .figures')).includes(change));
  assert.ok(sentence.includes(`test_parse is slower by ${change.slice(1)}`), `${change}: ${sentence}`);
  assert.ok(sentence.includes(`: parse (${because.split(' ')[1]}) itself takes`), sentence);
  await report.page.emulateMedia({ media: 'print' });
  await report.until(() => !!document.querySelector('.paper'));
  const places = await report.texts('.paper tbody td:nth-child(2)');
  assert.ok(places.some((place) => place.startsWith(because.split(' ')[1])), String(places));
});

reportTest('a click opens a benchmark with all that a report has; the bar leads back and on', 'suite', async (report) => {
  await row(report, 'test_parse[10]').click();
  await until(report, 'test_parse[10]');
  assert.deepEqual(await report.hash(), { benchmark: PARSE });
  assert.equal(await report.text('.part-bar .figures'), 'time per iteration 1.20 ms → 1.35 ms, +12.5 % (+9.0 to +16.0 %)');
  assert.match(await report.text('.inspector'), /work_of_parse/);
  assert.match(await report.run(() => document.title), /^test_parse\[10\] – /);
  await report.click('.choice button:text-is("Timeline")');
  await report.until(() => document.querySelector('.lane-head'));
  assert.deepEqual(await report.hash(), { benchmark: PARSE, t: 'timeline' });
  await report.click('.part-bar .steps button:last-child');
  await until(report, 'TestPage::test_render');
  assert.deepEqual(await report.hash(), { benchmark: RENDER });
  assert.match(await report.text('.inspector'), /work_of_render/);
  await report.click('.part-bar .back');
  await until(report, '');
  assert.equal(await report.run(() => document.activeElement.className), 'grid-body');
  assert.equal(await report.text('.grid-row.selected > :first-child'), 'TestPage::test_render');
});

reportTest('back and forward lead through benchmarks and their states', 'suite', async (report) => {
  await row(report, 'test_parse[10]').click();
  await until(report, 'test_parse[10]');
  await report.press('h');
  await report.press(']');
  await until(report, 'TestPage::test_render');
  await report.page.goBack();
  await until(report, 'test_parse[10]');
  assert.deepEqual(await report.hash(), { benchmark: PARSE, v: 'head' });
  assert.equal(await report.text('[aria-label=Recording] [aria-pressed=true]'), 'Head');
  await report.page.goBack();
  await report.until(() => document.querySelector('[aria-label=Recording] [aria-pressed=true]')?.textContent === 'Diff');
  await report.page.goBack();
  await until(report, '');
  await report.page.goForward();
  await until(report, 'test_parse[10]');
});

reportTest('a report that was left hears no key and writes no address', 'suite', async (report) => {
  await row(report, 'test_parse[10]').click();
  await until(report, 'test_parse[10]');
  for (const name of ['TestPage::test_render', 'test_sort']) {
    await report.press(']');
    await until(report, name);
  }
  const before = await report.run(() => history.length);
  await report.press('i');
  await report.until(() => location.hash.includes('i=1'));
  assert.equal(await report.run(() => history.length), before + 1);
  assert.equal((await report.hash()).benchmark, 'tests/test_sort.py::test_sort');
  await report.press('a');
  await until(report, '');
  await report.press('i', 'h', 's');
  assert.deepEqual(await report.hash(), {});
});

reportTest(
  'a link opens a benchmark in its state',
  'suite',
  async (report) => {
    assert.equal(await report.text('.part-bar b'), 'test_parse[10]');
    assert.equal(await report.text('[aria-label=Recording] [aria-pressed=true]'), 'Base');
    await report.press('a');
    await until(report, '');
    assert.equal((await listed(report)).length, 10);
  },
  { hash: `benchmark=${encodeURIComponent(PARSE)}&v=base` },
);

reportTest('all benchmarks together are an entry', 'suite', async (report) => {
  await report.click('a.entry:text-is("All benchmarks together")');
  await until(report, 'All benchmarks together');
  assert.deepEqual(await report.hash(), { benchmarks: 'all' });
  assert.match(await report.text('.inspector'), /parse.*sort/s);
  await report.press(']');
  await until(report, 'test_parse[10]');
});

reportTest('benchmarks that only one side has open as the report of that side', 'suite', async (report) => {
  await row(report, 'test_cache').click();
  await until(report, 'test_cache');
  assert.equal(await report.text('.part-bar .badge'), 'removed');
  assert.equal(await report.page.locator('[aria-label=Recording]').count(), 0);
});

reportTest('a benchmark without a part says how to look at it', 'suite', async (report) => {
  await row(report, 'test_fork').click();
  const how = await report.text('.how');
  assert.match(how, /^test_fork has no flame graphs in this page\./);
  assert.match(how, /kelvin diff before\.pb\.gz 'after change\.pb\.gz' --benchmark tests\/test_fork\.py::test_fork -o benchmark\.html/);
  assert.deepEqual(await report.hash(), {});
  assert.match(await report.text('footer'), /6 of 10 have their flame graphs in this page/);
  await row(report, 'test_sort').click();
  await until(report, 'test_sort');
});

reportTest(
  'a link to a benchmark that the page does not have shows the list, and says so',
  'suite',
  async (report) => {
    assert.equal(await report.text('.how'), 'There is no benchmark "gone.py::test" in this page.');
    assert.equal((await listed(report)).length, 10);
  },
  { hash: 'benchmark=gone.py%3A%3Atest' },
);

reportTest('the list is filtered, sorted and opened by keys alone', 'suite', async (report) => {
  await report.press('/');
  await report.page.keyboard.type('test_parse.py');
  assert.deepEqual(await listed(report), ['test_parse[10]', 'test_lex']);
  assert.equal(await report.text('.controls .dim'), '2 of 10');
  await report.press('ArrowDown', 'ArrowDown', 'Enter');
  await until(report, 'test_lex');
  await report.press('a');
  await until(report, '');
  assert.deepEqual(await listed(report), ['test_parse[10]', 'test_lex'], 'the filter is as it was');
  await report.press('Escape');
  assert.equal((await listed(report)).length, 10);
  await report.page.focus('.choice-chips button:nth-child(2)');
  await report.press('Enter');
  assert.deepEqual(await listed(report), ['test_sort']);
  await report.press('Escape');
  await report.page.focus('[role=columnheader]:text-is("base")');
  await report.press('Enter');
  assert.match((await listed(report))[0], /^test_matrix/);
  assert.equal(await report.page.locator('[aria-sort=descending]').textContent(), 'base');
});

reportTest('the list is copied as Markdown, as it is filtered', 'suite', async (report) => {
  await report.page.focus('.choice-chips button:nth-child(1)');
  await report.press('Enter');
  await report.page.focus('.grid-body');
  await report.press('E');
  await report.until(() => document.querySelector('.how')?.textContent === 'list copied');
  const lines = (await pasted(report)).split('\n');
  assert.equal(lines[0], '### Benchmarks: pytest --codspeed: before → after change');
  assert.match(lines[2], /^\*\*Mixed: 2 of 8 benchmarks are slower/);
  assert.equal(lines[4], 'listed: regressed');
  assert.match(lines[8], /^\| `test_parse\[10\]` \| `tests\/test_parse\.py` \| regressed \| 1\.20 ms \| 1\.35 ms \| \+12\.5 % \| .* \| `work_of_parse app\.c:7` \|$/);
  assert.equal(lines.filter((line) => line.startsWith('| `')).length, 2);
});

reportTest('a theme that is chosen in the list or in a report holds in both', 'suite', async (report) => {
  const theme = () => report.run(() => document.documentElement.dataset.theme);
  const before = await theme();
  await report.click('[aria-label="Switch between light and dark"]');
  assert.notEqual(await theme(), before);
  await row(report, 'test_sort').click();
  await until(report, 'test_sort');
  assert.notEqual(await theme(), before);
  await report.click('[aria-label="Switch between light and dark"]');
  await report.press('a');
  await until(report, '');
  assert.equal(await theme(), before);
});

reportTest('a suite as it is compared: each benchmark opens', 'suite-made', async (report) => {
  assert.match(await report.text('.suite-verdict'), /^regressed1 of 2 benchmarks is slower: test_parse by 25\.0 %/);
  assert.match(await report.text('.warnings'), /test_audit/);
  assert.match(await report.text('.evidence'), /Times are of one iteration, as the harness measured them\./);
  assert.deepEqual(await listed(report), ['test_parse', 'test_audit', 'test_sort']);
  await row(report, 'test_parse').click();
  await until(report, 'test_parse');
  assert.equal(await report.text('.verdict .badge'), 'regressed');
  await report.press(']');
  await until(report, 'test_audit');
  assert.match(await report.text('.verdict .words'), /^2\.00 s · [\d,]+ samples in the whole recording/);
  await report.press('a');
  await until(report, '');
  await row(report, 'test_sort').click();
  await until(report, 'test_sort');
  assert.equal(await report.text('.part-bar .badge'), 'unchanged');
});

reportTest('the benchmarks of one side', 'suite-single', async (report) => {
  assert.equal(await report.text('.suite-verdict'), '9 benchmarks in 5 executions');
  assert.deepEqual(await report.texts('[role=columnheader]'), ['benchmark', 'in', 'time per iteration', 'rounds', 'iterations']);
  assert.match((await listed(report))[0], /^test_matrix/);
  await row(report, 'test_sort').click();
  await until(report, 'test_sort');
  assert.equal(await report.text('.part-bar .figures'), 'time per iteration 4.00 ms');
  assert.equal(await report.text('.part-bar .steps'), '‹1 of 5›');
});

reportTest('exact counts have no intervals', 'suite-exact', async (report) => {
  const titles = await report.texts('[role=columnheader]');
  assert.ok(!titles.includes('95 % interval'), String(titles));
  const first = await report.texts('.benchmarks .grid-row:first-child .cell');
  assert.deepEqual(first.slice(2, 6), ['regressed', '1,234,567', '1,334,567', '+8.1 %']);
});

reportTest('10,000 benchmarks: only those on the screen stand in the page', 'suite-large', async (report) => {
  const rows = () => report.page.locator('.benchmarks .grid-row').count();
  assert.ok((await rows()) < 60);
  await report.run(() => (document.querySelector('.benchmarks .grid-body').scrollTop = 5000 * 24));
  await report.settle();
  assert.ok((await listed(report)).includes('test_case[5010]'));
  assert.ok((await rows()) < 60);
  await report.page.fill('[aria-label="Filter benchmarks"]', 'test_99.py::test_case[99');
  assert.equal(await report.text('.controls .dim'), '100 of 10,000');
});

reportTest('where the list was scrolled to is where one comes back to', 'suite-large', async (report) => {
  const scrolled = () => report.run(() => document.querySelector('.benchmarks .grid-body').scrollTop);
  await report.click('[role=columnheader]:text-is("base")');
  await report.run(() => (document.querySelector('.benchmarks .grid-body').scrollTop = 1e6));
  await report.settle();
  const before = await scrolled();
  assert.ok(before > 9000 * 24);
  await row(report, 'test_case[0]').click();
  await until(report, 'test_case[0]');
  await report.press('a');
  await until(report, '');
  assert.equal(await scrolled(), before);
});

reportTest('names of benchmarks are text', 'suite-hostile', async (report) => {
  const names = await listed(report);
  assert.ok(names.includes('</script><img src=x onerror=window.hacked=1>'));
  assert.ok(names.includes('(no name)'));
  for (const name of names.slice(0, 5)) {
    await row(report, name).click();
    await until(report, name);
    await report.press('a');
    await until(report, '');
  }
  assert.equal(await report.run(() => /** @type {any} */ (window).hacked), undefined);
  assert.equal(await report.page.locator('img, iframe').count(), 0);
});

for (const colorScheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `axe-core finds nothing serious in a suite, ${colorScheme}`,
    'suite',
    async (report) => {
      await row(report, 'test_fork').click();
      assert.deepEqual(await report.findings(), [], 'the list');
      await row(report, 'test_parse[10]').click();
      await until(report, 'test_parse[10]');
      assert.deepEqual(await report.findings(), [], 'a benchmark');
    },
    { script: axe, context: { colorScheme } },
  );

reportTest(
  'a narrow window shows the list without cutting figures',
  'suite',
  async (report) => {
    const cut = await report.run(() =>
      [...document.querySelectorAll('.benchmarks .cell')]
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && !(/** @type {HTMLElement} */ (e).title))
        .map((e) => e.textContent),
    );
    assert.deepEqual(cut, []);
    const wide = await report.run(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 800, String(wide));
    assert.ok((await report.picture().catch(() => null)) === null);
  },
  { context: { viewport: { width: 800, height: 700 } } },
);
