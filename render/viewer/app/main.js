// SPDX-License-Identifier: GPL-3.0-or-later
import { App } from './app.js';
import { Report } from '../data/report.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
const DAMAGED = 'It may have been cut off while it was copied; write it again.';

Report.open()
  .then((report) => Object.assign(window, { kelvin: new App(root, report) }))
  .catch((error) => {
    root.textContent = `This report cannot be read: ${error.message}. ${DAMAGED}`;
  });
