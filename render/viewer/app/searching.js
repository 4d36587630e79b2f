// SPDX-License-Identifier: GPL-3.0-or-later
// The search field, what it found, and the way from match to match.

import { h, renew } from '../common/dom.js';
import { count, measureOf } from '../common/format.js';
import { figureOf } from '../model/figures.js';
import { button, signButton } from '../common/widgets.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */

/** A search that took less than this is repeated with every letter, in milliseconds. */
const AT_ONCE_MS = 30;
const LONGEST_WAIT_MS = 200;
/** How many modules or files that match are told by name. */
const MOST_TOLD = 12;

/**
 * What the search needs of the page around it.
 * @typedef {object} SearchHost
 * @property {Model} model
 * @property {(text: string) => void} typed searches for a text that somebody is typing
 * @property {(text: string) => void} changed searches for the text with which somebody left the field
 * @property {(text: string) => void} entered searches for a text at once: `model.found` is up to date when it returns
 * @property {(node: number) => void} show selects a frame and zooms to where it can be seen
 * @property {(place: {x: number, y: number}) => void} menu opens the menu of the filters by what was found
 * @property {() => void} leave moves the focus from the field to the picture
 */

export class Searching {
  /** @param {SearchHost} host */
  constructor(host) {
    this.host = host;
    this.model = host.model;
    /** How long the last search took, in milliseconds. */ this.took = 0;
    this.timer = 0;
    this.field = h('input', {
      type: 'search',
      placeholder: 'search  (/)',
      title:
        'search functions with a regular expression; lower-case letters match both cases; where no name has the ' +
        'text, modules and files are searched; module:TEXT and file:TEXT search these alone; what is found can be filtered by',
      'aria-label': 'Search functions, a regular expression',
      'data-keep': 'search',
      onchange: () => host.changed(this.field.value),
      oninput: () => this.#soon(this.field.value),
      onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === 'Enter' && this.#now(),
    });
    /** It stays the same, since its menu gives the focus back to it. */ this.filter = this.#filterButton();
    /** What was found, and the way through it. */ this.found = h('span.matches');
  }

  /** Searches for a text that somebody is typing, after as long as the last search took. @param {string} text */
  #soon(text) {
    clearTimeout(this.timer);
    const begin = performance.now();
    const search = () => {
      this.host.typed(text);
      queueMicrotask(() => (this.took = performance.now() - begin));
    };
    if (this.took < AT_ONCE_MS) search();
    else this.timer = window.setTimeout(search, Math.min(LONGEST_WAIT_MS, this.took));
  }

  /** Leaves the field for the first match. */
  #now() {
    clearTimeout(this.timer);
    this.field.blur();
    this.host.entered(this.field.value);
    this.next(1);
    this.host.leave();
  }

  /** Shows another match. @param {number} step */
  next(step) {
    const { found, selected } = this.model;
    const { nodes } = found;
    if (!nodes.length) return;
    const at = nodes.indexOf(selected);
    this.host.show(nodes[(Math.max(at, step > 0 ? -1 : 0) + step + nodes.length) % nodes.length]);
  }

  /** Shows what was found, and the text in the field unless somebody is typing there. @param {State} state */
  draw(state) {
    const { model } = this;
    if (document.activeElement !== this.field) this.field.value = state.search;
    const hadFocus = this.found.contains(document.activeElement);
    renew(this.found, model.matches ? this.#way() : []);
    // What is left out is found no more, and the next key is for the picture.
    if (hadFocus && !this.found.contains(document.activeElement)) this.host.leave();
  }

  /** What was found, and what leads through it. */
  #way() {
    const { model } = this;
    const { nodes } = model.found;
    return [
      this.#figures(),
      nodes.length > 0 && signButton('◀', 'Previous match', 'previous match (N)', () => this.next(-1)),
      nodes.length > 0 && signButton('▶', 'Next match', 'next match (n)', () => this.next(1)),
      !!model.names.expression && this.filter,
    ];
  }

  /** The button of the filters by what was found. */
  #filterButton() {
    const title = 'only the stacks with what was found (F), or all stacks without these frames (H)';
    const open = () => {
      const { left, bottom } = made.getBoundingClientRect();
      this.host.menu({ x: left, y: bottom });
    };
    const made = button('button', { title, 'aria-haspopup': 'menu', onclick: open }, 'filter ▾');
    return made;
  }

  /** How many frames were found, and their share of the whole. */
  #figures() {
    const { model } = this;
    const { names } = model;
    const { nodes, sum } = model.found;
    const share = figureOf(model, [sum[0], sum[1] * model.factor]).share(sum[model.side] ? model.side : 1 - model.side);
    const frames = `${count(nodes.length)} frame${nodes.length === 1 ? '' : 's'}, nested ones counted once`;
    const parts = names.texts(model.functionHits);
    const of = `${names.part}${parts.length === 1 ? '' : 's'}`;
    const matched = parts.length > 0 ? `${of} that match: ${parts.slice(0, MOST_TOLD).join(', ')}; ` : '';
    const measure = measureOf(model.shownMetric);
    const title = `${matched}${frames}; they and what they call take ${share} of all ${measure}`;
    const none = names.error ? '0' : 'no match';
    const place = `${nodes.indexOf(model.selected) + 1}/${nodes.length} · ${share}`;
    const figures = h('span.found', { title }, nodes.length ? place : none);
    const where = parts.length === 1 ? parts[0] : count(parts.length);
    const words = parts.length === 1 ? [`${of} `, h('bdi', {}, where)] : [`${where} ${of}`];
    if (parts.length) figures.append(h('span.dim', {}, ' · in ', ...words));
    if (names.error) figures.append(h('span.hint', {}, ` ${names.error}`));
    return figures;
  }
}
