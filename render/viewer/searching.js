// SPDX-License-Identifier: GPL-3.0-or-later
// The search field, what it found, and the way from match to match.

import { h, renew } from './dom.js';
import { count, measureOf, percent } from './format.js';
import { Searcher } from './pattern.js';

/** @typedef {import('./app.js').App} App */

/** A search that took less than this is made with every letter. */
const AT_ONCE_MS = 30;
const LONGEST_WAIT_MS = 200;

export class Searching {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** How long the last search took, ms. */ this.took = 0;
    /** @type {any} */ this.timer = 0;
    this.apart();
  }

  /** The field and what stands beside it. */
  make() {
    const { app } = this;
    this.field = h('input', {
      type: 'search',
      placeholder: 'search  (/)',
      title: 'search function names with a regular expression; lower-case letters match both cases',
      'aria-label': 'Search functions, a regular expression',
      'data-keep': 'search',
      onchange: () => app.set({ search: this.field.value }),
      oninput: () => this.soon(this.field.value),
      onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === 'Enter' && this.now(),
    });
    this.found = h('span.matches');
    return h('span.search', {}, this.found, this.field);
  }

  /** Searches that may take long. */
  apart() {
    const { app } = this;
    const { model } = app;
    const searcher = new Searcher(() => model.functions.map((f) => f.name));
    model.searchApart = (pattern, done) =>
      searcher.run(pattern, (hits, error) => {
        done(hits, error);
        model.madeFrom.delete('search');
        app.refresh(true);
      });
  }

  /** While one types: waits for as long as the last search took. @param {string} text */
  soon(text) {
    clearTimeout(this.timer);
    const begin = performance.now();
    const search = () => {
      this.app.set({ search: text, picked: '' }, true);
      queueMicrotask(() => (this.took = performance.now() - begin));
    };
    if (this.took < AT_ONCE_MS) search();
    else this.timer = setTimeout(search, Math.min(LONGEST_WAIT_MS, this.took));
  }

  /** Leaves the field for the first match. */
  now() {
    const { app } = this;
    clearTimeout(this.timer);
    this.field.blur();
    app.set({ search: this.field.value, picked: '' });
    app.model.update(app.state);
    this.next(1);
    app.picture.overlay.focus();
  }

  /** @param {number} step */
  next(step) {
    const { model, picture } = this.app;
    const { nodes } = model.found;
    if (!nodes.length) return;
    const at = nodes.indexOf(model.selected);
    picture.select(nodes[(Math.max(at, step > 0 ? -1 : 0) + step + nodes.length) % nodes.length], true);
  }

  /** What was found, and what is in the field unless somebody types there. */
  draw() {
    const { model, state } = this.app;
    if (document.activeElement !== this.field) this.field.value = state.search;
    if (!model.matches) return this.found.replaceChildren();
    const { nodes, sum } = model.found;
    const [base, head] = model.totals();
    const share = sum[1] ? percent(sum[1] * model.factor, head) : percent(sum[0], base);
    const at = nodes.length ? `${nodes.indexOf(model.selected) + 1}/` : '';
    const frames = `${count(nodes.length)} frame${nodes.length === 1 ? '' : 's'}, nested ones counted once`;
    const title = `${frames}; they and what they call take ${share} of all ${measureOf(model.shownMetric)}`;
    const figures = h('span.found', { title }, nodes.length ? `${at}${nodes.length} · ${share}` : model.searchError ? '0' : 'no match');
    if (model.searchError) figures.append(h('span.hint', {}, ` ${model.searchError}`));
    renew(this.found, [
      figures,
      nodes.length > 0 && this.step(-1, 'Previous match', 'previous match (N)', '◀'),
      nodes.length > 0 && this.step(1, 'Next match', 'next match (n)', '▶'),
    ]);
  }

  /** @param {number} by @param {string} label @param {string} title @param {string} text */
  step(by, label, title, text) {
    return h('button', { type: 'button', title, 'aria-label': label, onclick: () => this.next(by) }, text);
  }
}
