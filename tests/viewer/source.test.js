// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of functions in a real browser: every way in and out, keys, clicks, what is shown of foreign text, and how much
// of a long function stands in the page. The page "lines" is made by kinds_lines.c.

import assert from 'node:assert/strict';

import { axe, open, reportTest } from './lib/browser.js';
import { pageUrl } from './lib/pages.js';

const isOpen = (/** @type {any} */ report) => report.page.locator('.source:not([hidden])').isVisible();
/** The title of the pane. @param {any} report */
const shown = (report) => report.text('.source h2');
/** The line that keys are about, by its number in head or base. @param {any} report */
const active = async (report) => (await report.hash()).ln || '';
/** Opens the lines of a function. @param {any} report @param {string} name @param {string} [line] @param {string} [title] of the pane */
async function openLines(report, name, line = '', title = name) {
  await report.run(
    ([wanted, at]) => {
      const { kelvin } = /** @type {any} */ (window);
      kelvin.list.host.lines(kelvin.model.functions.find((/** @type {any} */ f) => f.name === wanted).id);
      if (at) kelvin.set({ line: at });
    },
    [name, line],
  );
  await report.until((wanted) => document.querySelector('.source:not([hidden]) h2')?.textContent === wanted, title);
}
/** The texts of a column of the rows that stand in the page. @param {any} report @param {string} cell */
const cells = (report, cell) => report.texts(`.source-row ${cell}`);

reportTest('l opens the lines of what changed most, and of the selected frame; Escape and l close them', 'lines', async (report) => {
  assert.equal(await isOpen(report), false);
  await report.press('l');
  await report.until(() => document.querySelector('.source-row'));
  assert.equal(await shown(report), 'parse_header');
  assert.equal(await report.run(() => document.activeElement?.className), 'source-body', 'keys are for the lines');
  await report.press('Escape');
  assert.equal(await isOpen(report), false);
  assert.match(await report.run(() => document.activeElement?.className), /overlay/, 'the focus goes back');
  await report.clickNamed('steady_07');
  await report.press('l');
  await report.until(() => !document.querySelector('.source')?.hidden);
  assert.match(await report.text('.source .nothing'), /lines of \d+ functions.*steady_07 is not among them/);
  await report.clickNamed('parse_header');
  assert.equal(await shown(report), 'parse_header', 'the lines are those of the frame that is selected');
  await report.press('l');
  assert.equal(await isOpen(report), false);
});

reportTest('the inspector, the menu and the list lead to the lines', 'lines', async (report) => {
  await report.clickNamed('parse_header');
  await report.click('.inspector button:text-is("Lines")');
  await report.until(() => document.querySelector('.source-row'));
  await report.press('Escape');
  await report.openList();
  await report.click('.grid-row:has-text("parse_header") [data-column=module] button');
  await report.until(() => document.querySelector('.source:not([hidden]) .source-row'));
  await report.click('[aria-label="Close the lines"]');
  assert.equal(await isOpen(report), false);
  await report.press('Shift+F10');
  await report.click('.menu button:has-text("Lines")');
  await report.until(() => document.querySelector('.source:not([hidden]) .source-row'));
  assert.equal(await shown(report), 'parse_header');
});

reportTest('base and head stand side by side, each line with its number, its time and what is proven', 'lines', async (report) => {
  await openLines(report, 'parse_header');
  assert.equal(await report.run(() => document.querySelector('.source')?.dataset.columns), 'two');
  const row = await report.run(() => {
    const found = [...document.querySelectorAll('.source-row')].find((e) => /fast_match/.test(e.textContent || ''));
    return { cells: [...(found?.children || [])].map((e) => e.textContent), classes: found?.className };
  });
  assert.match(row.classes, /p-more/);
  assert.deepEqual(row.cells.filter((text) => /^\d+$/.test(text)), ['43', '47']);
  assert.ok(row.cells.some((text) => /^\+1\.5\d s ▲$/.test(text)), String(row.cells));
  assert.ok(row.cells.some((text) => /^−.*fast_match/.test(text)) && row.cells.some((text) => /^\+.*regexec/.test(text)));
  assert.match(await report.text('.source .about'), /http\.c/);
  assert.match(await report.text('.source .about'), /± one line.*base: text kept by the recording, may differ.*head: .*not changed since the build/);
  assert.match((await cells(report, '.wide')).join(), /… \d+ lines without time/);
});

reportTest('keys go to the next hot line, the next proven one, up and down; the link keeps function and line', 'lines', async (report) => {
  await openLines(report, 'parse_header');
  await report.press('n');
  assert.equal(await active(report), 'h46');
  await report.press('n');
  assert.equal(await active(report), 'h47');
  await report.press('N');
  assert.equal(await active(report), 'h46');
  await report.press('.');
  assert.equal(await active(report), 'h47', 'the largest change first');
  await report.press('.');
  assert.equal(await active(report), 'b60');
  await report.press(',', 'ArrowUp');
  assert.equal(await active(report), 'h46');
  assert.match(await report.text('.source-told'), /line 42 → 46.*self 500 ms → 500 ms/);
  const line = await report.run(() => document.getElementById(document.querySelector('.source-body')?.getAttribute('aria-activedescendant') || '')?.textContent);
  assert.match(line, /for \(i = 0/);
  const link = await report.run(() => location.hash.slice(1));
  const other = await open('lines', { url: pageUrl('lines', link) });
  await other.painted(10000);
  await other.until(() => document.querySelector('.source-row.selected'));
  assert.match(await other.text('.source-told'), /line 42 → 46/);
  await other.close();
});

reportTest('a click on a line leaves the stacks through it, with a chip; a second one shows all again', 'lines', async (report) => {
  await openLines(report, 'parse_header');
  const total = () => report.run(() => /** @type {any} */ (window).kelvin.model.totals());
  const all = await total();
  await report.click('.source-row:has-text("regexec")');
  await report.until(() => document.querySelector('.filters .chip'));
  const part = await total();
  assert.ok(part[0] > 0.9e9 && part[0] < 1.1e9 && part[1] > 2.3e9 && part[1] < 2.7e9, String(part));
  assert.match((await report.texts('.filters .chip'))[0], /only stacks through line 43 → 47 in parse_header · \d/);
  assert.match((await cells(report, '.figure.timed')).join(), /650 ms/, 'the other lines keep their times');
  const { w } = await report.hash();
  assert.match(w, /^n\w+-h47$/);
  const other = await open('lines', { url: pageUrl('lines', `w=${w}`) });
  await other.painted(10000);
  assert.deepEqual(await other.run(() => /** @type {any} */ (window).kelvin.model.totals()), part, 'a link filters from the start');
  await other.close();
  await report.click('.source-row:has-text("regexec")');
  assert.deepEqual(await total(), all);
  await report.page.focus('.source-body');
  await report.press('N', 'Enter');
  assert.match((await report.texts('.filters .chip'))[0], /line 42 → 46/);
  await report.press('Delete');
  assert.deepEqual(await total(), all);
});

reportTest('a function that was renamed has one pane, under either name', 'lines', async (report) => {
  await openLines(report, 'format_page', '', 'render_page');
  assert.deepEqual((await cells(report, '.figure.timed')).map((text) => text.replace(/ .*/, '')), ['1.00', '1.00']);
});

reportTest('inlined code counts at its call where the reader wants it', 'lines', async (report) => {
  await openLines(report, 'parse_header', 'h49');
  assert.match(await report.text('.source-told'), /self 0 s → 0 s/);
  await report.page.check('.source .toggle input');
  await report.settle();
  assert.match(await report.text('.source-told'), /self 650 ms → 650 ms/);
  assert.equal((await report.hash()).li, 'call');
});

reportTest('what is folded opens by a click, and a narrow window has one column', 'lines', async (report) => {
  await openLines(report, 'parse_header');
  await report.run(() => (document.querySelector('.source-body').scrollTop = 260));
  await report.settle();
  await report.click('.source-row.is-fold');
  assert.match((await cells(report, '.code')).join('\n'), /if \(p\[i\] == '\\n'\)/);
  await report.page.setViewportSize({ width: 600, height: 800 });
  await report.until(() => document.querySelector('.source')?.dataset.columns === 'unified');
  await report.run(() => (document.querySelector('.source-body').scrollTop = 60));
  await report.settle();
  const texts = await cells(report, '.code');
  const at = texts.findIndex((text) => /fast_match/.test(text));
  assert.match(texts[at + 1], /regexec/, 'base above head');
});

reportTest('foreign text is text: no markup, no control characters, long lines cut and shown whole when asked', 'lines', async (report) => {
  await openLines(report, 'weird', 'h13');
  const all = await cells(report, '.code');
  assert.ok(all.some((text) => text.includes('</script><script>window.hacked=1</script>')));
  assert.equal(await report.run(() => /** @type {any} */ (window).hacked), undefined);
  assert.ok(all.every((text) => !/[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]/.test(text)), 'nothing that turns text or moves a cursor');
  assert.ok(all.every((text) => text.length < 450));
  assert.match(await report.text('.source-told .whole'), /^\tx+the end/);
  const left = () => report.run(() => parseFloat(getComputedStyle(document.querySelector('.source-row .moved')).marginLeft));
  await report.page.focus('.source-body');
  await report.press('ArrowRight', 'ArrowRight');
  assert.ok((await left()) < -50, 'the end of long lines');
  await openLines(report, 'parse_header');
  assert.equal(await left(), 0, 'another function begins at its left');
});

reportTest('without a text there are numbers with times, and one sentence says how to get it', 'lines', async (report) => {
  await openLines(report, 'no_text');
  assert.deepEqual((await cells(report, '.number')).filter(Boolean), ['102', '102', '105', '105']);
  assert.match(await report.text('.source-told'), /kelvin record --sources.*--repo DIR/);
});

reportTest('a long function opens at the line that is proven most, or else at the hottest one', 'lines-large', async (report) => {
  await openLines(report, 'generated');
  const at = await report.run(() => {
    const { body, lines, items } = /** @type {any} */ (window).kelvin.source;
    const [row] = [...lines.proven, ...lines.hot];
    const top = items.findIndex((/** @type {any} */ item) => item.row === row) * 20;
    return { top, from: body.scrollTop, to: body.scrollTop + body.clientHeight };
  });
  assert.ok(at.top >= at.from && at.top < at.to, JSON.stringify(at));
  await report.press('Home');
  await report.press('l');
  await report.press('l');
  assert.equal((await report.hash()).ln, undefined, 'no line is chosen by that');
});

reportTest('of a function of 5,000 lines only those in the window stand in the page', 'lines-large', async (report) => {
  await openLines(report, 'generated');
  const rows = () => report.run(() => document.querySelectorAll('.source-row').length);
  const room = await report.run(() => Math.ceil(document.querySelector('.source-body').clientHeight / 20));
  assert.ok((await rows()) <= room + 14, `${await rows()} rows in a window for ${room}`);
  await report.press('End');
  assert.equal(await active(report), 'h6000');
  assert.ok((await rows()) <= room + 14);
  await report.press('Home');
  assert.equal(await active(report), 'h998');
  // No more work than for a short function, but for one pass over the rows.
  const changed = await report.run(() => {
    const { kelvin } = /** @type {any} */ (window);
    let made = 0;
    const create = document.createElement.bind(document);
    document.createElement = (/** @type {string} */ name) => (made++, create(name));
    kelvin.source.body.scrollTop = 40000;
    kelvin.source.paint();
    document.createElement = create;
    return made;
  });
  assert.ok(changed < (room + 14) * 14, `${changed} elements for a screen`);
});

reportTest('a report of one recording has one column', 'lines-single', async (report) => {
  await openLines(report, 'parse_header', 'h47');
  assert.equal(await report.run(() => document.querySelector('.source')?.dataset.columns), 'single');
  assert.match(await report.text('.source-told'), /self 120 ms .*, with what it calls 2\.52 s/);
});

reportTest('a page without lines says so', 'diff', async (report) => {
  await report.press('l');
  assert.match(await report.text('.source .nothing'), /This page has no lines/);
  await report.press('Escape');
  assert.equal(await isOpen(report), false);
});

for (const colorScheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `axe-core finds nothing at any level in lines, ${colorScheme}`,
    'lines',
    async (report) => {
      await openLines(report, 'parse_header', 'h47');
      for (const width of [1280, 800, 390]) {
        await report.page.setViewportSize({ width, height: 800 });
        await report.settle();
        assert.deepEqual(await report.findings(), [], `${width} pixels`);
      }
      await openLines(report, 'weird', 'h13');
      assert.deepEqual(await report.findings(), [], 'with a long line');
      await report.click('.source-row');
      assert.deepEqual(await report.findings(), [], 'with a filter');
    },
    { script: axe, context: { colorScheme } },
  );
