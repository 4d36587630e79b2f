// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts on differences in words.

import { measureOf } from './format.js';

/** @typedef {import('./model.js').Model} Model */

/** @type {Record<string, string>} */
const STATE_WORDS = {
  same: 'no difference that matters',
  unproven: 'not proven: noise can explain it',
  new: 'new',
  gone: 'gone',
  moved: 'moved or renamed',
};

/** What is said of an interval that leaves out 0 although its difference is not proven. */
export const ASKS_FOR_MORE =
  'not proven: its own 95 % interval excludes 0, but among so many functions chance alone produces some such intervals';

/** What is said of interrupts, which have no verdict, and where they come from. */
export const INTERRUPT_WORDS = 'what the machine did in this thread; not compared';

/** A verdict in words. @param {string} state @param {string} measure what the function takes more or less of */
export function stateText(state, measure) {
  return state === 'more' || state === 'less' ? `takes ${state} ${measure}` : STATE_WORDS[state] || '';
}

/**
 * Whether an interval leaves out 0. Among many functions some such intervals are due to chance.
 * @param {number} low @param {number} high
 */
export const leavesOutZero = (low, high) => low > 0 || high < 0;

/** The verdict on a frame in words. @param {Model} model @param {number} node */
export function verdictWords(model, node) {
  if (model.isInterrupt(model.tree.func[node])) return 'not compared';
  const state = model.stateOf(node);
  const range = model.intervalOf(node);
  const short = state === 'unproven' && range && leavesOutZero(range[0], range[1]);
  return short ? ASKS_FOR_MORE : stateText(state, measureOf(model.shownMetric));
}
