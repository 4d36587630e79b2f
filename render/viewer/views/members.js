// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of a group, which nothing tells apart from build to build.

import { h } from '../common/dom.js';
import { amount, count, listName } from '../common/format.js';
import { showsTested } from '../model/figures.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').Func} Func */

/** How many of them are listed. */
const MOST_MEMBERS = 100;
const WHY =
  'Nothing tells which of them in base is which in head, so that only their sum is compared. What each takes with all it ' +
  'calls is listed by its name; no difference of one is proven.';

/**
 * The times of all names in a group, the greatest first. Head is scaled, as all figures are.
 * @param {Model} model @param {Func} f @returns {{name: string, pair: number[]}[]}
 */
export function membersBySize({ factor }, f) {
  /** @type {Map<string, number[]>} */ const times = new Map();
  for (const { name, side, total } of f.members) {
    const pair = times.get(name) || [0, 0];
    pair[side] += side ? total * factor : total;
    times.set(name, pair);
  }
  const rows = Array.from(times, ([name, pair]) => ({ name, pair }));
  return rows.sort((a, b) => Math.max(...b.pair) - Math.max(...a.pair));
}

/**
 * What the inspector shows of a group. Filters and other metrics do not know its parts.
 * @param {Model} model @param {Func} f
 */
export function memberSection(model, f) {
  if (model.sides === 1 || f.isProcess || !showsTested(model) || !f.members.length) return null;
  const rows = membersBySize(model, f);
  const { unit } = model.meta;
  const item = (/** @type {{name: string, pair: number[]}} */ { name, pair }) =>
    h('li', {}, h('bdi', { title: name }, listName(name)), h('span', {}, `${amount(pair[0], unit)} → ${amount(pair[1], unit)}`));
  return h(
    'section.members',
    {},
    h('h3', {}, `${count(rows.length)} names in this group`),
    h('p.dim', {}, WHY),
    h('ul.neighbours', {}, ...rows.slice(0, MOST_MEMBERS).map(item)),
    rows.length > MOST_MEMBERS && h('p.dim', {}, `and ${count(rows.length - MOST_MEMBERS)} more`),
  );
}
