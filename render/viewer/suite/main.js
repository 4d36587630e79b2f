// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a suite's page. Pages of one report have a program of their own, which knows nothing of suites.

import { App } from '../app/app.js';
import { showDamage } from '../common/dom.js';
import { tellHints } from '../common/hints.js';
import { readSuite, Report } from '../data/report.js';
import { Suite } from './suite.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

/** Shows a part of the page until it is taken off. @param {number} part @param {import('../app/address.js').Within} within */
async function showPart(part, within) {
  const report = await Report.openPart(part);
  if (!within.until?.aborted) Object.assign(window, { kelvin: new App(root, report, within) });
}

tellHints();
readSuite()
  .then((table) => new Suite(root, table, showPart))
  .catch((error) => showDamage(root, error));
