// SPDX-License-Identifier: GPL-3.0-or-later
// The bar between two parts of the page, one above the other. It can be dragged, or moved with the arrow keys.

import { h } from './dom.js';

const STEP = 24;
const SMALLEST = 60;

/**
 * @param {HTMLElement} below the element whose height it sets @param {string} what is below
 * @param {() => void} moved @returns {HTMLElement}
 */
export function splitter(below, what, moved) {
  const bar = h('div.splitter', {
    tabIndex: 0,
    role: 'separator',
    'aria-orientation': 'horizontal',
    'aria-label': `Height of ${what}`,
    'aria-valuemin': SMALLEST,
    'aria-valuenow': SMALLEST * 4,
    'aria-valuemax': SMALLEST * 40,
  });
  /** @param {number} height */
  const resize = (height) => {
    const room = /** @type {HTMLElement} */ (below.parentElement).clientHeight - SMALLEST * 2;
    const set = Math.round(Math.max(SMALLEST, Math.min(room, height)));
    below.style.flex = `0 1 ${set}px`;
    bar.setAttribute('aria-valuenow', String(set));
    bar.setAttribute('aria-valuemax', String(Math.max(SMALLEST, Math.round(room))));
    moved();
  };
  bar.addEventListener('pointerdown', (/** @type {PointerEvent} */ e) => bar.setPointerCapture(e.pointerId));
  bar.addEventListener('pointermove', (/** @type {PointerEvent} */ e) => {
    if (e.buttons === 1) resize(below.getBoundingClientRect().bottom - e.clientY);
  });
  bar.addEventListener('keydown', (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowUp: STEP, ArrowDown: -STEP }[e.key];
    if (!step) return;
    e.preventDefault();
    e.stopPropagation();
    resize(below.clientHeight + step);
  });
  return bar;
}
