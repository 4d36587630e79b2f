// SPDX-License-Identifier: GPL-3.0-or-later
// A page with parts: what comes first, such as a list, and one part at a time as a report of its own, with a bar above it
// that leads back and on.

import { App } from './app.js';
import { h } from '../common/dom.js';
import { Report } from '../data/report.js';
import { chooseTheme, prefersDark, showTheme, SYSTEM_DARK } from '../common/theme.js';
import { asToolbar } from '../common/toolbar.js';

/** A part that is there before this time is opened without a word. */
const PATIENCE_MS = 150;

/**
 * What comes first on the page.
 * @typedef {object} First
 * @property {HTMLElement} element
 * @property {(dark: boolean) => void} drawCorner draws the controls in the upper right corner
 * @property {() => void} leave called before it is taken off the page
 * @property {() => void} enter called when it stands on the page again
 */

export class Parts {
  /**
   * @param {HTMLElement} root @param {First} first
   * @param {{bar: string, tools: string}} labels of the bar above a part, and of what stands in it
   */
  constructor(root, first, labels) {
    this.root = root;
    this.first = first;
    /** Whether a report is open. */ this.isOpen = false;
    /** @type {AbortController|null} ends the report that is open */ this.end = null;
    this.tools = asToolbar(h('div.part-tools', { 'aria-label': labels.tools }));
    this.bar = h('nav.part-bar', { 'aria-label': labels.bar, hidden: true }, this.tools);
    document.body.classList.add('has-parts');
    root.before(this.bar);
    SYSTEM_DARK.addEventListener('change', () => this.isOpen || this.#drawTheme());
    // Paper is light.
    matchMedia('print').addEventListener('change', ({ matches }) => this.isOpen || showTheme(!matches && prefersDark()));
  }

  #drawTheme() {
    const dark = prefersDark();
    showTheme(dark);
    this.first.drawCorner(dark);
  }

  /** Switches between light and dark while no report is open. */
  switchTheme() {
    chooseTheme(document.documentElement.dataset.theme !== 'dark');
    this.#drawTheme();
  }

  /** Takes the report off the page. */
  #endReport() {
    this.end?.abort();
    this.end = null;
    delete document.documentElement.dataset.ready;
    delete this.root.dataset.tab;
  }

  /** Shows what comes first. @param {string} title of the page */
  showFirst(title) {
    this.#endReport();
    this.isOpen = false;
    this.bar.hidden = true;
    document.title = title;
    this.#drawTheme();
    this.root.replaceChildren(this.first.element);
    this.first.enter();
    document.documentElement.dataset.painted ||= String(performance.now() | 0);
    document.documentElement.dataset.ready = '1';
  }

  /**
   * Shows a part below the bar, which gets its content.
   * @param {number} part @param {Node[]} content @param {import('./address.js').Within & {name: string}} within
   */
  async showPart(part, content, within) {
    if (!this.isOpen) this.first.leave();
    this.#endReport();
    this.isOpen = true;
    const end = (this.end = new AbortController());
    this.tools.replaceChildren(...content);
    this.bar.hidden = false;
    const { name } = within;
    const say = (/** @type {string} */ text) => {
      if (!end.signal.aborted) this.root.replaceChildren(h('p.opening', {}, text));
    };
    const waiting = setTimeout(() => say(`Opening ${name} …`), PATIENCE_MS);
    try {
      const report = await Report.openPart(part);
      const app = !end.signal.aborted && new App(this.root, report, { ...within, until: end.signal });
      if (app) Object.assign(window, { kelvin: app });
    } catch (error) {
      say(`${name} cannot be read: ${/** @type {Error} */ (error).message}.`);
    } finally {
      clearTimeout(waiting);
    }
  }
}
