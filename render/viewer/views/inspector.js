// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is known of one frame.

import { causeOf } from '../model/bottleneck.js';
import { bottleneckSection } from './bottleneckviews.js';
import { INLINED, INTERRUPTS, ORIGINS } from '../data/codes.js';
import { ORIGIN_COLOURS } from '../drawing/colour.js';
import { h } from '../common/dom.js';
import { count, interval as intervalText, listName, measureOf, pasted, plainStrings } from '../common/format.js';
import { changeFigure, Figure, figureOf, frameFigures, functionFigures, neighbourFigures, sidesShown } from '../model/figures.js';
import { PROVEN } from '../data/symbols.js';
import { functionBesideFrame, besideWords, partText, verdictWords, wholeWords } from './verdict.js';
import { changeHint, changeTitle, waitLine } from './changes.js';
import { wholePlace } from './places.js';
import { waitSection } from './waitviews.js';
import { button, swatch } from '../common/widgets.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/figures.js').Neighbour} Neighbour */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */
/** @typedef {import('../data/symbols.js').Func} Func */

/** How many callers and callees are listed. */
const MOST_NEIGHBOURS = 6;
/** How many changes of a direction are listed. */
const MOST_CHANGES = 8;
/** What is known of the machine code of a function, by number. */
const CODE_WORDS = ['', 'identical machine code', 'code changed'];
const SAME_CODE = 1;

/** A row of a table of figures. @param {string} label @param {...Child} values */
function row(label, ...values) {
  return h('tr', {}, h('th', { scope: 'row' }, label), ...values.map((v) => h('td', {}, v)));
}

/**
 * A row with base, head and difference.
 * @param {Model} model @param {string} label @param {Figure} figure
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

/** The whole name of a function that is listed in short, and where it is. @param {Func} f */
function neighbourHint(f) {
  const where = wholePlace(f);
  return where ? `${f.name}\n${where}` : f.name;
}

/** The shares of a neighbour on the sides that the view shows. @param {Model} model @param {Figure} figure */
function sharesText(model, figure) {
  const shares = sidesShown(model).map((side) => figure.share(side));
  return shares.length === 1 ? shares[0] : `${shares.join(' → ')}  ${figure.difference}`;
}

/**
 * A list of callers or callees.
 * @param {Model} model @param {string} title @param {Neighbour[]} list @param {(func: number) => void} pick
 * @param {number} [most] how many are listed
 */
function neighbourList(model, title, list, pick, most = MOST_NEIGHBOURS) {
  const shown = list.filter(({ func, figure }) => func >= 0 && sidesShown(model).some((side) => figure.pair[side] > 0));
  if (!shown.length) return null;
  const items = shown.slice(0, most).map(({ func, figure }) => {
    const f = model.functions[func];
    const link = button('button.link', { title: neighbourHint(f), onclick: () => pick(func) }, listName(f.name));
    return h('li', {}, link, h('span', {}, sharesText(model, figure)));
  });
  return h('section', {}, h('h3', {}, title), h('ul.neighbours', {}, ...items));
}

/** The figures of a frame as columns of a text. @param {Model} model @param {number} node */
function stackFigures(model, node) {
  const total = figureOf(model, model.valueOf(node));
  return model.sides === 1 ? [total.amount(1), total.share(1)] : [total.amount(0), total.amount(1), total.difference];
}

/**
 * The stack of a node as text, root first: a line for each frame, with its figures in columns, its name, and where it is.
 * @param {Model} model @param {number} node
 */
export function stackText(model, node) {
  const titles = model.sides === 1 ? [measureOf(model.shownMetric), 'of total'] : ['base', 'head', 'difference'];
  const lines = [[...titles, 'function']];
  for (let at = node; at > 0; at = model.tree.parent[at]) {
    const where = wholePlace(model.functions[model.tree.func[at]]);
    const name = pasted(plainStrings(model.nameOf(at)));
    lines.splice(1, 0, [...stackFigures(model, at), where ? `${name} (${pasted(where)})` : name]);
  }
  const widths = titles.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines.map((line) => line.map((text, i) => text.padStart(widths[i] || 0)).join('  ')).join('\n');
}

/**
 * A proven change in a line.
 * @param {Model} model @param {FunctionChange} change @param {(func: number) => void} pick
 */
function changeItem(model, change, pick) {
  const { f, e, own } = change;
  const figure = changeFigure(model, { f, own });
  const figures =
    e.state === 'new'
      ? figure.amount(1)
      : e.state === 'gone'
        ? figure.amount(0)
        : `${figure.difference}, ${figure.change}`;
  const cause = own ? causeOf(model, f.id) : '';
  return h(
    'li',
    {},
    button('button.link', { title: changeHint(model, change), onclick: () => pick(f.id) }, changeTitle(model, change)),
    h('span', {}, h(`span.s-${e.state}`, {}, `${e.state} ${partText(own)}`), ` ${figures}${cause && `: ${cause}`}`),
    waitLine(model, change),
  );
}

/** Why frames are coloured although no function is proven to have changed. @param {Model} model */
function placesLine(model) {
  const places = [...PROVEN].reduce((sum, state) => sum + model.verdicts.placesWith(state), 0);
  const are = places === 1 ? '1 place in the call tree is' : `${count(places)} places in the call tree are`;
  const why = 'the noise of a function in its other places can hide a change';
  return places > 0 && h('p.dim', {}, `But ${are}, and coloured: ${why}.`);
}

/** The proven changes. @param {Model} model @param {(func: number) => void} pick */
function changeList(model, pick) {
  const changed = model.shownChanges();
  const start = model.isNarrowed ? 'Of what is shown, no' : 'No';
  const cut = model.isPart ? model.provenChanges().length - changed.length : 0;
  const others = cut === 1 ? '1 other is' : `${count(cut)} others are`;
  const left = cut > 0 && h('p.dim', {}, `${others} proven for the whole: the filters leave only a part of them.`);
  if (!changed.length)
    return h('div', {}, h('p.dim', {}, `${start} function is proven to have changed.`), placesLine(model), left);
  const list = (/** @type {string} */ title, /** @type {FunctionChange[]} */ changes) => {
    if (!changes.length) return [];
    const items = changes.slice(0, MOST_CHANGES).map((change) => changeItem(model, change, pick));
    const more = changes.length - items.length;
    const rest = more > 0 && h('p.dim', {}, `and ${more} more in the function list`);
    return [h('h3', {}, `${title} (${changes.length})`), h('ul.changes', {}, ...items), rest];
  };
  const counted = changed.filter(({ isOfOthers }) => !isOfOthers);
  const increases = counted.filter(({ e }) => e.delta > 0);
  const decreases = counted.filter(({ e }) => e.delta <= 0);
  const sums = changed.filter(({ isOfOthers }) => isOfOthers);
  const lists = [list('Proven increases', increases), list('Proven decreases', decreases), list('Sums of these', sums)];
  return h('div', {}, ...lists.flat(), left);
}

/** The functions with the most own time. @param {Model} model @param {(func: number) => void} pick */
function busiestList(model, pick) {
  const self = model.sums.self[1];
  const busiest = model.functions.filter((f) => self[f.id] > 0 && !model.isInterrupt(f.id));
  if (!busiest.length) return null;
  busiest.sort((a, b) => self[b.id] - self[a.id]);
  const list = busiest.slice(0, MOST_CHANGES).map((f) => ({ func: f.id, figure: functionFigures(model, f.id).self }));
  const title = `Most ${measureOf(model.shownMetric)} in the function itself`;
  return neighbourList(model, title, list, pick, MOST_CHANGES);
}

const HINT =
  'Point at a frame to see it here; click to keep it here, double-click to zoom. ' +
  'A right click filters: only its stacks, without them, only its module.';

/**
 * What the inspector shows while no frame is selected: the changes to look at first, or the functions.
 * @param {Model} model @param {(func: number) => void} pick
 */
export function overview(model, pick) {
  const hint = h('p.hint', {}, HINT);
  if (model.sides === 1) return h('div', {}, busiestList(model, pick), hint);
  const proven = wholeWords(model);
  const filtered = !!proven && h('p.dim', {}, proven);
  return h('div', {}, filtered, changeList(model, pick), hint);
}

/**
 * What the buttons of the inspector do.
 * @typedef {object} Actions
 * @property {(func: number) => void} pick chooses a function
 * @property {(func: number, which: 'callers'|'callees'|'both') => void} around shows what is around a function
 * @property {(text: string, what: string) => void} copy copies a text to the clipboard
 * @property {(node: number) => void} zoom
 */

const DIFFERENCE_HINT =
  'the difference, head against base, and in percentage points of the total: from 3 % to 5 % is +2 points';
const OTHER_HINT = 'the recordings cannot tell which of the two is right: see the top of the page';

/** What was done to the figures of head. @param {Model} model */
function scaleHint({ meta, factor }) {
  if (factor === 1) return 'as measured';
  return `measured, multiplied by ${factor.toPrecision(4)} to compare both sides ${meta.scaleWords}`;
}

/**
 * What a total is when the load is read in the other way, where two ways disagree.
 * @param {Model} model @param {Figure} total
 */
function otherReading({ meta, factor }, { pair: [base, head], scale }) {
  if (!meta.otherFactor || !(factor > 0)) return null;
  const other = new Figure([base, (head / factor) * meta.otherFactor], scale);
  return h('p.dim.reading', { title: OTHER_HINT }, `Compared ${meta.otherWords}: ${other.span}, ${other.change}`);
}

/**
 * A table of the time of a frame, or of a function in all its frames.
 * @param {Model} model @param {{total: Figure, self: Figure, interrupts?: Figure}} figures @param {boolean} titled
 */
function figureTable(model, { total, self, interrupts }, titled) {
  const scaled = model.factor === 1 ? 'head' : 'head, scaled';
  const titles = model.sides === 1 ? [measureOf(model.shownMetric), 'of total'] : ['base', scaled, 'difference'];
  const hints = model.sides === 1 ? ['', ''] : ['', scaleHint(model), DIFFERENCE_HINT];
  const cells = titles.map((text, i) => h('th', { scope: 'col', title: hints[i] }, text));
  const head = h('thead', {}, h('tr', {}, h('th'), ...cells));
  const rows = [sideBySide(model, 'total', total), sideBySide(model, 'self', self)];
  if (interrupts?.pair.some((value) => value > 0)) rows.push(sideBySide(model, 'interrupts', interrupts));
  const body = h('tbody', {}, ...rows);
  return h('table', {}, titled && head, body);
}

/** Where a function comes from. @param {Model} model @param {Func} f @param {number} node */
function provenance(model, f, node) {
  if (f.isProcess) return [h('p.where', {}, 'a process: all its threads and runs')];
  const inlined = model.tree.flags[node] & INLINED ? ' · inlined' : '';
  const rule = f.origin >= INTERRUPTS ? besideWords(f) : model.meta.ruleTexts[f.rule] || 'no rule recorded';
  return [
    h('p.where', {}, wholePlace(f) || 'no file known'),
    h(
      'p.origin',
      {},
      swatch(ORIGIN_COLOURS[f.origin]),
      `${ORIGINS[f.origin]} – ${rule}`,
      h('span.dim', {}, ` · named by ${model.meta.nameSources[f.source]}${inlined}`),
      model.isOwned(f) && h('span.dim', {}, ' · its own time counts as that of the function it runs'),
    ),
  ];
}

/** What is proven of a frame. @param {Model} model @param {Func} f @param {number} node @returns {Child[]} */
function verdictOf(model, f, node) {
  if (!model.shownMetric.tested)
    return [h('p.dim', {}, `Only ${model.testedWords} was tested, so ${model.shownMetric.words} has no verdicts.`)];
  if (f.origin >= INTERRUPTS) return [];
  const { unit } = model;
  const state = model.stateOf(node);
  const range = model.intervalOf(node);
  const other = model.functions[f.movedTo];
  const placed = f.code === SAME_CODE && (state === 'more' || state === 'less');
  const placement = placed ? `; ${model.meta.sameCodeWords}` : '';
  return [
    h(
      'p.state',
      {},
      h(`span.badge.${state}`, {}, verdictWords(model, node)),
      !!CODE_WORDS[f.code] && h('span.dim', {}, ` ${CODE_WORDS[f.code]}${placement}`),
    ),
    other && h('p.dim', {}, 'Its name on the other side is ', h('bdi', {}, other.name), '.'),
    range && h('p.dim', {}, `95 % interval of the difference: ${intervalText(range[0], range[1], unit)}`),
  ];
}

/** The buttons for a frame. @param {Model} model @param {number} node @param {Actions} actions */
function buttons(model, node, actions) {
  const func = model.tree.func[node];
  const action = (/** @type {string} */ text, /** @type {() => void} */ onclick, title = '') =>
    button('button', { onclick, title }, text);
  return h(
    'p.actions',
    {},
    action('Zoom', () => actions.zoom(node), 'Enter'),
    action('Callers and callees', () => actions.around(func, 'both'), 'callers above, callees below (x)'),
    action('All callers', () => actions.around(func, 'callers')),
    action('All callees', () => actions.around(func, 'callees')),
    action('Copy name', () => actions.copy(pasted(model.nameOf(node)), 'name')),
    action('Copy stack', () => actions.copy(stackText(model, node), 'stack'), 'c'),
  );
}

/** Where else a function is called. @param {number} count of its places */
const everywhere = (count) => `This function, ${count === 1 ? 'only here' : `in ${count} places`}`;

/**
 * What the inspector shows of a frame.
 * @param {Model} model @param {number} node @param {boolean} pinned whether the frame is selected
 * @param {Actions} actions
 */
export function inspect(model, node, pinned, actions) {
  const func = model.tree.func[node];
  const figures = frameFigures(model, node);
  const table = figureTable(model, figures, true);
  const waits = pinned && waitSection(model, node, actions.pick);
  if (func < 0) return h('div', {}, h('h2', {}, 'all'), table, waits);
  const f = model.functions[func];
  const { callers, callees } = pinned ? neighbourFigures(model, func) : { callers: [], callees: [] };
  const places = model.framesOf(func).length;
  const beside = functionBesideFrame(model, node, places);
  return h(
    'div',
    {},
    h('h2', { title: f.name }, plainStrings(f.name)),
    ...provenance(model, f, node),
    ...(model.sides === 2 ? verdictOf(model, f, node) : []),
    table,
    otherReading(model, figures.total),
    bottleneckSection(model, node),
    waits,
    h(
      'section',
      {},
      h('h3', {}, f.isProcess ? 'In all' : everywhere(places)),
      !!beside && h('p.beside', {}, beside),
      figureTable(model, functionFigures(model, func), false),
    ),
    neighbourList(model, 'Callers', callers, actions.pick),
    neighbourList(model, 'Callees', callees, actions.pick),
    pinned && buttons(model, node, actions),
  );
}
