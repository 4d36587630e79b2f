// SPDX-License-Identifier: GPL-3.0-or-later
// The ways to give to somebody else what is seen here: one menu, and what its entries do. Files are made in the page and
// saved through links to blobs, which its policy allows: nothing is loaded, and nothing is sent.

import { copied, h } from '../common/dom.js';
import { figuresOf } from '../picture/status.js';
import { markdownOf } from './markdown.js';
import { paperOf } from './paper.js';
import { pngOf, svgOf } from './sheet.js';
import { summaryOf } from './summary.js';
import { LEAST_READ, LEAST_SEEN } from './whole.js';

/** @typedef {import('../common/menu.js').Item} Item */
/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../picture/draw.js').Scene} Scene */
/** @typedef {import('../views/functions.js').FunctionList} FunctionList */
/** @typedef {import('./whole.js').Whole} Whole */

/**
 * What handing over needs of the page around it.
 * @typedef {object} HandOverHost
 * @property {HTMLElement} root of the page
 * @property {Model} model
 * @property {Colours} colours
 * @property {FunctionList} list
 * @property {() => State} state
 * @property {(state: State) => Scene} scene what the picture shows
 * @property {(dark: boolean) => void} setDark
 * @property {() => number} chosen the frame whose stack is copied, or -1
 * @property {() => void} copyStack
 * @property {() => void} copyLink
 * @property {(text: string) => void} say tells what became of it
 * @property {string} [name] of the part of a recording that the report is of
 * @property {AbortSignal} [until] the report is taken off the page
 */

/** A link to a blob is let go after this time: the browser has begun to save it. */
const SAVED_MS = 60000;
const LONGEST_NAME = 60;

/** Lets the browser save a file. @param {string} name @param {Blob} blob */
function save(name, blob) {
  const href = URL.createObjectURL(blob);
  const link = h('a', { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), SAVED_MS);
}

export class HandOver {
  /** @type {HTMLElement|null} */ #paper = null;
  #wasDark = false;

  /** @param {HandOverHost} host */
  constructor(host) {
    this.host = host;
    const listening = { signal: host.until };
    // A page is also asked for as it is printed, without being printed.
    const onPaper = matchMedia('print');
    onPaper.addEventListener('change', ({ matches }) => (matches ? this.#begin() : this.#end()), listening);
    window.addEventListener('beforeprint', () => this.#begin(), listening);
    window.addEventListener('afterprint', () => onPaper.matches || this.#end(), listening);
    host.until?.addEventListener('abort', () => this.#end());
  }

  /** The entries of the menu. @returns {(Item|null)[]} */
  items() {
    const { chosen, copyLink, copyStack } = this.host;
    return [
      { text: 'Save the picture as PNG', act: () => this.#savePng() },
      { text: 'Save the picture as SVG', act: () => this.#saveSvg() },
      { text: 'Print one page, or save it as PDF', act: () => window.print() },
      null,
      { text: 'Copy the list as Markdown', act: () => this.#copyList() },
      ...(chosen() > 0 ? [{ text: 'Copy the stack with its figures', key: 'c', act: copyStack }] : []),
      { text: 'Copy a link to this view', act: copyLink },
    ];
  }

  get #summary() {
    const { colours, model, name, state } = this.host;
    return summaryOf(model, colours, state(), name);
  }

  /** @param {number} least how wide a frame is that its row is drawn for @returns {Whole} */
  #whole(least) {
    const { colours, model, scene, state } = this.host;
    const shown = scene(state());
    return {
      scene: shown,
      rowRange: () => model.rowRange(),
      flipped: state().flipped,
      dark: colours.dark,
      least,
      hint: (node) => `${shown.name(node)} — ${figuresOf(model, node)}`,
    };
  }

  /** @param {string} ending */
  #fileName(ending) {
    const words = this.#summary.title.replace(/[^\p{L}\p{N}.]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
    return `${[...words].slice(0, LONGEST_NAME).join('') || 'profile'}.${ending}`;
  }

  async #savePng() {
    const name = this.#fileName('png');
    try {
      save(name, await pngOf(this.#summary, this.#whole(LEAST_SEEN)));
      this.host.say(`saved as ${name}`);
    } catch (error) {
      this.host.say(`No picture: ${/** @type {Error} */ (error).message}.`);
    }
  }

  #saveSvg() {
    const name = this.#fileName('svg');
    save(name, new Blob([svgOf(this.#summary, this.#whole(LEAST_SEEN))], { type: 'image/svg+xml' }));
    this.host.say(`saved as ${name}`);
  }

  /** Copies the list; where there is no clipboard, it is saved. */
  async #copyList() {
    const { list, say, state } = this.host;
    const { columns, rows, narrowed } = list.listed(state());
    const text = markdownOf(this.#summary, columns, rows, narrowed);
    if (await copied(text)) {
      say('list copied');
      return;
    }
    const name = this.#fileName('md');
    save(name, new Blob([text], { type: 'text/markdown' }));
    say(`saved as ${name}`);
  }

  /** Puts the page that is printed in the place of the report, in light colours: paper is white. */
  #begin() {
    const { colours, model, root, setDark } = this.host;
    if (this.#paper) return;
    this.#wasDark = colours.dark;
    setDark(false);
    this.#paper = paperOf(model, this.#summary, this.#whole(LEAST_READ));
    root.append(this.#paper);
  }

  #end() {
    if (!this.#paper) return;
    this.#paper.remove();
    this.#paper = null;
    this.host.setDark(this.#wasDark);
  }
}
