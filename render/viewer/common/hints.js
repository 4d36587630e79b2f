// SPDX-License-Identifier: GPL-3.0-or-later
// What a mouse finds by pointing and by its right button, for fingers and keys: a long press opens the menu of what is under the
// finger, or tells its hint where it has no menu; a key that moves the focus tells the hint of what gets it.

import { h } from './dom.js';

/** A finger that rests so long presses long, in milliseconds. */
const LONG_MS = 500;
/** A finger that moves further than this does not rest, in pixels. */
const STILL = 10;
/** How far a hint stands from what it is of, and from the edges of the window at least, in pixels. */
const BESIDE = 6;
/** Keys that move the focus. */
const MOVES = /^(Tab|Arrow\w+|Home|End)$/;

/** The hint of an element, or of what it is a part of. @param {Element|null} element */
const hintOf = (element) => element?.closest('[title]:not([title=""])')?.getAttribute('title') || '';

class Hint {
  constructor() {
    // A screen reader has the hint as the description of the control.
    this.element = h('div.told', { hidden: true, 'aria-hidden': 'true' });
  }

  hide() {
    this.element.hidden = true;
  }

  /** Tells the hint of an element, and whether it has one. @param {Element|null} of @param {{x: number, top: number, bottom: number}} place */
  show(of, { x, top, bottom }) {
    const { element } = this;
    const text = hintOf(of);
    element.hidden = !text;
    if (!text) return false;
    // What opens lies over the page, and so must its hints.
    (of?.closest('dialog, [popover]') || document.body).append(element);
    element.textContent = text;
    const { offsetWidth, offsetHeight } = element;
    const left = Math.max(BESIDE, Math.min(x, innerWidth - offsetWidth - BESIDE));
    const below = bottom + BESIDE;
    const y = below + offsetHeight < innerHeight ? below : Math.max(BESIDE, top - BESIDE - offsetHeight);
    element.style.transform = `translate(${left}px, ${y}px)`;
    return true;
  }
}

/** Presses long with a finger. @param {Hint} hint */
function bindFinger(hint) {
  let timer = 0;
  let begin = { x: 0, y: 0 };
  /** Whether the finger has opened something, so that no click follows. */ let opened = false;
  /** @param {Element} target */
  const pressed = (target) => {
    const { x, y } = begin;
    const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: x, clientY: y });
    opened = !target.dispatchEvent(event) || hint.show(target, { x, top: y - 4 * BESIDE, bottom: y + 4 * BESIDE });
  };
  const stop = () => clearTimeout(timer);
  const moved = (/** @type {TouchEvent} */ { touches: [{ clientX, clientY }] }) => {
    if (Math.hypot(clientX - begin.x, clientY - begin.y) > STILL) stop();
  };
  const down = (/** @type {TouchEvent} */ { touches, target }) => {
    const element = /** @type {Element} */ (target);
    stop();
    opened = false;
    hint.hide();
    begin = { x: touches[0].clientX, y: touches[0].clientY };
    // A field has a menu of the browser, to paste.
    if (touches.length === 1 && !element.closest('input[type=search]')) timer = window.setTimeout(() => pressed(element), LONG_MS);
  };
  const up = (/** @type {TouchEvent} */ event) => {
    stop();
    if (opened && event.cancelable) event.preventDefault();
  };
  // Some browsers tell of a long press by themselves.
  const told = (/** @type {MouseEvent} */ event) => {
    if (!event.isTrusted) return;
    stop();
    if (!opened) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('touchstart', down, { passive: true, capture: true });
  document.addEventListener('touchmove', moved, { passive: true, capture: true });
  document.addEventListener('touchend', up, { passive: false, capture: true });
  document.addEventListener('touchcancel', stop, { capture: true });
  document.addEventListener('contextmenu', told, { capture: true });
}

/** Tells hints to fingers and keys. It is called once for a page. */
export function tellHints() {
  const hint = new Hint();
  bindFinger(hint);
  document.addEventListener('keydown', () => hint.hide(), { capture: true });
  document.addEventListener('pointerdown', () => hint.hide(), { capture: true });
  document.addEventListener('scroll', () => hint.hide(), { capture: true, passive: true });
  document.addEventListener('keyup', ({ key }) => {
    const of = document.activeElement;
    if (!MOVES.test(key) || !of || !of.matches('button, select, input[type=checkbox], a, summary, [role=columnheader]')) return;
    const { left, top, bottom } = of.getBoundingClientRect();
    hint.show(of, { x: left, top, bottom });
  });
}
