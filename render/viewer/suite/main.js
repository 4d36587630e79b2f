// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a suite's page. Pages of one report have a program of their own, which knows nothing of suites.

import { showDamage } from '../common/dom.js';
import { tellHints } from '../common/hints.js';
import { readSuite } from '../data/report.js';
import { Suite } from './suite.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

tellHints();
readSuite()
  .then((table) => new Suite(root, table))
  .catch((error) => showDamage(root, error));
