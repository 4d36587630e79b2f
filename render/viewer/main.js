// SPDX-License-Identifier: GPL-3.0-or-later
import { App } from './app.js';
import { readPage } from './decode.js';
import { Model } from './model.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

readPage().then(
  (page) => {
    /** @type {any} */ (window).kelvin = new App(root, new Model(page));
  },
  (error) => {
    root.textContent = `This report cannot be read: ${error.message}. It may have been cut off while it was copied; write it again.`;
  },
);
