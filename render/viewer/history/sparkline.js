// SPDX-License-Identifier: GPL-3.0-or-later
// A line of the chart as small as a word, for a row of the list.

import { svg } from '../common/dom.js';

/** @typedef {import('./lines.js').Line} Line */

const [WIDTH, HEIGHT, MARGIN] = [120, 20, 2];
/** So many pieces are enough for the width: one of several profiles goes from their least to their greatest value. */
const PIECES = 120;

/** @param {Line} line @param {number} from @param {number} to @param {(at: number, value: number) => string} place */
function pathOf({ values }, from, to, place) {
  const step = Math.max(1, Math.ceil(values.length / PIECES));
  let d = '';
  for (let i = from; i < to; i += step) {
    let [least, most] = [values[i], values[i]];
    for (let j = i; j < Math.min(to, i + step); j++) [least, most] = [Math.min(least, values[j]), Math.max(most, values[j])];
    d += `${d ? 'L' : 'M'}${place(i, least)}${most > least ? `L${place(i, most)}` : ''}`;
  }
  return d;
}

/** The values of a line, in a colour behind a proven change. @param {Line} line */
export function sparkline(line) {
  const { levels, values } = line;
  const count = values.length;
  let [least, most] = [Infinity, 0];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  // Values that differ by a few percent are not drawn as a change.
  const low = Math.min(least, 0.8 * most);
  const place = (/** @type {number} */ at, /** @type {number} */ value) => {
    const part = (value - low) / (most - low || 1);
    return `${((WIDTH * (at + 0.5)) / count).toFixed(1)} ${(HEIGHT - MARGIN - part * (HEIGHT - 2 * MARGIN)).toFixed(1)}`;
  };
  const coloured = levels.filter(({ state }) => state);
  return svg(
    'svg',
    { class: 'sparkline', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { d: pathOf(line, 0, count, place) }),
    ...coloured.map(({ from, state, to }) => svg('path', { class: state, d: pathOf(line, Math.max(0, from - 1), to, place) })),
  );
}
