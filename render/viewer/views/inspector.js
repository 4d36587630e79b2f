// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is known of one frame.

import { causeOf } from '../model/bottleneck.js';
import { bottleneckSection } from './bottleneckviews.js';
import { INLINED, INTERRUPTS, ORIGINS } from '../data/codes.js';
import { ORIGIN_COLOURS } from '../drawing/colour.js';
import { breakable, h } from '../common/dom.js';
import { count, listName, measureOf, namePieces, pasted } from '../common/format.js';
import { changeFigure, frameFigures, functionFigures } from '../model/figures.js';
import { framesIn, rowWords } from '../model/trunks.js';
import { PROVEN } from '../data/symbols.js';
import { moduleSection, neighbourSections, originSection } from './bars.js';
import { frameTable, functionTable, isOnlyHere } from './figuretable.js';
import { functionBesideFrame, besideWords, partText, wholeWords } from './verdict.js';
import { changeHint, changeTitle, waitLine } from './changes.js';
import { wholePlace } from './places.js';
import { waitSection } from './waitviews.js';
import { memberSection } from './members.js';
import { button, swatch } from '../common/widgets.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */
/** @typedef {import('../data/symbols.js').Func} Func */

/** How many changes of a direction are listed. */
const MOST_CHANGES = 8;
/** How many of those are listed that other changes say all of. */
const MOST_EXPLAINED = 3;
/** How many frames of a row are listed. */
const MOST_FRAMES = 100;
/** What is known of the machine code of a function, by number. */
const CODE_WORDS = ['', 'identical machine code', 'code changed'];
const SAME_CODE = 1;

/** The figures of a frame as columns of a text. @param {Model} model @param {number} node */
function stackFigures(model, node) {
  const { total } = frameFigures(model, node);
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
    const name = pasted(model.nameOf(at));
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
  const list = (/** @type {string} */ title, /** @type {FunctionChange[]} */ changes, most = MOST_CHANGES) => {
    if (!changes.length) return [];
    const items = changes.slice(0, most).map((change) => changeItem(model, change, pick));
    const more = changes.length - items.length;
    const rest = more > 0 && h('p.dim', {}, `and ${more} more in the function list`);
    return [h('h3', {}, `${title} (${changes.length})`), h('ul.changes', {}, ...items), rest];
  };
  const counted = changed.filter(({ isOfOthers }) => !isOfOthers);
  const increases = counted.filter(({ e }) => e.delta > 0);
  const decreases = counted.filter(({ e }) => e.delta <= 0);
  const explained = list('Explained by these', changed.filter(({ isOfOthers }) => isOfOthers), MOST_EXPLAINED);
  const lists = [...list('Proven increases', increases), ...list('Proven decreases', decreases)];
  return h('div', {}, ...lists, ...explained, left);
}

/** The functions with the most own time. @param {Model} model @param {(func: number) => void} pick */
function busiestList(model, pick) {
  const self = model.sums.self[1];
  const busiest = model.functions.filter((f) => self[f.id] > 0 && !model.isInterrupt(f.id));
  if (!busiest.length) return null;
  busiest.sort((a, b) => self[b.id] - self[a.id]);
  const items = busiest.slice(0, MOST_CHANGES).map((f) => {
    const link = button('button.link', { title: f.name, onclick: () => pick(f.id) }, listName(f.name));
    return h('li', {}, link, h('span', {}, functionFigures(model, f.id).self.withShare(1)));
  });
  const title = `Most ${measureOf(model.shownMetric)} in the function itself`;
  return h('section', {}, h('h3', {}, title), h('ul.neighbours', {}, ...items));
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
  const other = !model.shownMetric.tested && h('p.dim', {}, `In ${model.testedWords}, which alone was tested:`);
  return h('div', {}, filtered, other, changeList(model, pick), hint);
}

/**
 * What the buttons of the inspector do.
 * @typedef {object} Actions
 * @property {(func: number) => void} pick chooses a function
 * @property {(func: number, which: 'callers'|'callees'|'both') => void} around shows what is around a function
 * @property {(func: number, line?: string) => void} lines shows the lines of a function
 * @property {(text: string, what: string) => void} copy copies a text to the clipboard
 * @property {(node: number) => void} zoom
 * @property {(kind: import('../model/filters.js').Kind, func: number) => void} filter adds a filter by a function, or takes it away
 * @property {(node: number) => void} select selects a frame
 * @property {() => void} unfold gives each frame a row of its own
 */

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

/**
 * The line whose time changed most, which leads to it where the page has lines.
 * @param {Model} model @param {Func} f @param {Actions['lines']} lines
 */
function changedLine({ meta }, f, lines) {
  const words = `line ${f.changedLine}`;
  return meta.hasLines ? button('button.link', { title: 'shows it (l)', onclick: () => lines(f.id, `h${f.changedLine}`) }, words) : words;
}

/**
 * What is known of the code of a function on both sides.
 * @param {Model} model @param {Func} f @param {number} node @param {Actions} actions @returns {Child[]}
 */
function codeOf(model, f, node, { lines }) {
  if (!model.shownMetric.tested)
    return [h('p.dim', {}, `Only ${model.testedWords} was tested, so ${model.shownMetric.words} has no verdicts.`)];
  if (f.origin >= INTERRUPTS) return [];
  const state = model.stateOf(node);
  const other = model.functions[f.movedTo];
  const placed = f.code === SAME_CODE && (state === 'more' || state === 'less');
  const placement = placed ? `; ${model.meta.sameCodeWords}` : '';
  return [
    !!f.changedLine && h('p.dim', {}, 'Its own time changed most in ', changedLine(model, f, lines), '.'),
    !!CODE_WORDS[f.code] && h('p.dim', {}, `${CODE_WORDS[f.code]}${placement}`),
    other && h('p.dim', {}, 'Its name on the other side is ', h('bdi', {}, other.name), '.'),
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
    !!model.meta.hasLines && action('Lines', () => actions.lines(func), 'each line with its time, before and after (l)'),
    action('Callers and callees', () => actions.around(func, 'both'), 'callers above, callees below (x)'),
    action('All callers', () => actions.around(func, 'callers')),
    action('All callees', () => actions.around(func, 'callees')),
    action('Copy name', () => actions.copy(pasted(model.nameOf(node)), 'name')),
    action('Copy stack', () => actions.copy(stackText(model, node), 'stack'), 'c'),
  );
}

/**
 * The frames that are drawn in one row with a frame.
 * @param {Model} model @param {number} node @param {Actions} actions
 */
function trunkSection(model, node, { select, unfold }) {
  const frames = framesIn(model.tree, node);
  if (frames.length === 1) return null;
  const link = (/** @type {number} */ frame) =>
    button('button.link', { title: model.nameOf(frame), onclick: () => select(frame) }, listName(model.nameOf(frame)));
  const item = (/** @type {number} */ frame) => h('li', {}, frame === node ? h('strong', {}, listName(model.nameOf(frame))) : link(frame));
  return h(
    'section.trunk',
    {},
    h('h3', {}, `${count(frames.length)} frames in this row`),
    h('p.dim', {}, `The figures above are those of ${rowWords(model.tree, node)}, each of which has nearly all the time.`),
    h('ul.neighbours', {}, ...frames.slice(0, MOST_FRAMES).map(item)),
    frames.length > MOST_FRAMES && h('p.dim', {}, `and ${count(frames.length - MOST_FRAMES)} more below these`),
    h('p.actions', {}, button('button', { onclick: unfold, title: 'each frame in its own row, on the whole page (g)' }, 'Unfold')),
  );
}

/**
 * The function of a frame in all its places.
 * @param {Model} model @param {Func} f @param {number} node
 */
function everywhere(model, f, node) {
  const places = model.framesOf(f.id).length;
  const title = f.isProcess ? 'In all' : `This function, ${places === 1 ? 'only here' : `in ${places} places`}`;
  const beside = functionBesideFrame(model, node, places);
  // The figures of the only place stand above.
  const table = !isOnlyHere(model, node) && functionTable(model, f);
  if (!beside && !table) return h('p.dim', {}, `${title}.`);
  return h('section', {}, h('h3', {}, title), !!beside && h('p.beside', {}, beside), table);
}

/**
 * What the inspector shows of a frame.
 * @param {Model} model @param {number} node @param {boolean} pinned whether the frame is selected
 * @param {Actions} actions
 */
export function inspect(model, node, pinned, actions) {
  const func = model.tree.func[node];
  const table = frameTable(model, node);
  const waits = pinned && waitSection(model, node, actions.pick);
  if (func < 0) return h('div', {}, h('h2', {}, 'all'), table, pinned && originSection(model, node), waits);
  const f = model.functions[func];
  return h(
    'div',
    {},
    h('h2', { title: f.name }, breakable(namePieces(f.name))),
    ...provenance(model, f, node),
    ...(model.sides === 2 ? codeOf(model, f, node, actions) : []),
    table,
    pinned && buttons(model, node, actions),
    pinned && trunkSection(model, node, actions),
    everywhere(model, f, node),
    memberSection(model, f),
    bottleneckSection(model, node),
    waits,
    ...(pinned ? neighbourSections(model, f, actions.pick) : []),
    pinned && originSection(model, node),
    pinned && moduleSection(model, f, () => actions.filter('module', func)),
  );
}
