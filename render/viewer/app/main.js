// SPDX-License-Identifier: GPL-3.0-or-later
import { App } from './app.js';
import { Report } from '../data/report.js';
import { showDamage } from '../common/dom.js';
import { tellHints } from '../common/hints.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

tellHints();
Report.open()
  .then((report) => Object.assign(window, { kelvin: new App(root, report) }))
  .catch((error) => showDamage(root, error));
