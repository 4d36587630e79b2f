// SPDX-License-Identifier: GPL-3.0-or-later
// For readers who do not see the picture or use no mouse.

import assert from 'node:assert/strict';

import { axe, reportTest } from '../lib/browser.js';

/** @param {any} report @param {string} where */
const noFinding = async (report, where) => assert.deepEqual(await report.findings(), [], where);

/** The widths that a page is looked at in: a screen, a half of it, a phone. */
const WINDOWS = [
  { width: 1280, height: 800 },
  { width: 800, height: 1000 },
  { width: 390, height: 780 },
];

/** Every kind of page that can be looked at in a moment. */
const KINDS = [
  ...['diff', 'scaled', 'same', 'single', 'empty-base', 'empty-head', 'timeline', 'metrics', 'waits', 'waits-busy'],
  ...['bottlenecks', 'bottlenecks-single', 'requests', 'requests-single', 'interrupts', 'processes', 'python', 'hostile', 'deep'],
  ...['suite', 'suite-single', 'suite-exact', 'suite-hostile', 'suite-made', 'suite-made-single'],
  ...['history', 'history-shares', 'history-quiet', 'history-hostile'],
];

/** One of each sort of page, which is looked at in all windows and both themes; every kind is with KELVIN_ALL, as `scripts/test --all`. */
const LAYOUTS = ['timeline', 'bottlenecks', 'suite', 'history'];

/** @param {any} report @param {string} kind */
async function lookAround(report, kind) {
  for (const size of WINDOWS) {
    await report.page.setViewportSize(size);
    await report.settle();
    await noFinding(report, `${size.width} pixels`);
    await report.page.emulateMedia({ colorScheme: 'dark' });
    await report.settle();
    // Themes differ in colours alone.
    assert.deepEqual(await report.findings('cat.color'), [], `dark, ${size.width} pixels`);
    await report.page.emulateMedia({ colorScheme: 'light' });
  }
  if (/^(suite|history)/.test(kind)) return;
  await report.click('.choice button:text-is("Functions")');
  await noFinding(report, 'functions on a phone');
}

for (const kind of KINDS) {
  const all = LAYOUTS.includes(kind) || process.env.KELVIN_ALL;
  reportTest(
    `axe-core finds nothing at any level in "${kind}"${all ? ', at three widths and in both themes' : ''}`,
    kind,
    (report) => (all ? lookAround(report, kind) : noFinding(report, 'as it opens')),
    { script: axe },
  );
}

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  reportTest(
    `axe-core finds nothing at any level in what opens, ${colorScheme}`,
    'timeline',
    async (report) => {
      await report.openList();
      await report.click('.grid-row');
      await report.click('details.more summary');
      await noFinding(report, 'with a frame pinned and the header open');
      await report.press('2', 's', '/');
      await report.page.keyboard.type('w');
      await report.until(() => document.querySelector('.found'));
      await noFinding(report, 'with a search and without system calls');
      await report.page.focus('.overlay');
      await report.press('Escape', 's', 'ArrowDown', 'ArrowDown', 'k', 'Shift+F10');
      await noFinding(report, 'with a menu and a filter');
      await report.press('Escape', 'Delete');
      await report.click('.choice button:text-is("Timeline")');
      await noFinding(report, 'timeline');
      await report.page.setViewportSize(WINDOWS[2]);
      await noFinding(report, 'timeline on a phone');
      await report.click('.opens-more');
      await noFinding(report, 'more controls');
      await report.press('Escape');
      await report.click('[aria-label=Help]');
      await noFinding(report, 'help');
    },
    { script: axe, context: { colorScheme } },
  );

  reportTest(
    `axe-core finds nothing at any level in a report of waits, ${colorScheme}`,
    'waits',
    async (report) => {
      await report.click('[aria-label="Waits by class"] .chip');
      await report.click('.overlay');
      await noFinding(report, 'with a class left out and a frame pinned');
      await report.click('[role=group][aria-label=View] :text("Timeline")');
      await noFinding(report, 'timeline');
    },
    { script: axe, context: { colorScheme } },
  );
}

/** What has the focus: its classes or tag, and its label. @param {any} report @returns {Promise<string>} */
const focused = (report) =>
  report.run(() => {
    const e = /** @type {any} */ (document.activeElement);
    if (!e || e === document.body) return '';
    const box = e.getBoundingClientRect();
    return `${e.className || e.tagName.toLowerCase()}|${e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent?.slice(0, 30)}|${Math.round(box.top)}`;
  });

reportTest('Tab and the arrows reach every control and the picture, in the order of the page', 'diff', async (report) => {
  await report.openList();
  const seen = [];
  const stops = [];
  await report.run(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  for (let i = 0; i < 60; i++) {
    await report.page.keyboard.press('Tab');
    const what = await focused(report);
    if (!what) break;
    seen.push(what);
    stops.push(what);
    if (!(await report.run(() => document.activeElement?.closest('[role=toolbar], .grid-head')))) continue;
    // All of a bar, and back to where it began.
    for (let j = 0; j < 20; j++) {
      await report.page.keyboard.press('ArrowRight');
      const next = await focused(report);
      if (next === what) break;
      seen.push(next);
    }
  }
  const all = seen.join('\n');
  for (const part of [
    'To the picture',
    'Base',
    'Flame',
    'Colour',
    'System calls',
    'Before → After',
    'Removed',
    'By function',
    'Search functions',
    'Help',
    'overlay|',
    'Filter functions',
    'grid-body|',
    'Inspector',
    'splitter|',
    'Palette',
    'verdict',
  ])
    assert.ok(all.includes(part), `${part} in\n${all}`);
  const tops = stops.filter((line) => /controls|choice|overlay|grid-body/.test(line)).map((line) => Number(line.split('|')[2]));
  assert.deepEqual(
    tops,
    [...tops].sort((a, b) => a - b),
  );
  const before = stops.findIndex((line) => line.startsWith('overlay'));
  assert.ok(before <= 7, `${before} stops before the picture:\n${stops.join('\n')}`);
});

for (const [kind, tab, target] of [
  ['diff', 'Flame', 'overlay'],
  ['timeline', 'Timeline', 'chart-overlay'],
  ['diff', 'Functions', 'grid-body'],
])
  reportTest(`Tab and Enter lead to what fills the window: ${tab}`, kind, async (report) => {
    await report.run((to) => /** @type {any} */ (window).kelvin.set({ tab: to }), tab.toLowerCase());
    await report.settle();
    await report.press('Tab');
    const box = await report.page.locator('.skip').boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0, 'it is seen while it has the focus');
    await report.press('Enter');
    assert.match(await focused(report), new RegExp(`^${target}`));
    assert.ok(await report.run(() => getComputedStyle(/** @type {Element} */ (document.querySelector('.skip'))).clipPath !== 'none'));
  });

reportTest('arrows, Home and End move in a bar that was reached by Tab, and in the picture after a click in one', 'diff', async (report) => {
  const label = async () => (await focused(report)).split('|')[1];
  await report.page.focus('.choice button:text-is("Diff")');
  await report.press('ArrowRight');
  assert.equal(await label(), 'Flame');
  await report.press('ArrowLeft', 'ArrowLeft');
  assert.equal(await label(), 'Head');
  await report.press('End');
  assert.equal(await label(), 'Help');
  await report.press('ArrowRight');
  assert.equal(await label(), 'Base', 'round the end');
  assert.deepEqual(await report.hash(), {}, 'no frame is selected meanwhile');
  await report.press('Tab', 'Shift+Tab');
  assert.equal(await label(), 'Base', 'the stop is where one was');
  await report.click('.choice button:text-is("Head")');
  await report.press('ArrowDown', 'ArrowRight');
  assert.equal(await report.active(), '__libc_start_main');
  assert.equal(await label(), 'Head');
});

reportTest('lists of a bar keep their value while arrows pass over them', 'metrics', async (report) => {
  const value = () => report.run(() => /** @type {any} */ (document.querySelector('[aria-label=Metric]')).value);
  const before = await value();
  await report.page.focus('[aria-label=Metric]');
  await report.press('ArrowRight', 'ArrowLeft');
  assert.equal(await value(), before);
  await report.press('ArrowDown');
  assert.notEqual(await value(), before, 'up and down choose');
});

reportTest('what has the focus is seen', 'diff', async (report) => {
  await report.openList();
  for (const selector of ['.choice button', '.overlay', '.grid-body', '.splitter:has(+ .functions)', '[data-keep=search]']) {
    await report.page.focus(selector);
    await report.page.keyboard.press('Shift+Tab');
    await report.page.keyboard.press('Tab');
    const outline = await report.run(() => {
      const style = getComputedStyle(/** @type {Element} */ (document.activeElement));
      return `${style.outlineStyle} ${style.outlineWidth}`;
    });
    assert.match(outline, /^(solid|auto) [1-9]/, selector);
  }
});

reportTest('the focus is seen on every side of what fills its place', 'deep', async (report) => {
  await report.openList();
  for (const selector of ['.overlay', '.grid-body']) {
    await report.run(() => /** @type {HTMLElement} */ (document.activeElement).blur());
    const { x, y, width, height } = await report.page.locator(selector).boundingBox();
    const edges = [
      { x, y, width: width - 20, height: 2 },
      { x, y: y + height - 2, width: width - 20, height: 2 },
      { x, y, width: 2, height },
      { x: x + width - 2, y: y + height / 2, width: 2, height: height / 2 },
    ];
    const shots = () =>
      edges.reduce(
        async (list, clip) => [...(await list), (await report.page.screenshot({ clip })).toString('base64')],
        Promise.resolve(/** @type {string[]} */ ([])),
      );
    const before = await shots();
    await report.page.focus(selector);
    await report.page.keyboard.press('Shift+Tab');
    await report.page.keyboard.press('Tab');
    const after = await shots();
    after.forEach((shot, i) => assert.notEqual(shot, before[i], `${selector}, edge ${i}`));
  }
});

reportTest('the tree names the frame that has the focus, with figures and depth, and says it', 'diff', async (report) => {
  await report.page.focus('.overlay');
  const roles = await report.run(() => {
    const tree = /** @type {Element} */ (document.querySelector('[role=tree]'));
    const item = document.getElementById(tree.getAttribute('aria-activedescendant') || '');
    return { label: tree.getAttribute('aria-label'), item: item?.getAttribute('role') };
  });
  assert.match(roles.label, /arrows/);
  assert.equal(roles.item, 'treeitem');
  await report.press('ArrowDown', 'ArrowDown');
  assert.match(await report.text('#active-frame'), /^main, base 17\.5 s .*head 17\.8 s/);
  assert.equal(await report.text('[role=status][aria-live=polite]'), '', 'it is not said twice');
  await report.press('ArrowDown', 'ArrowLeft');
  const item = () =>
    report.run(() => {
      const e = /** @type {Element} */ (document.getElementById('active-frame'));
      return ['level', 'posinset', 'setsize', 'expanded', 'selected'].map((name) => e.getAttribute(`aria-${name}`)).join(' ');
    });
  assert.match(await report.text('#active-frame'), /^sort_items, /);
  assert.equal(await item(), '4 6 7 true true');
  await report.clickFrame('lex');
  assert.equal(await item(), '5 1 2  true');
  // Where something else has the focus, it is said.
  await report.run(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  await report.press('ArrowUp');
  assert.match(await report.text('[role=status][aria-live=polite]'), /^parse, base 1\.23 s .*takes more time/);
  await report.hover('compress');
  assert.match(await report.text('[role=status][aria-live=polite]'), /^parse, /, 'pointing says nothing');
});

reportTest('the accessibility tree has the tree, its item and the grid with its titles', 'diff', async (report) => {
  await report.openList();
  await report.click('.grid-row');
  const client = await report.page.context().newCDPSession(report.page);
  const { nodes } = await client.send('Accessibility.getFullAXTree');
  const found = (/** @type {string} */ role) => nodes.filter((/** @type {any} */ n) => !n.ignored && n.role?.value === role);
  const [grid] = found('grid');
  assert.equal(grid.name.value, 'Functions');
  assert.ok(grid.properties.some((/** @type {any} */ { name }) => name === 'activedescendant'), 'the row that is selected');
  const titles = found('columnheader').map((/** @type {any} */ { name }) => name.value.replace(/ [↓↑]$/, ''));
  for (const title of await report.texts('[role=columnheader]')) assert.ok(titles.includes(title), title);
  assert.equal(found('treeitem').length, 1);
  assert.ok(found('toolbar').length >= 3);
});

reportTest('landmarks and headings', 'diff', async (report) => {
  const page = await report.run(() => ({
    lang: document.documentElement.lang,
    main: document.querySelectorAll('main').length,
    header: document.querySelectorAll('header').length,
    h1: document.querySelectorAll('h1').length,
    inspector: document.querySelector('aside')?.getAttribute('aria-label'),
    crumbs: document.querySelector('nav')?.getAttribute('aria-label'),
  }));
  assert.deepEqual(page, { lang: 'en', main: 1, header: 1, h1: 1, inspector: 'Inspector', crumbs: 'Path to the zoomed frame' });
});
