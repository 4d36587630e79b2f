// SPDX-License-Identifier: GPL-3.0-or-later
// What a choice of a function changes of the state.

import { hashOf } from '../data/hash.js';
import { findRemoved } from '../model/layout.js';
import { OTHER_ROOT, pathOf } from '../model/state.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/**
 * All frames of a function are marked, and its widest is selected. One that is gone is shown where it was: among the
 * removed stacks, or else in the Base view.
 * @param {Model} model @param {State} state @param {number} func
 * @param {(node: number) => number} zoomFor the zoom in which a node can be seen
 * @returns {Change}
 */
export function picked(model, state, func, zoomFor) {
  const best = model.widestOf(func);
  const hash = hashOf(model.functions[func]);
  if (best < 0 && model.sides === 2 && state.view !== 'base' && model.sums.total[0][func] > 0) return pickedGone(model, state, func, hash);
  const isThere = best > 0;
  return {
    search: '',
    picked: hash,
    selected: isThere ? model.pathTo(best) : '',
    zoom: isThere ? model.pathTo(zoomFor(best)) : '',
  };
}

/** @param {Model} model @param {State} state @param {number} func that head lacks @param {string} hash @returns {Change} */
function pickedGone(model, state, func, hash) {
  const { callTree } = model;
  const [base] = callTree.total;
  const node = model.framesOf(func).reduce((best, at) => (best < 0 || base[at] > base[best] ? at : best), -1);
  const isRemoved = model.shownMetric.tested && findRemoved(callTree).marks[node] === 1;
  return {
    ...OTHER_ROOT,
    inverted: false,
    search: '',
    picked: hash,
    view: isRemoved ? 'diff' : 'base',
    removed: isRemoved || state.removed,
    selected: pathOf(callTree, model.functions, node),
  };
}

/**
 * What calls a function is shown, what it calls, or both.
 * @param {Model} model @param {number} func @param {'callers'|'callees'|'both'} which @returns {Change}
 */
export function aroundOf(model, func, which) {
  const hash = hashOf(model.functions[func]);
  return {
    callers: which === 'callees' ? '' : hash,
    callees: which === 'callers' ? '' : hash,
    picked: '',
    zoom: '',
    // The function is selected, so that the inspector tells of it.
    selected: hash,
  };
}
