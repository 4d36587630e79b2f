// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of figures with bars: one line for base and one for head, all of a list on one scale. Who calls a function and what it
// calls, which code ran below a frame, and what a module takes.

import { ORIGIN_COLOURS } from '../drawing/colour.js';
import { h } from '../common/dom.js';
import { count, listName, moduleName } from '../common/format.js';
import { Figure, figureOf, functionFigures, moduleFigure, neighbourFigures, originFigures, sidesShown } from '../model/figures.js';
import { wholePlace } from './places.js';
import { button, swatch } from '../common/widgets.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/figures.js').Neighbour} Neighbour */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').Func} Func */

/** How many callers and callees are listed. */
const MOST_NEIGHBOURS = 6;

/** A thing with its figure: its name as an element or a text. @typedef {{name: Child, figure: Figure}} Bar */

/** The line of one side. @param {Figure} figure @param {number} side @param {string} title @param {number} most the longest bar's value */
function line(figure, side, title, most) {
  const bar = h(`span.bar.${figure.pair[side] > 0 ? (side ? 'head' : 'base') : 'none'}`, { 'aria-hidden': 'true' });
  bar.style.setProperty('--bar', String(Math.min(1, Math.max(0, figure.pair[side] / most)) || 0));
  return h('span.side', {}, h('span.dim', {}, title), bar, h('span', {}, figure.withShare(side)));
}

/**
 * A list of bars on one scale; null for an empty one.
 * @param {Model} model @param {string} title @param {Bar[]} bars @param {string} [hint] what it is about
 */
function barList(model, title, bars, hint = '') {
  const sides = sidesShown(model);
  const shown = bars.filter(({ figure }) => sides.some((side) => figure.pair[side]));
  if (!shown.length) return null;
  const most = Math.max(...shown.flatMap(({ figure }) => sides.map((side) => figure.pair[side])));
  const items = shown.map(({ name, figure }) => {
    const difference = sides.length === 2 && h('span.by', {}, figure.difference);
    const lines = sides.map((side) => line(figure, side, model.sides === 1 ? '' : side ? 'head' : 'base', most));
    return h('li', {}, h('span.what', {}, name, difference), ...lines);
  });
  return h('section', {}, h('h3', { title: hint }, title), h('ul.bars', {}, ...items));
}

/** A link to a function, with its whole name and where it is. @param {Func} f @param {(func: number) => void} pick */
function link(f, pick) {
  const title = [f.name, wholePlace(f)].filter(Boolean).join('\n');
  return button('button.link', { title, onclick: () => pick(f.id) }, listName(f.name));
}

/** The sum of figures. @param {Model} model @param {Figure[]} figures */
const sumOf = (model, figures) =>
  figureOf(model, [0, 1].map((side) => figures.reduce((sum, { pair }) => sum + pair[side], 0)));

/**
 * The bars of callers or callees: the greatest, and what is left of the others.
 * @param {Model} model @param {Neighbour[]} list @param {(func: number) => void} pick @returns {Bar[]}
 */
function neighbourBars(model, list, pick) {
  const bars = list.slice(0, MOST_NEIGHBOURS).map(({ func, figure }) => ({
    name: func < 0 ? 'no caller' : link(model.functions[func], pick),
    figure,
  }));
  const rest = list.slice(MOST_NEIGHBOURS);
  const name = `${count(rest.length)} other${rest.length === 1 ? '' : 's'}`;
  return rest.length ? [...bars, { name: h('span.dim', {}, name), figure: sumOf(model, rest.map(({ figure }) => figure)) }] : bars;
}

const CALLERS_HINT = 'what calls the function, in all its places: together its total';
const CALLEES_HINT = 'the time of the function itself, and of what it calls, in all its places: together its total';

/**
 * Who calls a function and what it calls, in all its places.
 * @param {Model} model @param {Func} f @param {(func: number) => void} pick @returns {Child[]}
 */
export function neighbourSections(model, f, pick) {
  const { self, total } = functionFigures(model, f.id);
  const { callers, callees } = neighbourFigures(model, f.id);
  const below = [{ name: h('strong', {}, 'self'), figure: self }, ...neighbourBars(model, callees, pick)];
  const sum = sumOf(model, [self, ...callees.map(({ figure }) => figure)]);
  const twice = figureOf(model, [0, 1].map((side) => sum.pair[side] - total.pair[side]));
  const more = model.sides === 1 ? twice.amount(1) : twice.span;
  const note = !sum.equals(total) && h('p.dim', {}, `${more} of an interpreter's own time is both in self and in what is called.`);
  return [
    barList(model, 'Callers', neighbourBars(model, callers, pick), CALLERS_HINT),
    barList(model, 'Callees', below, CALLEES_HINT),
    note,
  ];
}

/** Which code ran below a frame. @param {Model} model @param {number} node */
export function originSection(model, node) {
  const bars = originFigures(model, node).map(({ name, origin, figure }) => ({
    name: h('span', {}, ORIGIN_COLOURS[origin] ? swatch(ORIGIN_COLOURS[origin]) : null, name),
    figure,
  }));
  const title = model.turned ? 'Of the function, by origin of what ran' : 'Here, by origin of what ran';
  return barList(model, title, bars, 'the time of the innermost frames: the program itself, libraries, the system');
}

/**
 * What a module takes with all it calls, and a switch that leaves its stacks alone.
 * @param {Model} model @param {Func} f @param {() => void} toggle
 */
export function moduleSection(model, f, toggle) {
  if (!f.module || f.isProcess) return null;
  const isOn = model.meant.some(({ filter, module }) => filter.kind === 'module' && module === f.module);
  const name = moduleName(f.module);
  const title = `${isOn ? 'shows all stacks again' : `leaves only stacks through ${name}`} (K)`;
  const only = button('button', { title, 'aria-pressed': isOn, onclick: toggle }, `only stacks through ${name}`);
  return h(
    'section.module',
    {},
    barList(model, `Everything through ${name}`, [{ name: only, figure: moduleFigure(model, f.module) }]),
  );
}
