// SPDX-License-Identifier: GPL-3.0-or-later
// A proven change in words: the chain of callers that it is, and what threads wait for in it.

import { h } from '../common/dom.js';
import { listName } from '../common/format.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').ChangeWait} ChangeWait */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */

/** The name of a change for lists: "lookup → … → futex_wait". @param {Model} model @param {FunctionChange} change */
export function changeTitle({ functions }, { f, caller, to, isCut }) {
  const from = listName((functions[caller] || f).name);
  return to < 0 ? from : `${from} ${isCut ? '→ … →' : '→'} ${listName(functions[to].name)}`;
}

/** All functions of a change with their whole names, the outermost first. @param {Model} model @param {FunctionChange} change */
export function changeHint({ functions }, { caller, chain }) {
  const all = caller < 0 ? chain : [caller, ...chain];
  return all.map((func) => functions[func].name).join('\n→ ');
}

/** What is said of who ended waits: of a lock, who held it. @param {ChangeWait} wait @param {Model} model */
const releaseWords = ({ one }, { waitClasses }) => (waitClasses[one].words === 'lock' ? 'held by' : 'ended by');

/** Who ended most waits in base and in head. @param {Model} model @param {ChangeWait} wait */
function holdersText(model, wait) {
  const [base, head] = wait.by.map((func) => (func < 0 ? '' : listName(model.functions[func].name)));
  if (!base && !head) return '';
  const words = releaseWords(wait, model);
  if (!head) return `${words} ${base} in base`;
  return `${words} ${head}${base && base !== head ? `, in base by ${base}` : ''}`;
}

/**
 * What threads wait for in a change, its locks, and who held these: "waits for lock cache_lock, held by evict". Empty
 * where little of it is waiting.
 * @param {Model} model @param {FunctionChange} change
 */
export function waitText(model, { waits }) {
  const texts = waits.map((wait) => {
    const what = [model.waitClasses[wait.one].words, wait.lock].filter(Boolean).join(' ');
    return [what, holdersText(model, wait)].filter(Boolean).join(', ');
  });
  return texts.length ? `waits for ${texts.join('; for ')}` : '';
}

/** The same as an element. @param {Model} model @param {FunctionChange} change */
export const waitLine = (model, change) =>
  change.waits.length > 0 && h('span.waited', {}, h('bdi', {}, waitText(model, change)));
