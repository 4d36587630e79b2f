// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a history's page.

import { showDamage } from '../common/dom.js';
import { tellHints } from '../common/hints.js';
import { readHistory } from '../data/history.js';
import { History } from './history.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

tellHints();
readHistory()
  .then((table) => new History(root, table))
  .catch((error) => showDamage(root, error));
