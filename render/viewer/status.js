// SPDX-License-Identifier: GPL-3.0-or-later
// Where one is: the path to the zoomed frame, and the figures of a frame in a line.

import { h } from './dom.js';
import { amount, change as changeOf, measureOf, percent, signedAmount } from './format.js';
import { verdictWords } from './inspector.js';

/** @typedef {import('./model.js').Model} Model */

const FIRST = 3;
const LAST = 5;

/** @param {Model} model @param {number} node */
export function figuresOf(model, node) {
  const { unit } = model;
  const [base, head] = model.valueOf(node);
  const [totalBase, totalHead] = model.totals();
  if (model.sides === 1) return `${amount(head, unit)} ${percent(head, totalHead)}`;
  const sides = `base ${amount(base, unit)} ${percent(base, totalBase)} → head ${amount(head, unit)} ${percent(head, totalHead)}`;
  const change = `${signedAmount(head - base, unit)} ${base ? changeOf(base, head) : 'none in base'}`;
  const tested = model.shownMetric.tested;
  return `${sides} · ${change}${tested ? ` · ${verdictWords(model, node)}` : ''}`;
}

/** The frames from the root to the zoomed one; long paths without their middle. @param {Model} model @param {(node: number) => void} zoom */
export function crumbs(model, zoom) {
  const path = [];
  for (let at = model.zoom; at >= 0; at = model.tree.parent[at]) path.push(at);
  path.reverse();
  const shown = path.length > FIRST + LAST + 1 ? [...path.slice(0, FIRST), -1, ...path.slice(-LAST)] : path;
  const out = shown.map((node) =>
    node < 0
      ? h('span.dim', {}, '…')
      : h(
          'button.link',
          { type: 'button', title: model.nameOf(node), 'aria-current': node === model.zoom, onclick: () => zoom(node) },
          model.nameOf(node),
        ),
  );
  if (model.zoom > 0) out.push(h('button', { type: 'button', title: 'reset the zoom (0)', onclick: () => zoom(0) }, 'reset'));
  return out;
}

/** What the root says of the picture. @param {import('./app.js').App} app */
export function rootName(app) {
  const { model, state } = app;
  const tested = model.sides === 2 && model.shownMetric.tested ? ': only the functions themselves were tested, so their callers stay grey' : '';
  if (state.inverted && model.tree.isLazy)
    return `all – functions by their own ${measureOf(app.model.shownMetric)}, their callers below${tested}`;
  if (model.sides === 1) return 'all';
  if (state.removed && app.canShowRemoved()) return 'all – gone since base';
  if (state.view !== 'diff') return `all – ${state.view}`;
  const side = state.reversed ? 'base' : 'head';
  if (state.colour !== 'diff') return `all – ${side}`;
  return `all – ${side}, coloured by ${state.reversed ? 'what head changes' : 'its difference from base'}`;
}
