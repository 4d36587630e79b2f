// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is known of one frame.

import { ORIGINS } from './decode.js';
import { ORIGIN_COLOURS } from './colour.js';
import { h } from './dom.js';
import { amount, listName, percent, signedAmount, signedPercent } from './format.js';

/** @typedef {import('./model.js').Model} Model */

export const STATE_WORDS = {
  same: 'no difference worth a look',
  unproven: 'not proven: noise can explain it',
  more: 'takes more time',
  less: 'takes less time',
  new: 'new',
  gone: 'gone',
  moved: 'moved or renamed',
};
const CODE_WORDS = ['', 'same code on both sides', 'code changed'];

/** @param {string} label @param {...any} values */
function row(label, ...values) {
  return h('tr', {}, h('th', { scope: 'row' }, label), ...values.map((v) => h('td', {}, v)));
}

/** @param {Model} model @param {string} label @param {number[]} pair @param {number[]} totals */
function sideBySide(model, label, pair, totals) {
  const unit = model.meta.unit;
  if (model.sides === 1) return row(label, amount(pair[1], unit), percent(pair[1], totals[1]));
  const delta = pair[1] - pair[0];
  const points = (100 * delta) / Math.max(...totals, 1e-9);
  const both = (/** @type {string} */ large, /** @type {string[]} */ ...small) =>
    h('span', {}, large, ...small.flatMap((text) => [h('br'), h('small', {}, text)]));
  return row(
    label,
    both(amount(pair[0], unit), percent(pair[0], totals[0])),
    both(amount(pair[1], unit), percent(pair[1], totals[1])),
    both(
      signedAmount(delta, unit),
      pair[0] ? `${signedPercent(delta, pair[0])} of base` : 'none in base',
      `${points >= 0 ? '+' : '−'}${Math.abs(points).toFixed(2)} points`,
    ),
  );
}

/** Callers or callees of a function, the greatest first. @param {Model} model @param {number} func @param {boolean} callers */
function neighbours(model, func, callers) {
  const tree = model.callTree;
  const sums = new Map();
  for (let i = 1; i < tree.count; i++) {
    const mine = callers ? tree.func[i] === func : tree.parent[i] > 0 && tree.func[tree.parent[i]] === func;
    if (!mine) continue;
    const other = callers ? tree.func[tree.parent[i]] : tree.func[i];
    if (other < 0) continue;
    const sum = sums.get(other) || [0, 0];
    sum[0] += tree.total[0][i];
    sum[1] += tree.total[1][i] * model.factor;
    sums.set(other, sum);
  }
  return [...sums].sort((a, b) => Math.max(...b[1]) - Math.max(...a[1])).slice(0, 6);
}

/** @param {Model} model @param {string} title @param {[number, number[]][]} list @param {(func: number) => void} pick */
function neighbourList(model, title, list, pick) {
  if (!list.length) return null;
  const totals = model.totals();
  return h(
    'section',
    {},
    h('h3', {}, title),
    h(
      'ul.neighbours',
      {},
      ...list.map(([func, sum]) =>
        h(
          'li',
          {},
          h(
            'button.link',
            { type: 'button', title: model.functions[func].name, onclick: () => pick(func) },
            model.functions[func].name,
          ),
          h('span', {}, percent(sum[1] || sum[0], sum[1] ? totals[1] : totals[0])),
        ),
      ),
    ),
  );
}

/** The stack of a node as text, root first. @param {Model} model @param {number} node */
export function stackText(model, node) {
  const out = [];
  for (let at = node; at > 0; at = model.tree.parent[at]) out.push(model.nameOf(at));
  return out.reverse().join('\n');
}

/** One proven change in a line. @param {Model} model @param {import('./decode.js').Func} f @param {boolean} own @param {(func: number) => void} pick */
function changeItem(model, f, own, pick) {
  const { unit } = model.meta;
  const e = own ? f.self : f.total;
  const figures =
    e.state === 'new'
      ? amount(e.head, unit)
      : e.state === 'gone'
        ? amount(e.base, unit)
        : `${signedAmount(e.delta, unit)}, ${signedPercent(e.delta, e.base)}`;
  return h(
    'li',
    {},
    h('button.link', { type: 'button', title: f.name, onclick: () => pick(f.id) }, listName(f.name)),
    h('span', {}, h(`span.s-${e.state}`, {}, e.state), ` ${figures}`),
  );
}

/** The proven changes, in the functions themselves where there are such. @param {Model} model @param {(func: number) => void} pick @param {number} most */
export function changeList(model, pick, most) {
  const own = model.provenFunctions(true);
  const changed = own.length ? own : model.provenFunctions(false);
  if (!changed.length) return h('p.dim', {}, 'No change is proven.');
  const items = changed.slice(0, most).map((f) => changeItem(model, f, own.length > 0, pick));
  const more = changed.length - items.length;
  return h('div', {}, h('ul.changes', {}, ...items), more > 0 && h('p.dim', {}, `and ${more} more in the function list`));
}

/** What to look at first, while no frame is looked at. @param {Model} model @param {(func: number) => void} pick */
export function overview(model, pick) {
  const hint = h('p.hint', {}, 'Hover a frame to see it here; click to pin it and zoom.');
  if (model.sides === 1) return hint;
  return h('div', {}, h('h3', {}, 'Proven changes, the largest first'), changeList(model, pick, 12), hint);
}

/**
 * @param {Model} model @param {number} node @param {boolean} pinned
 * @param {{pick: (func: number) => void, callers: (func: number) => void, callees: (func: number) => void, copy: (text: string, what: string) => void, zoom: (node: number) => void}} actions
 */
export function inspect(model, node, pinned, actions) {
  const totals = model.totals();
  const unit = model.meta.unit;
  const func = model.tree.func[node];
  const value = model.valueOf(node);
  const self = model.selfOf(node);
  const head = [
    h(
      'thead',
      {},
      model.sides === 1
        ? h('tr', {}, h('th'), h('th', {}, 'time'), h('th', {}, 'of total'))
        : h('tr', {}, h('th'), h('th', {}, 'base'), h('th', {}, 'head, scaled'), h('th', {}, 'difference')),
    ),
  ];
  const table = h(
    'table',
    {},
    ...head,
    h('tbody', {}, sideBySide(model, 'total', value, totals), sideBySide(model, 'self', self, totals)),
  );
  if (func < 0) return h('div', {}, h('h2', {}, 'all'), table);
  const f = model.functions[func];
  const state = model.stateOf(node);
  const interval = model.intervalOf(node);
  const merged = model.sums;
  return h(
    'div',
    {},
    h('h2', { title: f.name }, f.name),
    h(
      'p.where',
      {},
      [f.module, f.file ? `${f.file}${f.line ? `:${f.line}` : ''}` : ''].filter(Boolean).join(' · ') || 'no file known',
    ),
    h(
      'p.origin',
      {},
      swatch(ORIGIN_COLOURS[f.origin]),
      `${ORIGINS[f.origin]} – ${model.meta.ruleTexts[f.rule] || 'no rule recorded'}`,
      h('span.dim', {}, ` · named by ${model.meta.nameSources[f.source]}${model.tree.flags[node] & 1 ? ' · inlined' : ''}`),
    ),
    model.sides === 2 &&
      h(
        'p.state',
        {},
        h(`span.badge.${state}`, {}, STATE_WORDS[/** @type {keyof STATE_WORDS} */ (state)]),
        CODE_WORDS[f.code] && h('span.dim', {}, ` ${CODE_WORDS[f.code]}`),
      ),
    table,
    interval &&
      h('p.dim', {}, `95 % interval of the difference: ${signedAmount(interval[0], unit)} to ${signedAmount(interval[1], unit)}`),
    model.sides === 2 &&
      f.total?.detectable != null &&
      h('p.dim', {}, `least change found with these recordings: ${amount(f.total.detectable, unit)}`),
    h(
      'section',
      {},
      h('h3', {}, 'This function everywhere'),
      h(
        'table',
        {},
        h(
          'tbody',
          {},
          sideBySide(model, 'total', [merged.total[0][func], merged.total[1][func] * model.factor], totals),
          sideBySide(model, 'self', [merged.self[0][func], merged.self[1][func] * model.factor], totals),
        ),
      ),
    ),
    pinned && neighbourList(model, 'Callers', neighbours(model, func, true), actions.pick),
    pinned && neighbourList(model, 'Callees', neighbours(model, func, false), actions.pick),
    pinned &&
      h(
        'p.actions',
        {},
        h('button', { type: 'button', onclick: () => actions.zoom(node) }, 'Zoom'),
        h('button', { type: 'button', onclick: () => actions.callers(func) }, 'All callers'),
        h('button', { type: 'button', onclick: () => actions.callees(func) }, 'All callees'),
        h('button', { type: 'button', onclick: () => actions.copy(f.name, 'name') }, 'Copy name'),
        h('button', { type: 'button', onclick: () => actions.copy(stackText(model, node), 'stack') }, 'Copy stack'),
      ),
  );
}

/** A square of a colour; an SVG, since the page's policy allows no inline styles. @param {string} colour */
export function swatch(colour) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'swatch');
  svg.setAttribute('viewBox', '0 0 10 10');
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [
    ['width', '10'],
    ['height', '10'],
    ['rx', '2'],
    ['fill', colour],
  ])
    rect.setAttribute(name, value);
  svg.append(rect);
  return svg;
}
