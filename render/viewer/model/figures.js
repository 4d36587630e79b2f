// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of the page and their words: base and head of a frame, of a function, of what calls it and what it calls,
// of a module and of everything, in the metric that is shown and under the filters; and beside them those that were
// tested. Every view takes its figures from here, so that a thing has the same one wherever the page names it.

import { sourceOf } from './bottleneck.js';
import { INTERRUPT, INTERRUPTS, LISTED_ORIGINS, ORIGINS } from '../data/codes.js';
import { amount, change, percent, pointsText, signedAmount } from '../common/format.js';
import { originsOf } from '../data/symbols.js';
import { covered, sumOf } from './sums.js';
import { sameValue } from '../data/tree.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('../data/report.js').LedgerRow} LedgerRow */
/** @typedef {import('../data/report.js').Meta} Meta */
/** @typedef {import('../data/tree.js').Tree} Tree */

/** What figures are in, and what shares are parts of: everything on [base, head]. @typedef {{unit: string, totals: number[]}} Scale */

/** A part of the time of something: what it takes itself, or with all it calls. @typedef {'self'|'total'} Part */

/** Base and head of one thing, head scaled. A report of one recording has head alone. */
export class Figure {
  /** @param {number[]} pair [base, head] @param {Scale} scale */
  constructor(pair, scale) {
    this.pair = pair;
    this.scale = scale;
  }

  get delta() {
    return this.pair[1] - this.pair[0];
  }

  /** Whether neither side has any. */
  get isNothing() {
    return !this.pair[0] && !this.pair[1];
  }

  /** The difference in points of the total: of the greater side's, so that a change of everything is 100 at most. */
  get points() {
    return (100 * this.delta) / (Math.max(...this.scale.totals) || 1);
  }

  /** As '1.23 s'. @param {number} side */
  amount(side) {
    return amount(this.pair[side], this.scale.unit);
  }

  /** The part of everything on that side, as '6.99 %'. @param {number} side */
  share(side) {
    return percent(this.pair[side], this.scale.totals[side]);
  }

  /** As '1.23 s 6.99 %'. @param {number} side */
  withShare(side) {
    return `${this.amount(side)} ${this.share(side)}`;
  }

  /** As '1.23 s → 2.23 s'. */
  get span() {
    return `${this.amount(0)} → ${this.amount(1)}`;
  }

  /** As '+1.00 s'. */
  get difference() {
    return signedAmount(this.delta, this.scale.unit);
  }

  /** Head against base, as '+81.3 %' or '2.25×'; of what base lacks there is none. */
  get change() {
    const [base, head] = this.pair;
    return base ? change(base, head) : head ? 'none in base' : '–';
  }

  /** As '+1.00 s +81.3 %'. */
  get differenceWithChange() {
    return `${this.difference} ${this.change}`;
  }

  /** As '+5.59 points of total'. */
  get ofTotal() {
    return pointsText(this.points);
  }

  /** Whether both sides are the same but for rounding. @param {Figure} other */
  equals({ pair }) {
    return this.pair.every((value, side) => sameValue(value, pair[side]));
  }
}

/** What figures of what is shown are in. @param {Model} model @returns {Scale} */
const scaleOf = (model) => ({ unit: model.unit, totals: model.totals() });

/** Whether the figures that were tested are those that are shown. @param {Model} model */
export const showsTested = ({ filtered, shownMetric }) => !filtered && shownMetric.tested;

/** What tested figures are in. @param {Model} model @returns {Scale} */
const testedScale = (model) =>
  showsTested(model) ? scaleOf(model) : { unit: model.meta.unit, totals: model.tested.totals() };

/** Everything that is shown. @param {Model} model */
export const wholeFigure = (model) => new Figure(model.totals(), scaleOf(model));

/** A share of what is shown. @param {Model} model @param {number[]} pair [base, head], head scaled */
export const figureOf = (model, pair) => new Figure(pair, scaleOf(model));

/** A pair as it was measured, with head scaled. @param {Model} model @param {ArrayLike<number>} pair */
const scaled = ({ factor }, pair) => [pair[0], pair[1] * factor];

/**
 * A part of something else than all that is shown, of which its shares are.
 * @param {number[]} pair [base, head] @param {number[]} whole as the pair: both scaled, or both as measured @param {string} unit
 */
export const partOf = (pair, whole, unit) => new Figure(pair, { unit, totals: whole });

/** The same of figures as they were measured. @param {Model} model @param {number[]} pair @param {number[]} whole */
export const measuredPart = (model, pair, whole) => partOf(scaled(model, pair), scaled(model, whole), model.unit);

/**
 * A part of the side that is drawn; the other side has nothing.
 * @param {Model} model @param {number} value @param {number} whole
 */
export function partOfSide({ side, unit }, value, whole) {
  const pair = (/** @type {number} */ of) => (side ? [0, of] : [of, 0]);
  return partOf(pair(value), pair(whole), unit);
}

/** Parts of their sum, by number. @param {Model} model @param {ArrayLike<number>[]} sides [base, head] as measured @returns {Figure[]} */
export function partFigures(model, [base, head]) {
  const whole = [sumOf(base), sumOf(head)];
  return Array.from(base, (value, i) => measuredPart(model, [value, head[i]], whole));
}

/** What was hidden with the frames of the system, of all that was there before. @param {Model} model */
export const hiddenFigure = (model) => measuredPart(model, model.hidden, model.shownBefore);

/** A row of the table of origins, as it was tested. @param {Meta} meta @param {LedgerRow} row */
export const ledgerFigure = ({ total, unit }, { base, head }) => partOf([base, head], [total.base, total.head], unit);

/**
 * A frame in its place; its interrupts are in neither of the others.
 * @param {Model} model @param {number} node @returns {{total: Figure, self: Figure, interrupts: Figure}}
 */
export function frameFigures(model, node) {
  const scale = scaleOf(model);
  const total = new Figure(model.valueOf(node), scale);
  const self = new Figure(model.selfOf(node), scale);
  return { total, self, interrupts: new Figure(model.interruptsOf(node), scale) };
}

/** A function in all its places; a recursion counts once. @param {Model} model @param {number} func */
export function functionFigures(model, func) {
  const scale = scaleOf(model);
  const { self, total } = model.sums;
  const of = (/** @type {Float64Array[]} */ [base, head]) => new Figure([base[func], head[func] * model.factor], scale);
  return { total: of(total), self: of(self) };
}

/**
 * What was tested of a function: the same as what is shown of it where nothing is filtered.
 * @param {Model} model @param {number} func @param {Part} part
 */
export function testedFigure(model, func, part) {
  const [base, head] = (showsTested(model) ? model.sums : model.tested.sums)[part];
  return new Figure([base[func], head[func] * model.factor], testedScale(model));
}

/**
 * A proven change: as it is shown where the tested metric is shown, else as it was tested.
 * @param {Model} model @param {{f: {id: number}, own: boolean}} change
 */
export function changeFigure(model, { f, own }) {
  const part = own ? 'self' : 'total';
  return model.shownMetric.tested ? functionFigures(model, f.id)[part] : testedFigure(model, f.id, part);
}

/**
 * What was tested of a frame; null where it is no frame of the report.
 * @param {Model} model @param {number} node
 */
export function testedFrame(model, node) {
  const { turned, tested, tree } = model;
  const func = tree.func[node];
  // Of a tree of callers, the functions right below the root were tested.
  if (turned && !turned.around) return tree.parent[node] === 0 ? testedFigure(model, func, 'self') : null;
  const source = sourceOf(model, node);
  if (source < 0) return isOnce(tested.tree, func) ? testedFigure(model, func, 'total') : null;
  const [base, head] = tested.tree.figures;
  return new Figure([base[source], head[source] * model.factor], testedScale(model));
}

/** Whether a function has one frame in a tree, which is the one of every tree that is made from it. @param {Tree} tree @param {number} func */
const isOnce = ({ func: funcs }, func) => func >= 0 && funcs.indexOf(func) === funcs.lastIndexOf(func);

/** What the verdict on a frame is about. @param {Model} model @returns {Part} */
export const partOfFrames = ({ turned }) => (turned && !turned.around ? 'self' : 'total');

/** The sides that the view shows. @param {Model} model @returns {number[]} */
export const sidesShown = ({ sides, view }) => (sides === 1 || view === 'head' ? [1] : view === 'base' ? [0] : [0, 1]);

/** A caller or a callee of a function, with the time that it has with it. @typedef {{func: number, figure: Figure}} Neighbour */

/**
 * The time of a function by its caller, and by what it calls. Each stack counts once: for the caller of the function's
 * outermost frame, and for what its innermost frame calls. So callers add up to its total, and so do callees with
 * its own time. Callers that are no function, as at the root, have -1.
 * @param {Model} model @param {number} func @returns {{callers: Neighbour[], callees: Neighbour[]}} the greatest first
 */
export function neighbourFigures(model, func) {
  const tree = model.callTree;
  const callers = new Sums(model);
  const callees = new Sums(model);
  /** @type {number[]} the frames of the function that are open */ const open = [];
  for (const node of model.framesOf(func)) {
    while (open.length && node >= tree.end[open[open.length - 1]]) open.pop();
    if (!open.length) callers.add(tree.func[tree.parent[node]], node, 1);
    else callees.add(tree.func[childTowards(tree, open[open.length - 1], node)], node, -1);
    for (let child = tree.first(node); child >= 0; child = tree.next(child))
      if (!(tree.flags[child] & INTERRUPT) || tree.flags[node] & INTERRUPT) callees.add(tree.func[child], child, 1);
    open.push(node);
  }
  return { callers: callers.sorted(), callees: callees.sorted() };
}

/** The child of a node whose subtree has a frame. @param {Tree} tree @param {number} node @param {number} inner */
function childTowards(tree, node, inner) {
  let at = inner;
  while (tree.parent[at] !== node) at = tree.parent[at];
  return at;
}

/** Figures [base, head] of nodes of the call tree by function. */
class Sums {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Map<number, number[]>} */ this.sums = new Map();
  }

  /** @param {number} func @param {number} node @param {1|-1} sign */
  add(func, node, sign) {
    const { factor, callTree } = this.model;
    const [base, head] = callTree.figures;
    const sum = this.sums.get(func) || [0, 0];
    sum[0] += sign * base[node];
    sum[1] += sign * head[node] * factor;
    this.sums.set(func, sum);
  }

  /** @returns {Neighbour[]} those that have some, the greatest first */
  sorted() {
    const scale = scaleOf(this.model);
    // What is left of differences of equal values is rounding.
    const least = Math.max(...scale.totals) * 1e-9;
    return [...this.sums]
      .map(([func, pair]) => ({ func, figure: new Figure(pair.map((value) => (value > least ? value : 0)), scale) }))
      .filter(({ figure }) => !figure.isNothing)
      .sort((a, b) => Math.max(...b.figure.pair) - Math.max(...a.figure.pair));
  }
}

/** The time of all stacks with a function of a module. @param {Model} model @param {string} module */
export function moduleFigure(model, module) {
  const hits = Uint8Array.from(model.functions, (f) => (f.module === module ? 1 : 0));
  const [base, head] = covered(model.callTree, hits, null, null).sum;
  return figureOf(model, [base, head * model.factor]);
}

/** The place of time that belongs to no frame in a list by origin. */
const NO_FRAME = ORIGINS.length;

/**
 * The time below a frame, and its own, by the origin of the code that ran: of the function where a turned tree is drawn.
 * @param {Model} model @param {number} node @returns {{name: string, origin: number, figure: Figure}[]} those that have some
 */
export function originFigures(model, node) {
  const { callTree, factor, functions } = model;
  const origins = originsOf(functions);
  const sums = [...ORIGINS, ''].map(() => [0, 0]);
  const [base, head] = callTree.self;
  for (const top of model.placesOf(node))
    for (let i = top; i < callTree.end[top]; i++) {
      const sum = sums[i ? origins[callTree.func[i]] : NO_FRAME];
      sum[0] += base[i];
      sum[1] += head[i] * factor;
    }
  const all = [...LISTED_ORIGINS, NO_FRAME]
    .map((origin) => ({ name: ORIGINS[origin] || 'no frame', origin, figure: figureOf(model, sums[origin]) }))
    .filter(({ origin }) => origin < INTERRUPTS || origin === NO_FRAME);
  // What an interpreter's frame takes itself is time of the function that it runs, which is further out.
  const func = model.tree.func[node];
  if (func >= 0 && model.isOwned(functions[func])) {
    const rest = [0, 1].map((side) => {
      const inOrigins = all.reduce((sum, { figure }) => sum + figure.pair[side], 0);
      const total = model.turned ? functionFigures(model, func).total : frameFigures(model, node).total;
      return Math.max(0, total.pair[side] - inOrigins);
    });
    all.push({ name: 'the interpreter itself', origin: NO_FRAME, figure: figureOf(model, rest) });
  }
  return all.filter(({ figure }) => !figure.isNothing);
}
