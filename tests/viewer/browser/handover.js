// SPDX-License-Identifier: GPL-3.0-or-later
// What is given to somebody else: pictures, the list, the stack, a link. Files are saved from file:// under the page's policy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { near, reportTest } from '../lib/browser.js';
import { pasted } from './keys.js';
import { colour } from '../lib/modules.js';
import { realUrl } from '../lib/pages.js';

/** Chooses an entry of the menu. @param {any} report @param {string} text */
async function choose(report, text) {
  await report.press('E');
  await report.click(`.menu button:has-text("${text}")`);
}

/** What an entry of the menu saves. @param {any} report @param {string} text */
async function saved(report, text) {
  const [download] = await Promise.all([report.page.waitForEvent('download'), choose(report, text)]);
  // A download is a request of the page for its own blob.
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** The parts of an SVG, read as XML. @param {any} report @param {Buffer} bytes */
const parsed = (report, bytes) =>
  report.run((text) => {
    const root = new DOMParser().parseFromString(text, 'image/svg+xml');
    const list = (/** @type {string} */ s) => [...root.querySelectorAll(s)];
    return {
      errors: list('parsererror').length,
      texts: list('text').map((e) => e.textContent),
      titles: list('rect > title').map((e) => e.textContent),
      fills: [...new Set(list('rect').map((e) => e.getAttribute('fill')))],
      names: [...new Set(list('*').map((e) => e.localName))].sort(),
      attributes: [...new Set(list('*').flatMap((e) => e.getAttributeNames()))].sort(),
    };
  }, bytes.toString('utf8'));

reportTest('the menu opens by its button and by its key, and leads to all ways', 'diff', async (report) => {
  await report.clickFrame('lex');
  await report.click('button:text-is("Hand over ▾")');
  const entries = await report.texts('.menu [role=menuitem]');
  for (const what of [/PNG/, /SVG/, /PDF/, /Markdown/, /stack/, /link/]) assert.ok(entries.some((text) => what.test(text)), String(what));
  await report.press('Escape', 'E', 'ArrowDown');
  assert.match(await report.run(() => document.activeElement.textContent), /SVG/);
  await report.press('Escape', '?');
  assert.match(await report.text('dialog'), /hand over/);
});

reportTest('the picture as PNG: twice as fine, with title and colours', 'diff', async (report) => {
  const { name, bytes } = await saved(report, 'PNG');
  assert.match(name, /^[\p{L}\p{N}.-]+\.png$/u);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.equal(width, 2 * 1440);
  assert.ok(height > 400 && height < 3000, String(height));
  const colours = await report.run(async (base64) => {
    const image = await createImageBitmap(await (async () => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      return new Blob([bytes], { type: 'image/png' });
    })());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    return [...counts].filter(([, times]) => times > 2000).map(([key]) => key.split(',').map(Number));
  }, bytes.toString('base64'));
  const strong = colour.rgb(colour.PALETTES.kelvin.more);
  assert.ok(colours.some((/** @type {number[]} */ c) => near(c, strong, 2)), JSON.stringify(colours));
});

reportTest('the picture as SVG: shapes and text, what is on the screen', 'diff', async (report) => {
  const { name, bytes } = await saved(report, 'SVG');
  assert.match(name, /\.svg$/);
  const svg = await parsed(report, bytes);
  assert.equal(svg.errors, 0);
  assert.ok(svg.texts.includes('parse') && svg.texts.some((text) => text.startsWith('+ ne')), String(svg.texts));
  assert.ok(svg.texts.includes(await report.text('h1')));
  assert.ok(svg.texts.some((text) => /% of total/.test(text)));
  assert.ok(svg.titles.some((text) => /^parse — base .* → head .* · takes more time/.test(text)));
  assert.ok(svg.fills.includes('url(#new)'), 'hatched as on the screen');
  const fill = await report.fill('parse');
  assert.ok(svg.fills.includes(`rgb(${fill.slice(0, 3).join(',')})`), `${fill}: ${svg.fills}`);
  assert.ok(!svg.names.includes('image') && !svg.names.includes('script'));
});

reportTest('all rows of the zoomed frame, with what is left out and what is shown', 'deep', async (report) => {
  const svg = await parsed(report, (await saved(report, 'SVG')).bytes);
  assert.ok(svg.texts.some((text) => /^Left out: [\d,]+ more rows .* below row 150\.$/.test(text)), svg.texts.slice(-8).join('|'));
}, { hash: 'tr=0' });

reportTest('a part says that it is one', 'diff', async (report) => {
  await report.clickFrame('parse');
  await report.press('k', 'Enter');
  const svg = await parsed(report, (await saved(report, 'SVG')).bytes);
  assert.ok(svg.texts.some((text) => /^Shown: zoomed to parse · only stacks with parse/.test(text)), String(svg.texts.slice(0, 6)));
  await choose(report, 'Markdown');
  assert.match(await pasted(report), /shown: zoomed to parse · only stacks with parse/);
});

for (const [what, keys] of Object.entries({ inverted: 'i', flipped: 'f', base: 'b', around: 'x', dark: '' }))
  reportTest(
    `the picture as SVG, ${what}`,
    'diff',
    async (report) => {
      await report.clickFrame('parse');
      if (keys) await report.press(keys);
      const svg = await parsed(report, (await saved(report, 'SVG')).bytes);
      assert.equal(svg.errors, 0);
      assert.ok(svg.texts.some((text) => text.includes('parse')));
      assert.doesNotMatch(svg.texts.join('\n'), /NaN|undefined|Infinity/);
      if (what === 'dark') assert.ok(svg.fills.includes('rgb(23,24,26)'));
    },
    what === 'dark' ? { context: { colorScheme: 'dark' } } : {},
  );

reportTest('hostile names are text in everything that is handed over', 'hostile', async (report) => {
  const svg = await parsed(report, (await saved(report, 'SVG')).bytes);
  assert.equal(svg.errors, 0);
  assert.deepEqual(svg.names, ['defs', 'desc', 'g', 'path', 'pattern', 'rect', 'svg', 'text', 'title']);
  assert.ok(!svg.attributes.some((name) => name.startsWith('on') || name.includes('href')), String(svg.attributes));
  assert.doesNotMatch(svg.texts.join(''), /[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/);
  await choose(report, 'Markdown');
  const text = await pasted(report);
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  assert.ok(rows.length > 8);
  // Every row has as many cells as the first: no name ends its cell.
  const cells = rows.map((line) => line.replace(/`[^`]*`/g, '').split('|').length);
  assert.ok(cells.every((count) => count === cells[0]), text);
  assert.doesNotMatch(text.replace(/`[^`]*`|<\/?code>/g, ''), /<|>/);
  await report.page.emulateMedia({ media: 'print' });
  await report.until(() => !!document.querySelector('.paper'));
  assert.equal(await report.page.locator('.paper :is(img, iframe, script, a)').count(), 0);
  assert.equal(await report.run(() => /** @type {any} */ (window).hacked), undefined);
});

reportTest('the list as Markdown: its rows in their order, with its figures', 'diff', async (report) => {
  await report.openList();
  await report.click('[role=columnheader]:text-is("total head")');
  await report.page.fill('[aria-label="Filter functions"]', 'e');
  await report.settle();
  const shown = await report.run(() =>
    [...document.querySelectorAll('.functions .grid-row')].slice(0, 5).map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  await report.page.focus('.overlay');
  await choose(report, 'Markdown');
  await report.until(() => document.querySelector('[role=status]')?.textContent === 'list copied');
  const lines = (await pasted(report)).split('\n');
  assert.match(lines[0], /^### /);
  assert.match(lines[2], /^\*\*\S/);
  assert.ok(lines.some((line) => line.endsWith('listed: e')), lines[4]);
  const rows = lines.filter((line) => line.startsWith('| `'));
  for (const [i, cells] of shown.entries()) {
    const told = rows[i].slice(2, -2).split(' | ').map((cell) => cell.replace(/`/g, ''));
    for (const cell of cells) assert.ok(told.includes(cell.replace(/\s+/g, ' ')), `${cell}: ${rows[i]}`);
  }
});

reportTest('what is folded is handed over, too', 'diff', async (report) => {
  await choose(report, 'Markdown');
  assert.match(await pasted(report), /\| `parse` \|/);
});

reportTest(
  'what is handed over names both sides',
  '',
  async (report) => {
    const sides = 'base: gunicorn_base.pb.gz → head: gunicorn_head.pb.gz';
    assert.ok((await parsed(report, (await saved(report, 'SVG')).bytes)).texts.includes(sides));
    await choose(report, 'Markdown');
    assert.ok((await pasted(report)).includes(sides.replaceAll('_', '&#95;')));
    await report.page.emulateMedia({ media: 'print' });
    await report.until((/** @type {string} */ text) => !!document.querySelector('.paper')?.textContent?.includes(text), sides);
  },
  { url: realUrl(['gunicorn_base', 'gunicorn_head']), test: { timeout: 120000 } },
);
