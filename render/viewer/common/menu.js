// SPDX-License-Identifier: GPL-3.0-or-later
// A menu beside the pointer or beside what has the focus, as WAI-ARIA describes one: arrows move, Escape leaves.

import { h } from './dom.js';
import { button } from './widgets.js';

/**
 * An entry of a menu.
 * @typedef {object} Item
 * @property {string} text
 * @property {string} [key] the key that does the same outside of the menu, and here
 * @property {boolean} [checked] whether it is on, for an entry that can be on
 * @property {() => void} act
 */

/** Where a menu opens, from the upper left corner of the window. @typedef {{x: number, y: number}} Place */

/** How far a menu stands from the edges of the window at least, in pixels. */
const MARGIN = 4;

/** Whether a key opens the menu of what has the focus. @param {KeyboardEvent} event */
export const isMenuKey = ({ key, shiftKey }) => key === 'ContextMenu' || (key === 'F10' && shiftKey);

export class Menu {
  /** @param {AbortSignal} [until] */
  constructor(until) {
    this.title = h('p.menu-title', { id: 'menu-title' });
    this.list = h('div.menu-list', { role: 'menu', 'aria-labelledby': 'menu-title' });
    this.element = h('div.menu', { hidden: true, role: 'dialog', 'aria-labelledby': 'menu-title' }, this.title, this.list);
    /** @type {Item[]} */ this.items = [];
    /** @type {HTMLElement|null} what had the focus before */ this.before = null;
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.element.addEventListener('contextmenu', (event) => event.preventDefault());
    this.element.addEventListener('focusout', ({ relatedTarget }) => {
      if (!this.element.contains(/** @type {Node|null} */ (relatedTarget))) this.#hide();
    });
    window.addEventListener('resize', () => this.close(), { signal: until });
  }

  get #isOpen() {
    return !this.element.hidden;
  }

  /**
   * Opens with entries; null stands for a line between groups of them.
   * @param {string} title @param {(Item|null)[]} items @param {Place} place
   */
  open(title, items, { x, y }) {
    const { element, list } = this;
    // A long press leaves a panel of controls open.
    for (const panel of document.querySelectorAll(':popover-open')) /** @type {HTMLElement} */ (panel).hidePopover();
    if (!this.#isOpen) this.before = /** @type {HTMLElement|null} */ (document.activeElement);
    this.title.replaceChildren(h('bdi', {}, title));
    this.items = /** @type {Item[]} */ (items.filter(Boolean));
    const line = () => h('div.menu-line', { role: 'separator' });
    list.replaceChildren(...items.map((item) => (item ? this.#entry(item) : line())));
    element.hidden = false;
    const { offsetWidth, offsetHeight } = element;
    const left = Math.max(MARGIN, Math.min(x, innerWidth - offsetWidth - MARGIN));
    const top = Math.max(MARGIN, Math.min(y, innerHeight - offsetHeight - MARGIN));
    element.style.transform = `translate(${left}px, ${top}px)`;
    this.#entries()[0]?.focus();
  }

  /** @param {Item} item */
  #entry({ text, key, checked, act }) {
    const role = checked === undefined ? 'menuitem' : 'menuitemcheckbox';
    const state = checked === undefined ? {} : { 'aria-checked': checked };
    const onclick = () => {
      this.close();
      act();
    };
    return button('button', { role, tabIndex: -1, onclick, ...state }, h('bdi', {}, text), !!key && h('kbd', {}, key));
  }

  /** @returns {HTMLElement[]} */
  #entries() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll('button'))];
  }

  /** Gives the focus back to what had it before. */
  close() {
    if (!this.#isOpen) return;
    this.#hide();
    this.before?.focus();
  }

  #hide() {
    this.element.hidden = true;
  }

  /** Does what a key means in the menu; none of its keys means anything else. @param {KeyboardEvent} event */
  #key(event) {
    const { key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    const entries = this.#entries();
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1 + entries.length, Home: 0, End: entries.length - 1 };
    const own = this.items.findIndex((item) => item.key === key);
    if (key in steps) entries[steps[key] % entries.length].focus();
    else if (key === 'Escape' || key === 'Tab') this.close();
    else if (own >= 0 && key !== 'Enter') entries[own].click();
    else return;
    event.preventDefault();
  }
}
