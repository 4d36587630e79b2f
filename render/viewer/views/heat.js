// SPDX-License-Identifier: GPL-3.0-or-later
// A strip beside lines that scroll: where hot ones are, and those that are proven to have changed.

import { h, svg } from '../common/dom.js';

/** How many places the strip has at most: more could not be told apart. */
const MOST_PLACES = 240;

/** How hot a line is, up to 1, and the verdict that is proven of it; '' for none. @typedef {{heat: number, state: string}} Mark */

/**
 * The marks of lines that share a place are one: that of the hottest, and a proven one where there is one.
 * @param {Mark[]} marks @returns {Mark[]}
 */
export function placesOf(marks) {
  const count = Math.min(MOST_PLACES, marks.length);
  const places = Array.from({ length: count }, () => ({ heat: 0, state: '' }));
  marks.forEach(({ heat, state }, i) => {
    const place = places[Math.floor((i * count) / marks.length)];
    place.heat = Math.max(place.heat, heat);
    place.state ||= state;
  });
  return places;
}

/** @param {(at: number) => void} scroll to a part of all lines */
export function heatStrip(scroll) {
  const element = h('div.heat', {
    'aria-hidden': 'true',
    title: 'where time is; marks to the left are proven changes',
    onclick: (/** @type {MouseEvent} */ e) => {
      const { top, height } = element.getBoundingClientRect();
      scroll((e.clientY - top) / height);
    },
  });
  /** @param {Mark[]} marks */
  const draw = (marks) => {
    const places = placesOf(marks);
    const shapes = places.flatMap(({ heat, state }, y) => [
      ...(heat > 0 ? [svg('rect', { x: 6 + 6 * (1 - heat), y, width: 6 * heat, height: 1 })] : []),
      ...(state ? [svg('rect', { class: `s-${state}`, x: 0, y, width: 5, height: 1 })] : []),
    ]);
    element.replaceChildren(svg('svg', { viewBox: `0 0 12 ${Math.max(1, places.length)}`, preserveAspectRatio: 'none' }, ...shapes));
  };
  return { element, draw };
}
