// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is known of one frame.

import { INTERRUPTS, ORIGINS } from './symbols.js';
import { ORIGIN_COLOURS } from './colour.js';
import { h } from './dom.js';
import {
  amount,
  change,
  interval as intervalText,
  listName,
  measureOf,
  pasted,
  percent,
  plainStrings,
  signedAmount,
} from './format.js';

/** @typedef {import('./model.js').Model} Model */

/** @type {Record<string, string>} */
const STATE_WORDS = {
  same: 'no difference that matters',
  unproven: 'not proven: noise can explain it',
  new: 'new',
  gone: 'gone',
  moved: 'moved or renamed',
};

/** A verdict in words. @param {string} state @param {string} measure what more or less of is taken */
export function stateText(state, measure) {
  return state === 'more' || state === 'less' ? `takes ${state} ${measure}` : STATE_WORDS[state] || '';
}

const CODE_WORDS = ['', 'identical machine code', 'code changed'];
const SAME_CODE = 1;

/** @param {string} label @param {...any} values */
function row(label, ...values) {
  return h('tr', {}, h('th', { scope: 'row' }, label), ...values.map((v) => h('td', {}, v)));
}

/** @param {Model} model @param {string} label @param {number[]} pair @param {number[]} totals */
function sideBySide(model, label, pair, totals) {
  const unit = model.unit;
  if (model.sides === 1) return row(label, amount(pair[1], unit), percent(pair[1], totals[1]));
  if (!pair[0] && !pair[1]) return row(label, amount(0, unit), amount(0, unit), '–');
  const delta = pair[1] - pair[0];
  const points = (100 * delta) / Math.max(...totals, 1e-9);
  const both = (/** @type {string} */ large, /** @type {string[]} */ ...small) =>
    h('span', {}, large, ...small.flatMap((text) => [h('br'), h('small', {}, text)]));
  return row(
    label,
    both(amount(pair[0], unit), percent(pair[0], totals[0])),
    both(amount(pair[1], unit), percent(pair[1], totals[1])),
    both(signedAmount(delta, unit), pair[0] ? change(pair[0], pair[1]) : 'none in base', ofTotalText(points)),
  );
}

/** Callers or callees of a function, the greatest first. @param {Model} model @param {number} func @param {boolean} callers */
function neighbours(model, func, callers) {
  const tree = model.callTree;
  const [base, head] = tree.figures;
  const sums = new Map();
  const add = (/** @type {number} */ other, /** @type {number} */ node) => {
    if (other < 0) return;
    const sum = sums.get(other) || [0, 0];
    sum[0] += base[node];
    sum[1] += head[node] * model.factor;
    sums.set(other, sum);
  };
  for (const node of model.framesOf(func)) {
    if (callers) add(tree.func[tree.parent[node]], node);
    else for (let child = tree.first(node); child >= 0; child = tree.next(child)) add(tree.func[child], child);
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
            listName(model.functions[func].name),
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
  for (let at = node; at > 0; at = model.tree.parent[at]) out.push(pasted(model.nameOf(at)));
  return out.reverse().join('\n');
}

/** One proven change in a line. @param {Model} model @param {ReturnType<Model['provenChanges']>[0]} change @param {(func: number) => void} pick */
function changeItem(model, { f, e }, pick) {
  const { unit } = model.meta;
  const figures =
    e.state === 'new'
      ? amount(e.head, unit)
      : e.state === 'gone'
        ? amount(e.base, unit)
        : [signedAmount(e.delta, unit), e.base ? change(e.base, e.head) : 'none in base'].join(', ');
  return h(
    'li',
    {},
    h('button.link', { type: 'button', title: f.name, onclick: () => pick(f.id) }, listName(f.name)),
    h('span', {}, h(`span.s-${e.state}`, {}, e.state), ` ${figures}`),
  );
}

/** The proven changes, in the functions themselves where there are such. @param {Model} model @param {(func: number) => void} pick @param {number} most */
export function changeList(model, pick, most) {
  const changed = model.shownChanges();
  if (!changed.length) return h('p.dim', {}, model.isNarrowed ? 'Of what is shown, no function is proven to have changed.' : 'No function is proven to have changed.');
  const items = changed.slice(0, most).map((change) => changeItem(model, change, pick));
  const more = changed.length - items.length;
  return h('div', {}, h('ul.changes', {}, ...items), more > 0 && h('p.dim', {}, `and ${more} more in the function list`));
}

/** What to look at first, while no frame is looked at. @param {Model} model @param {(func: number) => void} pick */
export function overview(model, pick) {
  const hint = h('p.hint', {}, 'Hover a frame to see it here; click to pin it and zoom.');
  if (model.sides === 1) return hint;
  const filtered = model.isNarrowed && h('p.dim', {}, 'Proven without filters; the figures are those of what is shown.');
  return h('div', {}, h('h3', {}, 'Proven changes, the largest first'), filtered, changeList(model, pick, 12), hint);
}

/**
 * What the inspector can do: choose a function, show what is around it, copy a text, zoom to a node.
 * @typedef {{pick: (func: number) => void, around: (func: number, which: 'callers'|'callees'|'both') => void, copy: (text: string, what: string) => void, zoom: (node: number) => void}} Actions
 */

const DIFFERENCE_HINT = 'the difference, head against base, and in percentage points of the total: from 3 % to 5 % is +2 points';

/** @param {number} points */
function ofTotalText(points) {
  const size = Math.abs(points).toFixed(2);
  return `${size === '0.00' ? '±' : points > 0 ? '+' : '−'}${size} points of total`;
}

/** What was done to head's figures. @param {Model} model */
function scaleHint({ meta, factor }) {
  return factor === 1 ? 'as measured' : `measured, multiplied by ${factor.toPrecision(4)} to compare both sides ${meta.scaleWords}`;
}

/** What a total is when the load is read the other way, where the two ways disagree. @param {Model} model @param {number} base @param {number} head scaled */
function otherReading({ meta, factor, unit }, base, head) {
  if (!meta.otherFactor || !(factor > 0)) return null;
  const other = (head / factor) * meta.otherFactor;
  const title = 'the recordings cannot tell which of the two is right: see the top of the page';
  return h(
    'p.dim.reading',
    { title },
    `Compared ${meta.otherWords}: ${amount(base, unit)} → ${amount(other, unit)}${base ? `, ${change(base, other)}` : ''}`,
  );
}

/**
 * Time of a frame, or of a function in all its frames.
 * @param {Model} model @param {number[]} total @param {number[]} self @param {boolean} titled
 * @param {number[]} [interrupts] what interrupted it, where there is something
 */
function figures(model, total, self, titled, interrupts) {
  const totals = model.totals();
  const scaled = model.factor === 1 ? 'head' : 'head, scaled';
  const titles = model.sides === 1 ? [measureOf(model.shownMetric), 'of total'] : ['base', scaled, 'difference'];
  const hints = model.sides === 1 ? ['', ''] : ['', scaleHint(model), DIFFERENCE_HINT];
  const cells = titles.map((text, i) => h('th', { scope: 'col', title: hints[i] }, text));
  const head = h('thead', {}, h('tr', {}, h('th'), ...cells));
  const rows = [sideBySide(model, 'total', total, totals), sideBySide(model, 'self', self, totals)];
  if (interrupts?.some((value) => value > 0)) rows.push(sideBySide(model, 'interrupts', interrupts, totals));
  const body = h('tbody', {}, ...rows);
  return h('table', {}, titled && head, body);
}

/** Where a function is from. @param {Model} model @param {import('./symbols.js').Func} f @param {number} node */
function provenance(model, f, node) {
  const file = f.file ? `${f.file}${f.line ? `:${f.line}` : ''}` : '';
  const inlined = model.tree.flags[node] & 1 ? ' · inlined' : '';
  return [
    h('p.where', {}, [f.module, file].filter(Boolean).join(' · ') || 'no file known'),
    h(
      'p.origin',
      {},
      swatch(ORIGIN_COLOURS[f.origin]),
      `${ORIGINS[f.origin]} – ${f.origin === INTERRUPTS ? INTERRUPT_WORDS : model.meta.ruleTexts[f.rule] || 'no rule recorded'}`,
      h('span.dim', {}, ` · named by ${model.meta.nameSources[f.source]}${inlined}`),
    ),
  ];
}

/** What leaves out 0 by itself may still be chance among so many functions. @param {number} low @param {number} high */
export const leavesOutZero = (low, high) => low > 0 || high < 0;
export const ASKS_FOR_MORE =
  'not proven: its own 95 % interval excludes 0, but among so many functions chance alone produces some such intervals';

/** What is said of interrupts where others have a rule, and a verdict. */
export const INTERRUPT_WORDS = 'what the machine did in this thread; not compared';

/** The verdict on a frame in words. @param {Model} model @param {number} node */
export function verdictWords(model, node) {
  if (model.isInterrupt(model.tree.func[node])) return 'not compared';
  const state = model.stateOf(node);
  const range = model.intervalOf(node);
  const short = state === 'unproven' && range && leavesOutZero(range[0], range[1]);
  return short ? ASKS_FOR_MORE : stateText(state, measureOf(model.shownMetric));
}

/** What is proven of a frame. @param {Model} model @param {import('./symbols.js').Func} f @param {number} node */
function verdictOf(model, f, node) {
  if (!model.shownMetric.tested)
    return [h('p.dim', {}, `Only ${model.meta.metric} was tested, so ${model.shownMetric.name} has no verdicts.`)];
  if (f.origin === INTERRUPTS) return [];
  const { unit } = model;
  const state = model.stateOf(node);
  const range = model.intervalOf(node);
  const other = model.functions[f.movedTo];
  const detectable = f.total?.detectable;
  const placed = f.code === SAME_CODE && (state === 'more' || state === 'less');
  return [
    h(
      'p.state',
      {},
      h(`span.badge.${state}`, {}, verdictWords(model, node)),
      CODE_WORDS[f.code] && h('span.dim', {}, ` ${CODE_WORDS[f.code]}${placed ? '; only its placement or its workload differs' : ''}`),
    ),
    other && h('p.dim', {}, 'Its name on the other side is ', h('bdi', {}, other.name), '.'),
    range && h('p.dim', {}, `95 % interval of the difference: ${intervalText(range[0], range[1], unit)}`),
    detectable != null && h('p.dim', {}, `smallest change that these recordings can prove: ${amount(detectable, unit)}`),
  ];
}

/** @param {Model} model @param {number} node @param {Actions} actions */
function buttons(model, node, actions) {
  const func = model.tree.func[node];
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, title = '') =>
    h('button', { type: 'button', onclick, title }, text);
  return h(
    'p.actions',
    {},
    button('Zoom', () => actions.zoom(node), 'Enter'),
    button('Callers and callees', () => actions.around(func, 'both'), 'callers above, callees below (x)'),
    button('All callers', () => actions.around(func, 'callers')),
    button('All callees', () => actions.around(func, 'callees')),
    button('Copy name', () => actions.copy(pasted(model.nameOf(node)), 'name')),
    button('Copy stack', () => actions.copy(stackText(model, node), 'stack'), 'c'),
  );
}

/** A function has its own verdict: of all its frames together. @param {Model} model @param {import('./symbols.js').Func} f @param {number} node */
function everywhere(model, f, node) {
  const count = model.framesOf(f.id).length;
  const places = count === 1 ? 'only here' : `in ${count} places`;
  const state = model.shownMetric.tested && !model.filtered ? f.total?.state : undefined;
  const differs = state && state !== model.stateOf(node) && f.origin !== INTERRUPTS;
  return `This function, ${places}${differs ? `: ${stateText(state, measureOf(model.shownMetric))}` : ''}`;
}

/** @param {Model} model @param {number} node @param {boolean} pinned @param {Actions} actions */
export function inspect(model, node, pinned, actions) {
  const func = model.tree.func[node];
  const table = figures(model, model.valueOf(node), model.selfOf(node), true, model.interruptsOf(node));
  if (func < 0) return h('div', {}, h('h2', {}, 'all'), table);
  const f = model.functions[func];
  const { total, self } = model.sums;
  const scaled = (/** @type {Float64Array[]} */ of) => [of[0][func], of[1][func] * model.factor];
  return h(
    'div',
    {},
    h('h2', { title: f.name }, plainStrings(f.name)),
    ...provenance(model, f, node),
    ...(model.sides === 2 ? verdictOf(model, f, node) : []),
    table,
    otherReading(model, .../** @type {[number, number]} */ (model.valueOf(node))),
    h('section', {}, h('h3', {}, everywhere(model, f, node)), figures(model, scaled(total), scaled(self), false)),
    pinned && neighbourList(model, 'Callers', neighbours(model, func, true), actions.pick),
    pinned && neighbourList(model, 'Callees', neighbours(model, func, false), actions.pick),
    pinned && buttons(model, node, actions),
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
