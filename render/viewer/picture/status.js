// SPDX-License-Identifier: GPL-3.0-or-later
// The path to the zoomed frame, the figures of a frame in a line, and the name of the root.

import { h } from '../common/dom.js';
import { measureOf } from '../common/format.js';
import { frameFigures } from '../model/figures.js';
import { rowWords, shownAs, trunkNames } from '../model/trunks.js';
import { placeText } from '../views/places.js';
import { edgeWords, verdictWords } from '../views/verdict.js';
import { button } from '../common/widgets.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */

/** How many frames of a long path are shown at its beginning and at its end. */
const FIRST = 3;
const LAST = 5;

/** The figures of a frame in a line. @param {Model} model @param {number} node */
function figuresText(model, node) {
  const { total } = frameFigures(model, node);
  if (model.sides === 1) return total.withShare(1);
  return `base ${total.withShare(0)} → head ${total.withShare(1)} · ${total.differenceWithChange}`;
}

/** What is said after the figures: the verdicts, and where the function is. @param {Model} model @param {number} node */
function aboutText(model, node) {
  const isTested = model.sides === 2 && model.shownMetric.tested;
  const place = node > 0 && placeText(model.functions[model.tree.func[node]]);
  const texts = [isTested && verdictWords(model, node), isTested && edgeWords(model, node), place];
  return texts.map((text) => (text ? ` · ${text}` : '')).join('');
}

/** The figures of a frame, its verdicts and its place in a line. @param {Model} model @param {number} node */
export const figuresOf = (model, node) => figuresText(model, node) + aboutText(model, node);

/** Which frames are drawn in one row with a frame. @param {Model} model @param {number} node */
function rowText(model, node) {
  const words = rowWords(model.tree, node);
  return words && ` (${words})`;
}

/**
 * A frame in a line, of which the figures are cut off last.
 * @param {Model} model @param {number} node @param {string} note stands after the name
 */
export function statusLine(model, node, note) {
  return [
    h('bdi', {}, model.nameOf(node)),
    h('span.figures', {}, `${note}${rowText(model, node)} — ${figuresText(model, node)}`),
    h('span', {}, aboutText(model, node)),
  ];
}

/**
 * The item of the tree that a frame is to screen readers.
 * @param {Model} model @param {number} node
 */
export function treeItem(model, node) {
  const { tree } = model;
  const parent = tree.parent[node];
  let place = 1;
  let siblings = 0;
  for (let at = parent < 0 ? -1 : tree.first(parent); at >= 0; at = tree.next(at)) {
    if (!(model.width(at) > 0)) continue;
    siblings++;
    if (at === node) place = siblings;
  }
  const item = {
    id: 'active-frame',
    role: 'treeitem',
    'aria-selected': 'true',
    'aria-level': tree.depth[node] + 1,
    'aria-posinset': place,
    'aria-setsize': Math.max(1, siblings),
    ...(tree.first(node) >= 0 && { 'aria-expanded': 'true' }),
  };
  return h('div.offscreen', item, h('bdi', {}, model.nameOf(node)), `, ${figuresOf(model, node)}${rowText(model, node)}`);
}

/**
 * The frames from the root to the zoomed one; a long path has a gap in its middle.
 * @param {Model} model @param {boolean} isAway whether one may reset what is not told by the zoom
 * @param {{zoom: (node: number) => void, home: () => void}} goTo zooms to a frame, shows the whole picture
 */
export function crumbs(model, isAway, { zoom, home }) {
  const path = [model.zoom];
  for (let at = model.tree.parent[model.zoom]; at >= 0; at = model.tree.parent[at])
    path.push((at = shownAs(model.tree, at)));
  path.reverse();
  const shown = path.length > FIRST + LAST + 1 ? [...path.slice(0, FIRST), -1, ...path.slice(-LAST)] : path;
  const out = shown.map((node) =>
    node < 0
      ? h('span.dim', {}, '…')
      : button(
          'button.link',
          { title: model.nameOf(node), 'aria-current': node === model.zoom, onclick: () => zoom(node) },
          trunkNames(model, node)?.[0] || model.nameOf(node),
        ),
  );
  const reset = { title: 'reset zoom and scroll (0)', onclick: home };
  return model.zoom > 0 || isAway ? [...out, button('button', reset, 'reset')] : out;
}

/**
 * The name of the root: whose widths are drawn, and what the colours mean.
 * @param {Model} model @param {State} state
 */
export function rootName(model, state) {
  const tested = model.sides === 2 && model.shownMetric.tested;
  if (state.inverted && model.tree.isLazy) {
    const only = tested ? ': only the functions themselves were tested, so their callers stay grey' : '';
    const where = state.flipped ? 'above' : 'below';
    return `all – by function that runs: their own ${measureOf(model.shownMetric)}, their callers ${where}${only}`;
  }
  if (model.sides === 1) return 'all';
  if (state.removed && model.canShowRemoved(state)) return 'all – what is gone since base, in base widths';
  if (state.view !== 'diff') return `all – ${state.view}`;
  const side = state.reversed ? 'base' : 'head';
  if (state.colour !== 'diff') return `all – ${side}`;
  return `all – ${side}, coloured by ${state.reversed ? 'what head changes' : 'its difference from base'}`;
}
