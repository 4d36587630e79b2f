// SPDX-License-Identifier: GPL-3.0-or-later
// For readers who do not see the picture or use no mouse.

import assert from 'node:assert/strict';

import { axe, reportTest } from '../lib/browser.js';

/** @param {any} report @param {string} where */
const noSeriousFinding = async (report, where) => assert.deepEqual(await report.findings(), [], where);

for (const colorScheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `axe-core finds nothing serious, ${colorScheme}`,
    'timeline',
    async (report) => {
      await noSeriousFinding(report, 'as it opens');
      await report.openList();
      await report.click('.grid-row');
      await report.click('details.more summary');
      await noSeriousFinding(report, 'with a frame pinned and the header open');
      await report.press('2', 's', '/');
      await report.page.keyboard.type('w');
      await report.until(() => document.querySelector('.found'));
      await noSeriousFinding(report, 'with a search and without system calls');
      await report.page.focus('.overlay');
      await report.press('Escape', 's', 'ArrowDown', 'ArrowDown', 'k', 'Shift+F10');
      await noSeriousFinding(report, 'with a menu and a filter');
      await report.press('Escape', 'Delete');
      await report.click('.choice button:text-is("Timeline")');
      await noSeriousFinding(report, 'timeline');
      await report.click('.choice button:text-is("Functions")');
      await noSeriousFinding(report, 'functions');
      await report.click('[aria-label=Help]');
      await noSeriousFinding(report, 'help');
    },
    { script: axe, context: { colorScheme } },
  );

for (const colorScheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `axe-core finds nothing serious in a report of waits, ${colorScheme}`,
    'waits',
    async (report) => {
      await report.click('[aria-label="Waits by class"] .chip');
      await report.click('.overlay');
      await noSeriousFinding(report, 'with a class left out and a frame pinned');
      await report.click('[role=group][aria-label=View] :text("Timeline")');
      await noSeriousFinding(report, 'timeline');
    },
    { script: axe, context: { colorScheme } },
  );

for (const kind of ['diff', 'single', 'hostile', 'empty-base', 'python', 'requests'])
  reportTest(`axe-core finds nothing serious in "${kind}"`, kind, async (report) => noSeriousFinding(report, kind), {
    script: axe,
  });

reportTest('Tab reaches every control and the picture, in the order of the page', 'diff', async (report) => {
  await report.openList();
  const seen = [];
  await report.run(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  for (let i = 0; i < 60; i++) {
    await report.page.keyboard.press('Tab');
    const what = await report.run(() => {
      const e = /** @type {any} */ (document.activeElement);
      if (!e || e === document.body) return '';
      const box = e.getBoundingClientRect();
      return `${e.className || e.tagName.toLowerCase()}|${e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent?.slice(0, 30)}|${Math.round(box.top)}`;
    });
    if (!what) break;
    seen.push(what);
  }
  const all = seen.join('\n');
  for (const part of [
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
  ])
    assert.ok(all.includes(part), `${part} in\n${all}`);
  const tops = seen.filter((line) => /controls|choice|overlay|grid-body/.test(line)).map((line) => Number(line.split('|')[2]));
  assert.deepEqual(
    tops,
    [...tops].sort((a, b) => a - b),
  );
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
  assert.match(await report.text('#active-frame'), /^main, base 17\.5 s .*head 17\.8 s .*depth 2/);
  assert.equal(await report.text('[role=status][aria-live=polite]'), 'main');
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
