// SPDX-License-Identifier: GPL-3.0-or-later
// Elements of the page.

/**
 * @template {string} N @typedef {N extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[N] : HTMLElement} Named
 */

/**
 * The type of the element that a tag like 'div.bar' makes.
 * @template {string} T @typedef {T extends `${infer N}.${string}` ? Named<N> : Named<T>} Made
 */

/** @typedef {Node|string|null|undefined|false} Child */

/**
 * Makes an element. Keys with a dash, `role` and `for` are attributes, `on…` are listeners, all others are properties.
 * Text is always text and never markup. A child that is null, undefined or false is left out.
 * @template {string} T
 * @param {T} tag a name with classes, as 'div.bar' @param {Record<string, any>} [props] @param {...Child} children
 * @returns {Made<T>}
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.includes('-') || key === 'role' || key === 'for') element.setAttribute(key, String(value));
    else Object.assign(element, { [key]: value });
  }
  for (const child of children) if (child || child === '') element.append(child);
  return /** @type {Made<T>} */ (element);
}

/**
 * Makes an element of an SVG.
 * @param {string} name @param {Record<string, unknown>} attributes @param {...Node} children
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Replaces the controls of a bar and keeps the focus where it is. @param {HTMLElement} bar @param {Child[]} list */
export function renew(bar, list) {
  keepingFocus(bar, () => bar.replaceChildren(.../** @type {Node[]} */ (list.filter(Boolean))));
}

/** Gives the focus that a control of a bar has to the one in its place. @param {HTMLElement} bar @param {() => void} change */
export function keepingFocus(bar, change) {
  const focused = bar.contains(document.activeElement) ? document.activeElement : null;
  const label = focused ? labelOf(focused) : '';
  change();
  if (!label) return;
  const controls = /** @type {NodeListOf<HTMLElement>} */ (bar.querySelectorAll('button, select, input'));
  [...controls].find((control) => labelOf(control) === label)?.focus();
}

/** The label of a control, by which it is found again after its bar was replaced. @param {Element} control */
function labelOf(control) {
  const { title } = /** @type {HTMLElement} */ (control);
  return control.ariaLabel || control.closest('label')?.textContent || title || control.textContent;
}

/** Says in the place of a report why it cannot be read. @param {HTMLElement} root @param {Error} error */
export function showDamage(root, { message }) {
  root.textContent = `This report cannot be read: ${message}. It may have been cut off while it was copied; write it again.`;
}

/** Copies a text to the clipboard, and tells whether that was possible. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h('textarea', { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** A name whose line may be broken between its parts, and never within a word. @param {string[]} pieces */
export function breakable(pieces) {
  return h('bdi', {}, ...pieces.flatMap((piece, i) => (i ? [document.createElement('wbr'), piece] : [piece])));
}
