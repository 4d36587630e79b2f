// SPDX-License-Identifier: GPL-3.0-or-later
// The page that is printed, and saved as a PDF: the verdict, the largest proven changes, the whole picture, and what its
// colours mean, on one landscape page. It takes the place of the report while a page is made.

import { h } from '../common/dom.js';
import { swatch } from '../common/widgets.js';
import { changeFigure } from '../model/figures.js';
import { changeTitle } from '../views/changes.js';
import { placeText } from '../views/places.js';
import { partText } from '../views/verdict.js';
import { cutText, svgFor } from './sheet.js';
import { namedParts } from './summary.js';

/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('./summary.js').Summary} Summary */
/** @typedef {import('./whole.js').Whole} Whole */

/** A4 in landscape between its margins, in pixels of a style sheet. */
const PAGE = [1047, 718];
/** Heights of what stands above and below the picture, in the same. */
const AROUND = 128;
const LINE = 17;
const LETTERS_IN_LINE = 165;
/** How many changes are listed. */
const MOST_CHANGES = 8;
/** Letters of more rows than these could not be read. */
const MOST_ROWS = 64;

/** The largest proven changes. @param {Model} model @param {FunctionChange[]} changes */
function changesTable(model, changes) {
  const title = (/** @type {string} */ text) => h('th', { scope: 'col' }, text);
  const row = (/** @type {FunctionChange} */ change) => {
    const { f, e, own } = change;
    const figure = changeFigure(model, change);
    const difference = `${figure.difference}, ${figure.change}`;
    const cells = [placeText(f), figure.amount(0), figure.amount(1), difference, `${e.state} ${partText(own)}`];
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, changeTitle(model, change))),
      ...cells.map((text, i) => h(i === cells.length - 1 ? `td.s-${e.state}` : 'td', {}, text)),
    );
  };
  const titles = ['proven change', 'where', 'base', 'head', 'difference', 'verdict'];
  return h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...titles.map(title))),
    h('tbody', {}, ...changes.slice(0, MOST_CHANGES).map(row)),
  );
}

/** What is said below a list that is cut, or where nothing is proven. @param {Model} model @param {number} changes */
function othersText({ sides }, changes) {
  if (sides === 1) return '';
  if (!changes) return 'No function is proven to have changed.';
  const others = changes - MOST_CHANGES;
  return others > 0 ? `${others} other change${others === 1 ? ' is' : 's are'} proven.` : '';
}

/** An SVG as an element: its text is ours, and every name in it is escaped. @param {string} text */
function elementOf(text) {
  return document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
}

/**
 * The page.
 * @param {Model} model @param {Summary} summary @param {Whole} whole
 */
export function paperOf(model, summary, whole) {
  const { title, sides, sentence, shown, keys, tool } = summary;
  const changes = model.sides === 2 ? model.shownChanges().filter(({ isOfOthers }) => !isOfOthers) : [];
  const listed = Math.min(changes.length, MOST_CHANGES);
  const lines = Math.ceil(sentence.length / LETTERS_IN_LINE) + (shown ? 1 : 0) + (listed ? listed + 1 : 0);
  const { text, cut } = svgFor(whole, PAGE[0], PAGE[1] - AROUND - lines * LINE, MOST_ROWS);
  const others = othersText(model, changes.length);
  return h(
    'section.paper',
    { 'aria-label': 'Printed page' },
    h('h1', {}, title),
    !!sides && h('p.dim', {}, sides),
    h('p.sentence', {}, ...namedParts(sentence).map((part, i) => (i % 2 ? h('code', {}, part) : part))),
    !!shown && h('p.dim', {}, `Shown: ${shown}`),
    listed > 0 && changesTable(model, changes),
    !!others && h('p.dim', {}, others),
    elementOf(text),
    cut > 0 && h('p.dim', {}, cutText(cut, MOST_ROWS)),
    h('p.keys', {}, ...keys.map(({ colour, text: word }) => h('span', {}, !!colour && swatch(colour), word)), h('span.dim', {}, tool)),
  );
}
