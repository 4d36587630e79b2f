// SPDX-License-Identifier: GPL-3.0-or-later
// node task_pictures.js FOLDER REPORT...: pictures of what people open a report for, of each report in both themes and three windows, to
// be looked at. Their names say what they show.

import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { closeBrowser, launched } from './lib/chromium.js';

const WINDOWS = [
  { width: 1280, height: 720 },
  { width: 1440, height: 900 },
  { width: 800, height: 1000 },
];
/** After a step, what comes later is there by then. */
const SETTLED_MS = 400;

/** @typedef {import('playwright-core').Page} Page */

/** Goes to a state of the page. @param {Page} page @param {object} change */
const set = (page, change) => page.evaluate((to) => /** @type {any} */ (window).kelvin?.set(to), change);

/** Each view of a report, and how it is reached from the one before. @type {[name: string, go: (page: Page) => Promise<unknown>][]} */
const VIEWS = [
  ['opened', async () => {}],
  ['change', async (page) => (await page.locator('ul.changes .link, .benchmarks .grid-row').count()) && page.click('ul.changes .link, .benchmarks .grid-row')],
  ['callers', (page) => page.keyboard.press('x')],
  ['origins', async (page) => (await page.keyboard.press('x'), await page.keyboard.press('2'))],
  ['details', async (page) => (await page.keyboard.press('1'), await page.click('.opens, .evidence summary'))],
  ['filter', async (page) => (await page.click('.opens, .evidence summary'), await page.keyboard.press('K'))],
  ['timeline', async (page) => (await page.keyboard.press('Delete'), await set(page, { tab: 'timeline', range: [2e6, 3e6] }))],
  ['functions', (page) => set(page, { tab: 'functions', range: null })],
  ['hand-over', async (page) => (await set(page, { tab: 'flame' }), await page.keyboard.press('E'))],
];

const [folder, ...reports] = process.argv.slice(2);
const browser = await launched();
for (const report of reports)
  for (const colorScheme of /** @type {const} */ (['light', 'dark']))
    for (const viewport of WINDOWS) {
      const page = await browser.newPage({ viewport, colorScheme });
      page.setDefaultTimeout(3000);
      await page.goto(pathToFileURL(resolve(report)).href);
      await page.waitForFunction(() => document.documentElement.dataset.ready);
      for (const [view, go] of VIEWS) {
        await go(page).catch((error) => console.log(`${report}, ${view}: ${error.message.split('\n')[0]}`));
        await page.waitForTimeout(SETTLED_MS);
        const name = `${basename(report, '.html')}-${view}-${viewport.width}-${colorScheme}.png`;
        await page.screenshot({ path: join(folder, name) });
      }
      await page.close();
    }
await closeBrowser();
