// SPDX-License-Identifier: GPL-3.0-or-later
// What the page tells of bottlenecks beside the picture: the legend of their colours, bars in the inspector, and a
// column of the function list.

import { BOTTLENECK_COLOURS, BOTTLENECK_HINTS, BOTTLENECKS, CAUSES, costByClass, costsOf } from '../model/bottleneck.js';
import { COST_PARTS, functionBottleneck, MIXED } from '../model/bottleneck.js';
import { sumOf } from '../model/sums.js';
import { css } from '../drawing/colour.js';
import { h, svg } from '../common/dom.js';
import { partFigures, partOfSide } from '../model/figures.js';
import { swatch } from '../common/widgets.js';

/** @typedef {import('../data/decode.js').Costs} Costs */
/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('../common/table.js').Column<{f: import('../data/symbols.js').Func}>} BottleneckColumn */
/** @typedef {import('../model/model.js').Model} Model */

const COLOUR_HINT =
  'a frame has the colour of the largest part of its own cost, the paler the more of its cost is in what it calls';

/**
 * An entry of the legend, which marks the frames of a number.
 * @typedef {object} Mark
 * @property {'origins'|'states'|'bottlenecks'} name
 * @property {number} number
 * @property {string} colour
 * @property {string} [edge] the colour of the lower edge of its swatch
 * @property {string} word
 * @property {string} total how much it stands for
 * @property {string} totalHint
 * @property {string} [hint]
 */

/**
 * What the colours of bottlenecks mean, with the share of the self cost that the frames of each class have.
 * @param {Model} model @param {Colours} colours @param {(entry: Mark) => Node} key makes an entry that marks
 */
export function bottleneckLegend(model, colours, key) {
  if (!model.meta.hasBottlenecks)
    return [h('span.dim', {}, 'Colour: this report does not tell of bottlenecks, so no frame has a colour.')];
  const sums = costByClass(model);
  const all = sumOf(sums);
  const totalHint = 'the part of what is shown that frames of this class have of their own';
  const entry = (/** @type {number} */ number, /** @type {string} */ colour) =>
    key({
      name: 'bottlenecks',
      number,
      colour,
      word: BOTTLENECKS[number],
      total: sums[number] ? partOfSide(model, sums[number], all).share(model.side) : '',
      totalHint,
      hint: BOTTLENECK_HINTS[number],
    });
  return [
    ...COST_PARTS.map((number) => entry(number, BOTTLENECK_COLOURS[number])),
    entry(MIXED, css(colours.neutral())),
    h('span.dim', { title: COLOUR_HINT }, 'what the own cost consists of; paler: most is in what it calls'),
  ];
}

/* ---- The inspector ---- */

/** The parts of a cost. @param {Costs} costs @param {number} side @param {number} at */
const partsOf = (costs, side, at) => costs.parts[side].map((part) => part[at]);

/**
 * A bar of the parts of a cost, as long as the cost beside the greater one.
 * @param {number[]} parts @param {number} most the greater one @param {string} label
 */
function bar(parts, most, label) {
  const attributes = { class: 'parts', viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img' };
  let left = 0;
  const rects = parts.map((part, i) => {
    const x = left;
    const width = most > 0 ? (100 * part) / most : 0;
    left += width;
    return svg('rect', { x, width, height: 10, fill: BOTTLENECK_COLOURS[COST_PARTS[i]] });
  });
  return svg('svg', { ...attributes, 'aria-label': label }, ...rects);
}

/**
 * The bottleneck of a frame in words: "cache", "instruction → cache".
 * @param {Model} model @param {Costs} costs @param {number} at
 */
function classWords({ sides }, { classes }, at) {
  const words = classes.map((side) => BOTTLENECKS[side?.[at] || 0] || 'none');
  return sides === 1 || words[0] === words[1] ? words[1] : words.join(' → ');
}

/**
 * What a frame's own cost consists of on each side, and the difference; null where the report does not tell.
 * @param {Model} model @param {number} node
 */
export function bottleneckSection(model, node) {
  const found = costsOf(model, node);
  if (!found) return null;
  const { costs, at, isWhole } = found;
  const sides = model.sides === 1 ? [1] : [0, 1];
  const measured = [0, 1].map((side) => (sides.includes(side) ? partsOf(costs, side, at) : COST_PARTS.map(() => 0)));
  const figures = partFigures(model, measured);
  const parts = sides.map((side) => figures.map(({ pair }) => pair[side]));
  const sums = parts.map(sumOf);
  const most = Math.max(...sums);
  if (!(most > 0)) return null;
  const share = (/** @type {number} */ i, /** @type {number} */ part) => figures[part].share(sides[i]);
  const names = sides.map((side) => (model.sides === 1 ? 'its own cost' : side ? 'head' : 'base'));
  const words = (/** @type {number} */ i) =>
    COST_PARTS.map((one, part) => `${BOTTLENECKS[one]} ${share(i, part)}`).join(', ');
  const bars = sides.map((_, i) => {
    const name = h('th', { scope: 'row' }, names[i]);
    return h('tr', {}, name, h('td', { colSpan: 2 }, bar(parts[i], most, `${names[i]}: ${words(i)}`)));
  });
  const rows = COST_PARTS.map((one, part) => {
    const name = h('th', { scope: 'row', title: BOTTLENECK_HINTS[one] }, swatch(BOTTLENECK_COLOURS[one]), BOTTLENECKS[one]);
    return h('tr', {}, name, ...sides.map((_, i) => h('td', { colSpan: sides.length === 1 ? 2 : 1 }, share(i, part))));
  });
  const change = costs.change?.[at] || 0;
  const way = sums[sums.length - 1] > sums[0] ? 'more' : 'less';
  const because = change > 0 && h('p.because', {}, `Takes ${way}: `, h('b', {}, CAUSES[change]));
  return h(
    'section.bottleneck',
    {},
    h('h3', {}, `Bottleneck${isWhole ? ' of the function' : ''}: ${classWords(model, costs, at)}`),
    because,
    h('table', {}, h('tbody', {}, ...bars, ...rows)),
    model.isPart && h('p.dim', {}, 'of the whole recording, without filters'),
  );
}

/* ---- The function list ---- */

/** What holds a function up, where the report tells. @param {Model} model @returns {BottleneckColumn[]} */
export function bottleneckColumn(model) {
  if (!model.meta.hasBottlenecks) return [];
  const one = (/** @type {number} */ func) => functionBottleneck(model, func);
  const change = (/** @type {number} */ func) => model.tables.bottlenecks?.functions.change?.[func] || 0;
  const two = model.sides === 2;
  /** @type {BottleneckColumn[]} */
  const columns = [
    {
      id: 'bottleneck',
      title: 'bottleneck',
      hint: 'the largest part of the cost of the function itself, without what it calls',
      left: true,
      rank: 3,
      text: (r) => BOTTLENECKS[one(r.f.id)] || '–',
      value: (r) => [one(r.f.id) || BOTTLENECKS.length],
    },
    {
      id: 'because',
      title: 'because of',
      hint: 'what the difference of the function itself consists of',
      left: true,
      rank: 4,
      text: (r) => CAUSES[change(r.f.id)] || '–',
      value: (r) => [change(r.f.id) || BOTTLENECKS.length],
    },
  ];
  return two ? columns : columns.slice(0, 1);
}
