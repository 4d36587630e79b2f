// SPDX-License-Identifier: GPL-3.0-or-later
// The legend at the foot of the page. Its entries mark the frames that they stand for.

import { INTERRUPTS, ORIGINS, STATES } from './codes.js';
import { css, ORIGIN_COLOURS } from './colour.js';
import { h } from './dom.js';
import { amount, measureOf, signedPercent } from './format.js';
import { button, select, swatch } from './widgets.js';

/** @typedef {import('./colour.js').Colours} Colours */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./state.js').State} State */

/** What the entries mean. @type {Record<string, string>} */
const HINTS = {
  user: 'the program itself',
  library: 'code that others wrote: shared libraries and packages',
  system: 'the kernel, the C library, language runtimes',
  unknown: 'no rule decides where the code comes from',
  interrupts: "the machine's work in the threads: not in the total, and not compared",
  '+ new': 'only head has it',
  '− gone': 'only base had it; turn on Removed to see it',
};

const STRENGTH_HINT =
  'how large a change is beside the total, as colours: from 3 % to 5 % is +2 %; ' +
  'the strength of a colour follows the square root of the change';

/** @type {import('./widgets.js').Options} */
const CHOICES_OF_PALETTE = [
  ['kelvin', 'orange and blue'],
  ['classic', 'red and blue'],
  ['codspeed', 'red and green'],
];

/**
 * An entry that marks the frames of a number.
 * @typedef {{name: 'origins'|'states', number: number, colour: string, word: string, hint?: string}} Entry
 */

/** A text in place of entries. @param {string} text */
const note = (text) => [h('span.dim', {}, text)];

/** The ends of the scale of colours, in percent of the total. @param {Model} model @param {Colours} colours */
function scale(model, colours) {
  const tick = (/** @type {number} */ sign) => {
    const points = sign * model.most;
    return [swatch(css(colours.difference(sign < 0 ? 'less' : 'more', points))), `${signedPercent(points, 100)} `];
  };
  return h('span.dim.scale', { title: STRENGTH_HINT }, ...[-1, 1].flatMap(tick), 'of the total');
}

/** The totals of both sides. @param {Model} model */
function totals(model) {
  const [base, head] = model.totals();
  const text = `base ${amount(base, model.unit)} → head ${amount(head, model.unit)}`;
  const hint = 'what the picture shows in all on each side; head as it is compared';
  return h('span.dim', { title: hint }, text);
}

/**
 * What the legend shows.
 * @param {Model} model @param {Colours} colours @param {State} state @param {(change: Change) => void} set
 * @returns {Node[]}
 */
export function legend(model, colours, state, set) {
  /** @param {Entry} entry */
  const key = ({ name, number, colour, word, hint = HINTS[word] }) => {
    const digit = String(number);
    const marked = state[name];
    const on = marked.includes(digit);
    const title = `click to highlight these frames${hint ? `: ${hint}` : ''}`;
    const onclick = () => set({ [name]: on ? marked.replace(digit, '') : marked + digit });
    return button('button.key', { title, 'aria-pressed': on, onclick }, swatch(colour), word);
  };
  if (state.colour === 'origin')
    return [1, 2, 3, ...(model.hasInterrupts ? [INTERRUPTS] : []), 0].map((number) =>
      key({ name: 'origins', number, colour: ORIGIN_COLOURS[number], word: ORIGINS[number] }),
    );
  if (state.colour === 'function') return note('Colour: each function has its own hue, the same in every report.');
  const palette = select('Palette', CHOICES_OF_PALETTE, state.palette, (value) => set({ palette: value }), true);
  if (!model.shownMetric.tested)
    return [...note(`Colour: only ${model.meta.metric} was tested, so no frame is coloured as changed.`), palette];
  const measure = measureOf(model.shownMetric);
  const words = /** @type {const} */ ([
    ['more', `more ${measure}`],
    ['less', `less ${measure}`],
    ['new', '+ new'],
    ['gone', '− gone'],
  ]);
  const changes = words.map(([verdict, word]) =>
    key({
      name: 'states',
      number: STATES.indexOf(verdict),
      colour: colours.colours()[verdict],
      word,
      hint: HINTS[word] || `takes ${word} in head, which is proven`,
    }),
  );
  const unchanged = h(
    'span.key',
    { title: 'noise can explain the difference, or the difference is too small to matter' },
    swatch(css(colours.neutral())),
    'same, or not proven',
  );
  return [...changes, unchanged, scale(model, colours), totals(model), palette];
}
