// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a history's page.

import { h, showDamage } from '../common/dom.js';
import { readHistory } from '../data/history.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

readHistory()
  .then(({ series }) => root.replaceChildren(...series.map(({ verdictText }) => h('p', {}, verdictText))))
  .catch((error) => showDamage(root, error));
