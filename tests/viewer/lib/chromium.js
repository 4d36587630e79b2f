// SPDX-License-Identifier: GPL-3.0-or-later
// One Chromium for all that a process does.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

/** The browser without its own windows, which take most of the time of a test, or else the whole one. */
function executable() {
  const folders = (process.env.PATH || '').split(delimiter);
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'])
    for (const folder of folders) if (folder && existsSync(join(folder, name))) return join(folder, name);
  throw new Error('no chromium on PATH: install the package chromium-headless-shell');
}

/** @type {Promise<import('playwright-core').Browser>|null} */
let browser = null;

export function launched() {
  const root = process.getuid?.() === 0;
  browser ||= chromium.launch({ executablePath: executable(), args: root ? ['--no-sandbox'] : [] });
  return browser;
}

/** Ends it where it was started. */
export async function closeBrowser() {
  await (await browser)?.close();
}
