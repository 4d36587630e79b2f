// SPDX-License-Identifier: GPL-3.0-or-later
// The legend at the foot of the page: what colours mean, how much of the time each stands for, and a way to see the
// frames of one alone.

import { bottleneckLegend } from './bottleneckviews.js';
import { COMPILATION, INTERRUPTS, LISTED_ORIGINS, OF_FUNCTION, ORIGINS, STATES } from '../data/codes.js';
import { css, ORIGIN_COLOURS } from '../drawing/colour.js';
import { h } from '../common/dom.js';
import { count, measureOf, signedPercent } from '../common/format.js';
import { partOfSide, wholeFigure } from '../model/figures.js';
import { laneLegend, waitLegend } from './waitviews.js';
import { button, edgeSwatch, select, swatch } from '../common/widgets.js';

/** @typedef {import('./bottleneckviews.js').Mark} Mark */
/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/** What the entries mean. @type {Record<string, string>} */
const HINTS = {
  user: 'the program itself',
  library: 'code that others wrote: shared libraries and packages',
  system: 'the kernel, the C library, language runtimes',
  unknown: 'no rule decides where the code comes from',
  interrupts: "the machine's work in the threads: not in the total, and not compared",
  compilation: 'just-in-time compilation by the run time: not in the total, and not compared',
  '+ new': 'only head has it',
  '− gone': 'only base had it; turn on Removed to see it',
};

const STRENGTH_HINT =
  'how large a change is beside the total, as colours: from 3 % to 5 % is +2 %; ' +
  'the strength of a colour follows the square root of the change';

const EDGE_HINT =
  'the lower edge of a frame: what is proven of its function, below its own time where that is proven of the function ' +
  'itself, or below all of it where it is proven of all its places together; the frame above has the colour of what is ' +
  'proven of this place alone, with all it calls';

const CLICK_HINT = 'a click keeps the colour of these frames alone, and lists only their functions';

/** Where the scale has ticks, as parts of the largest difference: strength follows its square root. */
const TICKS = [-1, -0.25, 0, 0.25, 1];

/** @type {import('../common/widgets.js').Options} */
const CHOICES_OF_PALETTE = [
  ['kelvin', 'orange and blue'],
  ['classic', 'red and blue'],
  ['codspeed', 'red and green'],
];

/** A text in place of entries. @param {string} text */
const note = (text) => [h('span.dim', {}, text)];

/** The ends of the scale of colours, in percent of the total. @param {Model} model @param {Colours} colours */
function scale(model, colours) {
  const tick = (/** @type {number} */ part) => {
    const points = part * model.most;
    const colour = colours.difference(part < 0 ? 'less' : part > 0 ? 'more' : 'same', points);
    return [swatch(css(colour)), part ? `${signedPercent(points, 100).replace(' %', '')} ` : '0 '];
  };
  return h('span.dim.scale', { title: STRENGTH_HINT }, ...TICKS.flatMap(tick), '% of total');
}

/** The totals of both sides. @param {Model} model */
function totals(model) {
  const whole = wholeFigure(model);
  const text = `base ${whole.amount(0)} → head ${whole.amount(1)}`;
  const hint = 'what the picture shows in all on each side; head as it is compared';
  return h('span.dim', { title: hint }, text);
}

/**
 * What the legend shows.
 * @param {Model} model @param {Colours} colours @param {State} state @param {(change: Change) => void} set
 * @returns {Node[]}
 */
export function legend(model, colours, state, set) {
  const hasLanes = state.tab === 'timeline' && model.hasWaits;
  const keys = hasLanes && state.colour === 'waiting' ? [] : keysOf(model, colours, state, set);
  return hasLanes ? [...keys, ...laneLegend(model)] : keys;
}

/**
 * What the colours of the state mean.
 * @param {Model} model @param {Colours} colours @param {State} state @param {(change: Change) => void} set
 * @returns {Node[]}
 */
function keysOf(model, colours, state, set) {
  /** @param {Mark} mark */
  const key = ({ name, number, colour, edge, word, total, totalHint, hint = HINTS[word] }) => {
    const digit = String(number);
    const marked = state[name];
    const on = marked.includes(digit);
    const click = on ? 'a click shows all again' : CLICK_HINT;
    const title = `${hint ? `${hint}; ` : ''}${total ? `${totalHint}; ` : ''}${click}`;
    const onclick = () => set({ [name]: on ? marked.replace(digit, '') : marked + digit });
    const share = !!total && h('span.dim', {}, ` ${total}`);
    return button('button.key', { title, 'aria-pressed': on, onclick }, edge ? edgeSwatch(colour, edge) : swatch(colour), word, share);
  };
  if (state.colour === 'origin') return originKeys(model, key);
  if (state.colour === 'waiting') return waitLegend(model, colours);
  if (state.colour === 'bottleneck') return bottleneckLegend(model, colours, key);
  if (state.colour === 'function') return note('Colour: each function has its own hue, the same in every report.');
  const palette = select('Palette', CHOICES_OF_PALETTE, state.palette, (value) => set({ palette: value }), true);
  if (!model.shownMetric.tested)
    return [...note(`Colour: only ${model.testedWords} was tested, so no frame is coloured as changed.`), palette];
  return [...verdictKeys(model, colours, key), scale(model, colours), totals(model), palette];
}

/** The origins, with their parts of the time. @param {Model} model @param {(mark: Mark) => Node} key makes an entry */
function originKeys(model, key) {
  const times = model.timeByOrigin();
  const [side, all] = [model.side, model.totals()[model.side]];
  const totalHint = `its part of the ${model.sides === 1 ? '' : side ? 'head ' : 'base '}time that is shown`;
  const total = (/** @type {number} */ number) => (times[number] ? partOfSide(model, times[number], all).share(side) : '');
  const isThere = (/** @type {number} */ one) =>
    one < INTERRUPTS || (one === COMPILATION ? times[one] : model.hasInterrupts);
  return LISTED_ORIGINS.filter(isThere).map((number) => {
    const colour = ORIGIN_COLOURS[number];
    return key({ name: 'origins', number, colour, word: ORIGINS[number], total: total(number), totalHint });
  });
}

/**
 * The verdicts, with how many changes have them; or, if none, how many places in the tree.
 * @param {Model} model @param {Colours} colours @param {(mark: Mark) => Node} key makes an entry
 */
function verdictKeys(model, colours, key) {
  const measure = measureOf(model.shownMetric);
  const words = /** @type {const} */ ([
    ['more', `more ${measure}`],
    ['less', `less ${measure}`],
    ['new', '+ new'],
    ['gone', '− gone'],
  ]);
  const proven = model.shownChanges().filter(({ isOfOthers }) => !isOfOthers);
  const totalOf = (/** @type {string} */ verdict) => {
    const changes = proven.filter(({ e }) => e.state === verdict).length;
    const places = changes ? 0 : model.verdicts.placesWith(STATES.indexOf(verdict));
    if (!places) return { total: count(changes), totalHint: 'so many changes' };
    const totalHint = 'proven in so many places of the call tree, but of no function in all its places together';
    return { total: `${count(places)} place${places === 1 ? '' : 's'}`, totalHint };
  };
  const keys = words.map(([verdict, word]) =>
    key({
      ...totalOf(verdict),
      name: 'states',
      number: STATES.indexOf(verdict),
      colour: colours.colours()[verdict],
      word,
      hint: HINTS[word] || `takes ${word} in head, which is proven`,
    }),
  );
  const own = proven.filter(({ own }) => own).length;
  const edge = key({
    name: 'states',
    number: OF_FUNCTION,
    colour: css(colours.neutral()),
    edge: colours.colours().more,
    word: 'self',
    total: count(own),
    totalHint: 'so many functions are proven to have changed themselves',
    hint: EDGE_HINT,
  });
  const hint = 'noise can explain the difference, or the difference is too small to matter';
  return [...keys, edge, h('span.key', { title: hint }, swatch(css(colours.neutral())), 'not proven')];
}
