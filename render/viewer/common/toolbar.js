// SPDX-License-Identifier: GPL-3.0-or-later
// Bars of controls as WAI-ARIA describes a toolbar: the Tab key stops once at each, arrows move in it.

const CONTROLS = 'button, select, input, a, [role=columnheader]';

/** @param {HTMLElement} bar @returns {HTMLElement[]} */
const controlsOf = (bar) => [.../** @type {NodeListOf<HTMLElement>} */ (bar.querySelectorAll(CONTROLS))];

/** Which control a key leads to, or undefined. @param {KeyboardEvent} event @param {HTMLElement[]} controls */
function target({ key, target: from }, controls) {
  const at = controls.indexOf(/** @type {HTMLElement} */ (from));
  // Controls that stand below each other are also left upwards and downwards, but for lists, which choose so.
  const isBelow = at >= 0 && !!controls[at].closest('[popover]') && controls[at].tagName !== 'SELECT';
  if (key === 'Home') return controls[0];
  if (key === 'End') return controls.at(-1);
  if (at >= 0 && (key === 'ArrowRight' || (key === 'ArrowDown' && isBelow))) return controls[(at + 1) % controls.length];
  return key === 'ArrowLeft' || (key === 'ArrowUp' && isBelow) ? controls.at(at - 1) : undefined;
}

/** Makes a bar a toolbar. @template {HTMLElement} T @param {T} bar @returns {T} */
export function asToolbar(bar) {
  bar.setAttribute('role', 'toolbar');
  return roving(bar);
}

/**
 * Makes the controls of a bar one stop of the Tab key, also when they are others than before.
 * @template {HTMLElement} T @param {T} bar @returns {T}
 */
export function roving(bar) {
  /** The place of the control that Tab stops at. */
  let stop = 0;
  /** Whether it has the focus by a click: then arrows go on to mean what they mean in the picture. */
  let clicked = false;
  const mark = () => {
    const controls = controlsOf(bar);
    const focused = controls.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (focused >= 0) stop = focused;
    stop = Math.max(0, Math.min(stop, controls.length - 1));
    // What is behind a button that opens it cannot be stopped at.
    if (controls[stop]?.closest('[popover]:not(:popover-open)')) stop = 0;
    controls.forEach((control, i) => (control.tabIndex = i === stop ? 0 : -1));
  };
  bar.addEventListener('focusin', mark);
  bar.addEventListener('pointerdown', () => (clicked = true));
  bar.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !bar.contains(/** @type {Node} */ (relatedTarget))) clicked = false;
  });
  bar.addEventListener('keydown', (event) => {
    if (clicked || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const next = target(event, controlsOf(bar).filter((control) => control.checkVisibility()));
    if (!next) return;
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  new MutationObserver(mark).observe(bar, { childList: true, subtree: true });
  mark();
  return bar;
}
