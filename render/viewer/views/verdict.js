// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts on differences in words.

import { COMPILATION, INTERRUPTS } from '../data/codes.js';
import { amount, measureOf } from '../common/format.js';
import { testedFigure } from '../model/figures.js';
import { isProven, verdictOn } from '../data/symbols.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').Estimate} Estimate */

/** @type {Record<string, string>} */
const STATE_WORDS = {
  same: 'no difference that matters',
  unproven: 'not proven: noise can explain it',
  new: 'new',
  gone: 'gone',
  moved: 'moved or renamed',
  untested: 'not tested: this is a part of what was tested',
};

/** What is said of an interval that leaves out 0 although its difference is not proven. */
const ASKS_FOR_MORE =
  'not proven: its own 95 % interval excludes 0, but among so many functions chance alone produces some such intervals';

/** What is said of functions beside the program, which have no verdict. @param {{origin: number}} f */
export const besideWords = (f) =>
  f.origin === COMPILATION
    ? 'what the run time compiled while the program ran; not compared'
    : 'what the machine did in this thread; not compared';

/**
 * What verdicts are about where the figures are about something else; empty where both are about the same.
 * @param {Model} model
 */
export function wholeWords(model) {
  if (!model.isNarrowed) return '';
  if (model.isPart) return 'Proven without filters; the figures are those of what is shown.';
  const { hides, folds, interrupts, apart, merges } = model.figuresAre;
  const words = [
    hides && 'without system calls',
    folds && 'with system calls in their callers',
    interrupts && 'with interrupts in their callers',
    apart && "with the interpreter's own time apart",
    merges && 'with frames merged',
  ];
  return `Verdicts are of the whole; figures are ${words.filter(Boolean).join(', ')}.`;
}

/** Whether nothing was sampled: such counts have no intervals. @param {import('../data/report.js').Meta} meta */
export const isExact = (meta) => meta.evidence?.mode === 'exact';

/**
 * A verdict in words.
 * @param {string} state @param {string} measure what the function takes more or less of
 * @param {number|null} [low] @param {number|null} [high] the interval of the difference, where one is known
 */
function stateText(state, measure, low = null, high = null) {
  const excludesZero = low !== null && high !== null && (low > 0 || high < 0);
  if (state === 'unproven' && excludesZero) return ASKS_FOR_MORE;
  return state === 'more' || state === 'less' ? `takes ${state} ${measure}` : STATE_WORDS[state] || '';
}

/** What a change is about. @param {boolean} own whether it is about the function itself */
export const partText = (own) => (own ? 'self' : 'total');

/**
 * The verdict on a function in words.
 * @param {{e: Estimate, own: boolean}} verdict @param {string} measure what the function takes more or less of
 */
export function functionWords({ e, own }, measure) {
  const text = stateText(e.state, measure, e.low, e.high);
  if (!isProven(e.state)) return text;
  return `${text} ${own ? 'itself' : 'with all it calls'}`;
}

/**
 * What is said of a function beside one of its frames: how the verdicts differ, or what its recordings can miss. Empty
 * where there is nothing to add.
 * @param {Model} model @param {number} node @param {number} places how many frames the function has
 */
export function functionBesideFrame(model, node, places) {
  const f = model.functions[model.tree.func[node]];
  const verdict = model.shownMetric.tested && !model.isPart && f.origin < INTERRUPTS && verdictOn(f);
  if (!verdict) return '';
  const { e, own } = verdict;
  const here = model.stateOf(node);
  const all = places === 1 ? 'for the function as a whole' : `in all ${places} places together`;
  const measure = measureOf(model.shownMetric);
  if (isProven(e.state)) {
    const tells = here === e.state && model.verdicts.edgeOf(node) > 0;
    if (here === e.state && !tells) return '';
    // The figures of a verdict are those of what was tested: with frames hidden or folded the page shows others.
    const figure = model.filtered ? '' : ` (${testedFigure(model, f.id, own ? 'self' : 'total').difference})`;
    const whole = `${functionWords(verdict, measure)}${figure}`;
    if (tells) return `${all[0].toUpperCase()}${all.slice(1)}: ${whole}.`;
    return isProven(here)
      ? `Here ${stateText(here, measure)}; ${all}: ${whole}.`
      : `In this place alone no change is proven; ${all}: ${whole}.`;
  }
  if (isProven(here)) return `The colour is that of this place; ${all} no change is proven.`;
  if (model.filtered || e.detectable === null || Math.abs(e.delta) >= e.detectable) return '';
  const least = amount(e.detectable, model.unit);
  return isExact(model.meta)
    ? `Only a change of more than ${least} in it would be proven.`
    : `These recordings often miss a change of less than ${least} in it.`;
}

/** The verdict on a frame in words. @param {Model} model @param {number} node */
export function verdictWords(model, node) {
  if (model.isInterrupt(model.tree.func[node])) return 'not compared';
  const [low, high] = model.intervalOf(node) || [];
  return stateText(model.stateOf(node), measureOf(model.shownMetric), low, high);
}

/**
 * What the lower edge of a frame says in words; empty where it has none.
 * @param {Model} model @param {number} node
 */
export function edgeWords(model, node) {
  const verdict = model.verdicts.edgeOf(node) > 0 && model.verdictOn(model.functions[model.tree.func[node]]);
  return verdict ? `its function ${functionWords(verdict, measureOf(model.shownMetric))}` : '';
}
