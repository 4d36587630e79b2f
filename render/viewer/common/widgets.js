// SPDX-License-Identifier: GPL-3.0-or-later
// Controls that several parts of the page use.

import { h, svg } from './dom.js';

/** A list of choices. @typedef {[value: string, text: string][]} Options */

/**
 * A list to choose from, with its label before it, or with a label that only screen readers read.
 * @param {string} label @param {Options} options @param {string} current
 * @param {(value: string) => void} choose @param {boolean} [silent] whether the label is for screen readers only
 */
export function select(label, options, current, choose, silent = false) {
  const list = h(
    'select',
    { 'aria-label': label, onchange: () => choose(list.value) },
    ...options.map(([value, text]) => h('option', { value, selected: value === current }, text)),
  );
  return h('label', {}, !silent && `${label} `, list);
}

/**
 * A box to tick.
 * @param {string} label @param {string} hint @param {boolean} checked @param {(checked: boolean) => void} choose
 */
export function toggle(label, hint, checked, choose) {
  const box = h('input', { type: 'checkbox', checked, onchange: () => choose(box.checked) });
  return h('label.toggle', { title: hint }, box, label);
}

/**
 * A button, which sends no form.
 * @template {string} T
 * @param {T} tag 'button' with classes @param {Record<string, any>} props @param {...import('./dom.js').Child} children
 */
export const button = (tag, props, ...children) => h(tag, { type: 'button', ...props }, ...children);

/**
 * A button that shows a sign.
 * @param {string} text @param {string} label @param {string} title @param {() => void} onclick
 */
export function signButton(text, label, title, onclick, disabled = false) {
  return button('button', { title, 'aria-label': label, disabled, onclick }, text);
}

/** A button that is seen while it has the focus, and leads past what stands before a part of the page. @param {string} text @param {() => void} onclick */
export const skipButton = (text, onclick) => button('button.skip', { onclick }, text);

/** A button that switches between light and dark. @param {boolean} dark what is shown @param {() => void} onclick */
export const themeButton = (dark, onclick) =>
  signButton(dark ? '☀' : '☾', 'Switch between light and dark', 'light or dark', onclick);

/**
 * A square of a colour. It is an SVG, because the policy of the page allows no inline styles.
 * @param {string} colour
 */
export function swatch(colour) {
  const square = svg('rect', { width: 10, height: 10, rx: 2, fill: colour });
  return svg('svg', { class: 'swatch', viewBox: '0 0 10 10' }, square);
}

/** A square with a lower edge of another colour. @param {string} colour @param {string} edge */
export function edgeSwatch(colour, edge) {
  const square = svg('rect', { width: 10, height: 6, fill: colour });
  return svg('svg', { class: 'swatch', viewBox: '0 0 10 10' }, square, svg('rect', { y: 7, width: 10, height: 3, fill: edge }));
}
