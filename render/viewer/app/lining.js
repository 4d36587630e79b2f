// SPDX-License-Identifier: GPL-3.0-or-later
// Which function's lines are shown: what opens them, closes them, and leads from one to the next.

import { hashOf } from '../data/hash.js';
import { functionIn } from '../model/state.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/**
 * The lines of a function are shown, and the one that keys are about.
 * @param {Model} model @param {number} func or -1 @param {string} [line] @returns {Change|null}
 */
export function linesOf(model, func, line = '') {
  const f = model.functions[func < 0 ? firstOfLines(model) : func];
  return f && !f.isProcess ? { source: hashOf(f), line } : null;
}

/** The function whose lines are shown where none is chosen: the one that changed most, or else has most time. @param {Model} model */
function firstOfLines(model) {
  const [change] = model.provenChanges();
  // Of what a library does for it, it is the user's function that one looks at.
  if (change) return change.caller >= 0 ? change.caller : change.f.id;
  const self = model.sums.self[1];
  return model.functions.reduce((most, f) => (self[f.id] > self[most] && !model.isInterrupt(f.id) ? f.id : most), 0);
}

/** Lines that are shown are those of the function that a change selects. @param {State} state @param {Change} change @returns {Change} */
export function linesAfter(state, { selected, source }) {
  const hash = state.source && source === undefined && selected ? functionIn(selected) : '';
  return hash && hash !== state.source ? { source: hash, line: '' } : {};
}
