// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a frame, beside the pointer.

import { h } from '../common/dom.js';
import { STATES } from '../data/codes.js';
import { count } from '../common/format.js';
import { frameFigures } from '../model/figures.js';
import { trunkNames } from '../model/trunks.js';
import { placeText } from '../views/places.js';
import { edgeWords, verdictWords } from '../views/verdict.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('./walk.js').Box} Box */

/** How far it stands from the pointer, in pixels. */
const BESIDE = 14;
/** How far it stands from the edges of the window at least. */
const MARGIN = 4;

/** The figures of a frame. @param {Model} model @param {string} label @param {import('../model/figures.js').Figure} figure */
function row(model, label, figure) {
  const figures = model.sides === 1 ? [figure.amount(1), figure.share(1)] : [figure.span, figure.change];
  return h('tr', {}, h('th', { scope: 'row' }, label), ...figures.map((text) => h('td', {}, text)));
}

/** What is told of a box. @param {Model} model @param {Box} box */
function content(model, { node, merged }) {
  const compared = model.sides === 2 && model.shownMetric.tested && node > 0;
  const verdict = compared && h(`p.s-${model.stateOf(node)}`, {}, verdictWords(model, node));
  const edge = compared && edgeWords(model, node);
  const ofFunction = edge && h(`p.s-${STATES[model.verdicts.edgeOf(node)]}`, {}, edge);
  const head = model.sides === 2 && h('tr', {}, h('th'), h('th', { scope: 'col' }, 'base → head'), h('th'));
  const { self, total } = frameFigures(model, node);
  const rows = [row(model, 'self', self), row(model, 'total', total)];
  const place = node > 0 ? placeText(model.functions[model.tree.func[node]]) : '';
  const trunk = trunkNames(model, node);
  return [
    trunk && h('p.dim', {}, h('bdi', {}, trunk[0])),
    trunk && h('p.dim', {}, 'in one row; these figures are those of the outermost:'),
    h('p.name', {}, h('bdi', {}, model.nameOf(node))),
    !!place && h('p.dim', {}, place),
    merged > 1 && h('p.dim', {}, `the first of ${count(merged)} frames too narrow to draw`),
    h('table', {}, h('tbody', {}, head, ...rows)),
    verdict,
    ofFunction,
  ];
}

export class Tooltip {
  constructor() {
    // A screen reader is told of frames by the tree.
    this.element = h('div.tip', { hidden: true, 'aria-hidden': 'true' });
    this.size = [0, 0];
  }

  /** Tells of a box, or of nothing. @param {Model} model @param {Box|null} box */
  show(model, box) {
    const { element } = this;
    element.hidden = !box;
    if (!box) return;
    element.replaceChildren(.../** @type {Node[]} */ (content(model, box).filter(Boolean)));
    this.size = [element.offsetWidth, element.offsetHeight];
  }

  /** Stands beside the pointer: right of it and below, unless the window ends there. @param {MouseEvent} e */
  moveTo({ clientX, clientY }) {
    const [width, height] = this.size;
    const place = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ room) => {
      const after = at + BESIDE;
      return after + size + MARGIN <= room ? after : Math.max(MARGIN, at - BESIDE - size);
    };
    const x = place(clientX, width, innerWidth);
    const y = place(clientY, height, innerHeight);
    this.element.style.transform = `translate(${x}px, ${y}px)`;
  }
}
