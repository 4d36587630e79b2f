// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a frame's figures, or of a function's in all its frames. Each verdict stands right below the figures that it
// is about; where others are shown than those that were tested, these stand with it.

import { INTERRUPTS } from '../data/codes.js';
import { h } from '../common/dom.js';
import { interval as intervalText, measureOf } from '../common/format.js';
import { Figure, frameFigures, functionFigures, partOfFrames, testedFigure, testedFrame } from '../model/figures.js';
import { functionWords, verdictWords } from './verdict.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/figures.js').Part} Part */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').Func} Func */

const DIFFERENCE_HINT =
  'the difference, head against base, and in percentage points of the total: from 3 % to 5 % is +2 points';
const OTHER_HINT =
  'how the load of both sides compares can be read in two ways, and the recordings cannot tell which is right: see the top ' +
  'of the page; verdicts are about the figures above';

/** A row of a table of figures. @param {Child} label @param {...Child} values */
function row(label, ...values) {
  return h('tr', {}, h('th', { scope: 'row' }, label), ...values.map((v) => h('td', {}, v)));
}

/** A row across the table. @param {Child[]} children */
const across = (children) => h('tr.about', {}, h('td', { colSpan: 4 }, ...children));

/**
 * A row with base, head and difference.
 * @param {Model} model @param {Child} label @param {Figure} figure
 */
function sideBySide(model, label, figure) {
  if (model.sides === 1) return row(label, figure.amount(1), figure.share(1));
  if (figure.isNothing) return row(label, figure.amount(0), figure.amount(1), '–');
  const both = (/** @type {string} */ large, /** @type {string[]} */ ...small) =>
    h('span', {}, large, ...small.flatMap((text) => [h('br'), h('small', {}, text)]));
  return row(
    label,
    both(figure.amount(0), figure.share(0)),
    both(figure.amount(1), figure.share(1)),
    both(figure.difference, figure.change, figure.ofTotal),
  );
}

/** What was done to the figures of head. @param {Model} model */
function scaleHint({ meta, factor }) {
  if (factor === 1) return 'as measured';
  return `measured, multiplied by ${factor.toPrecision(4)} to compare both sides ${meta.scaleWords}`;
}

/** The titles of the columns. @param {Model} model */
function titles(model) {
  const head = model.factor === 1 ? 'head' : 'head, scaled';
  /** @type {[string, string][]} */
  const list =
    model.sides === 1
      ? [[measureOf(model.shownMetric), ''], ['of total', '']]
      : [['base', ''], [head, scaleHint(model)], ['difference', DIFFERENCE_HINT]];
  const cells = list.map(([text, title]) => h('th', { scope: 'col', title }, text));
  return h('thead', {}, h('tr', {}, h('td'), ...cells));
}

/**
 * The figures that a verdict is about, where others are shown.
 * @param {Figure} shown @param {Figure|null} tested
 */
const testedLine = (shown, tested) =>
  !!tested && !tested.isNothing && !tested.equals(shown) &&
  h('span.dim', {}, ` tested without filters: ${tested.span}, ${tested.differenceWithChange}`);

/** Whether verdicts are told. @param {Model} model @param {Func|undefined} f */
const tellsVerdicts = (model, f) => model.sides === 2 && model.shownMetric.tested && (!f || f.origin < INTERRUPTS);

/** The verdict on a frame, for the row of the part that it is about. @param {Model} model @param {number} node @param {Figure} shown */
function frameVerdict(model, node, shown) {
  const range = model.intervalOf(node);
  const interval = range && `95 % interval of the difference: ${intervalText(range[0], range[1], model.unit)}`;
  const badge = h(`span.badge.${model.stateOf(node)}`, {}, verdictWords(model, node));
  return across([h('p.state', {}, badge, testedLine(shown, testedFrame(model, node))), interval && h('p.dim', {}, interval)]);
}

/**
 * The verdict on a part of a function in all its places.
 * @param {Model} model @param {Func} f @param {Part} part @param {Figure} shown
 */
function functionVerdict(model, f, part, shown) {
  const e = f[part];
  const tested = testedFigure(model, f.id, part);
  if (!e || (tested.isNothing && shown.isNothing)) return null;
  // A verdict is about what was tested, and under filters that leave a part of it there is none.
  const state = model.isPart && !tested.equals(shown) ? 'untested' : e.state;
  const words = functionWords({ e: { ...e, state }, own: part === 'self' }, measureOf(model.shownMetric));
  return across([h('p.state', {}, h(`span.badge.${state}`, {}, words), testedLine(shown, tested))]);
}

/** What a total is when the load is read in the other way, where two ways disagree. @param {Model} model @param {Figure} total */
function otherReading(model, total) {
  const { pair: [base, head], scale } = total;
  const { meta, factor } = model;
  if (!meta.otherFactor || !(factor > 0)) return null;
  const other = new Figure([base, (head / factor) * meta.otherFactor], scale);
  if (other.equals(total)) return null;
  const label = h('span.reading', { title: OTHER_HINT }, `if compared ${meta.otherWords}`);
  const line = row(label, other.amount(0), other.amount(1), h('span', {}, other.difference, h('br'), h('small', {}, other.change)));
  line.className = 'dim';
  return line;
}

/** Whether a function has the same figures in all its places as a frame has here. @param {Model} model @param {number} node */
export function isOnlyHere(model, node) {
  const func = model.tree.func[node];
  const [here, all] = [frameFigures(model, node), functionFigures(model, func)];
  return here.total.equals(all.total) && here.self.equals(all.self);
}

/**
 * The figures of a frame, each with its verdict.
 * @param {Model} model @param {number} node
 */
export function frameTable(model, node) {
  const { total, self, interrupts } = frameFigures(model, node);
  const f = model.functions[model.tree.func[node]];
  const tells = tellsVerdicts(model, f) && node > 0;
  const about = partOfFrames(model);
  const verdict = tells && frameVerdict(model, node, about === 'self' ? self : total);
  const own = tells && about !== 'self' && isOnlyHere(model, node) && functionVerdict(model, f, 'self', self);
  const rows = [
    sideBySide(model, 'total', total),
    about === 'total' && verdict,
    otherReading(model, total),
    sideBySide(model, 'self', self),
    about === 'self' && verdict,
    own,
    interrupts.pair.some((value) => value > 0) && sideBySide(model, 'interrupts', interrupts),
  ];
  return h('table.figures', {}, titles(model), h('tbody', {}, ...rows));
}

/** The figures of a function in all its places, each with its verdict. @param {Model} model @param {Func} f */
export function functionTable(model, f) {
  const { total, self } = functionFigures(model, f.id);
  const tells = tellsVerdicts(model, f) && !f.isProcess;
  const rows = [
    sideBySide(model, 'total', total),
    tells && functionVerdict(model, f, 'total', total),
    sideBySide(model, 'self', self),
    tells && functionVerdict(model, f, 'self', self),
  ];
  return h('table.figures', {}, h('tbody', {}, ...rows));
}
