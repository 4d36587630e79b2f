// SPDX-License-Identifier: GPL-3.0-or-later
// Pointer, wheel and fingers on the picture: what they mean, not what it does.

/** A pointer that moves less far than this while it is held down clicks, in pixels. */
const LEAST_DRAG = 4;
/** Powers of two that a pixel of the wheel magnifies by; a pinch on a touchpad comes as a wheel of few pixels. */
const PER_PIXEL = 0.02;
/** No turn of the wheel magnifies by more than this power of two. */
const MOST_PER_TURN = 0.5;

/**
 * What can be done with the picture. Distances are in pixels.
 * @typedef {object} HandActions
 * @property {(x: number, y: number) => boolean} pan moves the picture, and tells whether it moved
 * @property {(factor: number, x: number) => void} magnify makes it wider or narrower; what is at `x` stays there
 * @property {(e: MouseEvent|null) => void} point points at a place, or at nothing
 * @property {(e: MouseEvent) => void} click
 * @property {(e: MouseEvent) => void} open a double click
 * @property {(e: MouseEvent) => void} menu a right click
 */

/** The middle of the fingers, and how far two of them are apart. @param {TouchList} touches */
function fingersOf(touches) {
  const [a, b = a] = touches;
  const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart };
}

/** @param {WheelEvent} e @param {HandActions} actions */
function wheeled(e, { pan, magnify }) {
  if (e.ctrlKey) {
    e.preventDefault();
    const power = Math.max(-MOST_PER_TURN, Math.min(MOST_PER_TURN, -e.deltaY * PER_PIXEL));
    magnify(2 ** power, e.offsetX);
    return;
  }
  // Some browsers turn the wheel themselves while Shift is held.
  const sideways = e.shiftKey && !e.deltaX;
  if (sideways ? pan(e.deltaY, 0) : pan(e.deltaX, e.shiftKey ? 0 : e.deltaY)) e.preventDefault();
}

/** Moves the picture with a pointer that is held down. @param {HTMLElement} element @param {HandActions} actions */
function bindMouse(element, { pan, point, click, open, menu }) {
  /** @type {{x: number, y: number}|null} where the pointer was last while it is held down */ let from = null;
  let dragged = false;
  element.addEventListener('pointerdown', (e) => {
    dragged = false;
    from = e.button === 0 && e.pointerType !== 'touch' ? { x: e.clientX, y: e.clientY } : null;
  });
  element.addEventListener('pointermove', (e) => {
    if (!from || !(e.buttons & 1)) return;
    if (!dragged && Math.hypot(e.clientX - from.x, e.clientY - from.y) < LEAST_DRAG) return;
    if (!dragged) {
      dragged = true;
      element.setPointerCapture(e.pointerId);
      element.classList.add('held');
      point(null);
    }
    pan(from.x - e.clientX, from.y - e.clientY);
    from = { x: e.clientX, y: e.clientY };
  });
  const released = () => {
    from = null;
    element.classList.remove('held');
  };
  element.addEventListener('pointerup', released);
  element.addEventListener('pointercancel', released);
  element.addEventListener('mousemove', (e) => (from && dragged) || point(e));
  element.addEventListener('mouseleave', () => point(null));
  element.addEventListener('click', (e) => dragged || click(e));
  element.addEventListener('dblclick', (e) => dragged || open(e));
  element.addEventListener('contextmenu', (e) => {
    e.preventDefault();
    menu(e);
  });
}

/**
 * Moves the picture with a finger, and magnifies it with two.
 * @param {HTMLElement} element @param {Pick<HandActions, 'pan'|'magnify'>} actions
 */
export function bindFingers(element, { pan, magnify }) {
  let last = { x: 0, y: 0, apart: 0 };
  const begin = (/** @type {TouchEvent} */ e) => {
    if (e.touches.length) last = fingersOf(e.touches);
  };
  element.addEventListener('touchstart', begin, { passive: true });
  element.addEventListener('touchend', begin, { passive: true });
  element.addEventListener(
    'touchmove',
    (e) => {
      const now = fingersOf(e.touches);
      const before = last;
      last = now;
      // A page that scrolls already goes on scrolling.
      if (!e.cancelable) return;
      const pinched = e.touches.length === 2 && before.apart > 0 && now.apart > 0;
      if (pinched) magnify(now.apart / before.apart, before.x - element.getBoundingClientRect().left);
      if (pan(before.x - now.x, before.y - now.y) || pinched) e.preventDefault();
    },
    { passive: false },
  );
}

/** @param {HTMLElement} element the picture @param {HandActions} actions */
export function bindHands(element, actions) {
  element.addEventListener('wheel', (e) => wheeled(e, actions), { passive: false });
  bindMouse(element, actions);
  bindFingers(element, actions);
}
