// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around everything that is handed over: what was compared, the verdict, what part of it is shown, and what
// colours mean. A reader who has nothing but this must not take a part for the whole.

import { listName } from '../common/format.js';
import { drawChips } from '../views/chips.js';
import { labelsLine, recordingLine, titleOf } from '../views/header.js';
import { legend } from '../views/legend.js';

/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */

/** A colour, or none, and what is said of it. @typedef {{colour: string, text: string}} Key */

/**
 * What stands around a picture or a list.
 * @typedef {object} Summary
 * @property {string} title
 * @property {string} sides the names of what was compared
 * @property {string} sentence the verdict; names stand between backquotes
 * @property {string} shown which part is shown; empty for all
 * @property {Key[]} keys
 * @property {string} tool
 */

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The names of both sides. @param {Model} model */
function sidesText({ meta, sides }) {
  const names = meta.recordings.map((r) => [r.name.split('/').pop(), labelsLine(r)].filter(Boolean).join(', '));
  if (sides === 1 || !names.some(Boolean)) return names.join('');
  return names.map((words, i) => `${i ? 'head' : 'base'}: ${words || 'no name'}`).join(' → ');
}

/** @param {Model} model @param {boolean} isPart whether the report is of a part of a recording */
function sentenceText({ meta, sides }, isPart) {
  return sides === 1 ? recordingLine(meta.recordings[0], isPart) : `${capital(meta.verdict)}: ${meta.verdictText}`;
}

/** The filters and the zoom in words. @param {Model} model @param {State} state */
function shownText(model, state) {
  const [row, filters] = [document.createElement('span'), document.createElement('span')];
  drawChips(row, filters, { model, state, set: () => {} });
  const chips = [...filters.querySelectorAll('.chip'), ...row.querySelectorAll('.chip')];
  const words = chips.map((chip) => (chip.textContent || '').replace(/^(✕ |Esc · )+/, ''));
  if (model.zoom > 0) words.unshift(`zoomed to ${listName(model.nameOf(model.zoom))}`);
  if (!model.shownMetric.tested) words.unshift(model.shownMetric.words);
  return words.join(' · ');
}

/**
 * What colours mean, as the foot of the page says it.
 * @param {Model} model @param {Colours} colours @param {State} state @returns {Key[]}
 */
function keysOf(model, colours, state) {
  /** @type {Key[]} */ const out = [];
  const take = (/** @type {Node} */ node) => {
    if (node instanceof HTMLLabelElement || node instanceof HTMLSelectElement) return;
    if (node instanceof SVGElement) out.push({ colour: node.querySelector('rect')?.getAttribute('fill') || '', text: '' });
    else if (node instanceof Element) node.childNodes.forEach(take);
    else if (out.length) out[out.length - 1].text += node.textContent;
    else out.push({ colour: '', text: node.textContent || '' });
  };
  for (const node of legend(model, colours, { ...state, tab: 'flame' }, () => {})) {
    // What follows the last swatch of an entry is its text; another entry begins anew.
    if (!(node instanceof Element) || !node.querySelector('svg')) out.push({ colour: '', text: '' });
    take(node);
  }
  return out.map(({ colour, text }) => ({ colour, text: text.trim() })).filter(({ colour, text }) => colour || text);
}

/** @param {Model} model @param {Colours} colours @param {State} state @param {string} [name] of the part of a recording @returns {Summary} */
export function summaryOf(model, colours, state, name = '') {
  const title = titleOf(model.meta);
  return {
    title: name ? `${name} – ${title}` : title,
    sides: sidesText(model),
    sentence: sentenceText(model, !!name),
    shown: shownText(model, state),
    keys: keysOf(model, colours, state),
    tool: model.meta.tool,
  };
}

/** The parts of a sentence in which names stand between backquotes: text, name, text, … @param {string} text */
export const namedParts = (text) => text.split('`');
