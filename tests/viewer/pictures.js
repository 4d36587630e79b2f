// SPDX-License-Identifier: GPL-3.0-or-later
// node pictures.js REPORT TEXT ROOT: the README's pictures in ROOT/docs/pictures, for scripts/pictures. REPORT is the page of a
// comparison, which is shown with its largest proven change selected; TEXT is what a terminal shows of the same comparison. Names of
// sources are shown as they are called below ROOT, because where that lies says nothing to a reader.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { closeBrowser, launched } from './lib/chromium.js';

const FOLDER = 'docs/pictures';
const VIEWPORT = { width: 1440, height: 900 };
/** After the first picture, what comes later is there by then. */
const SETTLED_MS = 500;

/** Width of a letter and distance of lines, in pixels of the picture. */
const LETTER = 8.2;
const LINE = 18;
const MARGIN = 16;
const BAR = 30;
/** Whole sections of the text are shown until there are this many lines. */
const LEAST_LINES = 30;
/** What a terminal does with the numbers of ECMA-48's SGR that Kelvin writes, on dark paper. @type {Record<string, string>} */
const STYLES = { 1: 'font-weight="bold"', 2: 'fill="#8b949e"', 31: 'fill="#ff9a5c"', 34: 'fill="#79b8ff"' };

/** Shows the names of files without where the sources lie. @param {import('playwright-core').Page} page @param {string} root */
function shortenPaths(page, root) {
  return page.evaluate((start) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = /** @type {Text} */ (texts.currentNode);
      if (text.data.includes(start)) text.data = text.data.replaceAll(start, '');
    }
  }, `${root}/`);
}

/** The page in both themes. @param {string} report @param {string} root */
async function pictureReport(report, root) {
  const browser = await launched();
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, deviceScaleFactor: 1 });
    await page.goto(`${pathToFileURL(resolve(report)).href}#d=change`);
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    await page.evaluate(() => {
      const { model, picture } = /** @type {any} */ (window).kelvin;
      picture.select(model.widestOf(model.provenChanges()[0].f.id));
    });
    await page.waitForTimeout(SETTLED_MS);
    await shortenPaths(page, root);
    await page.screenshot({ path: join(root, FOLDER, colorScheme === 'dark' ? 'report-dark.png' : 'report.png') });
    await page.close();
  }
}

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** The first sections of a text. @param {string} text */
function firstLines(text) {
  const lines = text.replaceAll('\r', '').trimEnd().split('\n');
  const end = lines.findIndex((line, i) => i >= LEAST_LINES && !line.replace(/\x1b\[\d*m/g, '').trim());
  return end < 0 ? lines : lines.slice(0, end);
}

/** A picture of a terminal with what it shows. @param {string} text with the escapes that set colours */
function terminal(text) {
  const lines = firstLines(text);
  const columns = Math.max(...lines.map((line) => line.replace(/\x1b\[\d*m/g, '').length));
  const width = Math.ceil(columns * LETTER + 2 * MARGIN);
  const height = BAR + lines.length * LINE + 2 * MARGIN;
  let style = '';
  const drawn = [];
  lines.forEach((line, row) => {
    const y = BAR + MARGIN + (row + 0.75) * LINE;
    let column = 0;
    // Every second piece is the number of an escape.
    line.split(/\x1b\[(\d*)m/).forEach((piece, i) => {
      if (i % 2) {
        style = STYLES[piece] || '';
        return;
      }
      // Pictures fold blanks, so that each column of a table has a place of its own.
      for (const { 0: words, index } of piece.matchAll(/\S+(?: \S+)*/g)) {
        const x = MARGIN + (column + index) * LETTER;
        const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" textLength="${(words.length * LETTER).toFixed(1)}"`;
        drawn.push(`<text ${place}${style && ` ${style}`}>${escaped(words)}</text>`);
      }
      column += piece.length;
    });
  });
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map((fill, i) => `<circle cx="${20 + 18 * i}" cy="15" r="5.5" fill="${fill}"/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!-- SPDX-License-Identifier: GPL-3.0-or-later -->',
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>kelvin diff before.pb.gz after.pb.gz, in a terminal</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="#17181a"/>`,
    ...dots,
    `<text x="${width / 2}" y="20" text-anchor="middle" fill="#8b949e" font-family="system-ui, sans-serif" font-size="13">` +
      'kelvin diff before.pb.gz after.pb.gz</text>',
    '<g font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13.6" fill="#e6e6e6">',
    ...drawn,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const [report, text, root] = process.argv.slice(2);
writeFileSync(join(root, FOLDER, 'text.svg'), terminal(readFileSync(text, 'utf8')));
await pictureReport(report, root);
await closeBrowser();
