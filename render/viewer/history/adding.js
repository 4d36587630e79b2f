// SPDX-License-Identifier: GPL-3.0-or-later
// The field that finds a function and adds its line to the chart, as WAI-ARIA describes a combobox with a list.

import { h } from '../common/dom.js';
import { listName } from '../common/format.js';

/** What can be added. @typedef {{key: string, name: string, figure: string}} Choice */

/** So many are listed at once. */
const MOST = 12;

export class Adding {
  /** @param {(text: string) => Choice[]} find @param {(key: string) => void} add */
  constructor(find, add) {
    this.find = find;
    this.add = add;
    /** @type {Choice[]} */ this.choices = [];
    this.active = 0;
    this.field = h('input', {
      type: 'search',
      placeholder: 'add a function',
      autocomplete: 'off',
      role: 'combobox',
      'aria-label': 'Add the line of a function',
      'aria-expanded': 'false',
      'aria-controls': 'history-choices',
      'aria-autocomplete': 'list',
      oninput: () => this.#fill(),
      onfocus: () => this.#fill(),
      onblur: () => this.#close(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e),
    });
    this.list = h('div.choices', { id: 'history-choices', role: 'listbox', 'aria-label': 'Functions', hidden: true });
    // A press on the list must not take the focus from the field, which closes it.
    this.list.addEventListener('pointerdown', (event) => event.preventDefault());
    this.element = h('span.adding', {}, this.field, this.list);
  }

  #fill() {
    this.choices = this.find(this.field.value.trim().toLowerCase()).slice(0, MOST);
    this.active = 0;
    const { choices, field, list } = this;
    list.hidden = !choices.length;
    field.setAttribute('aria-expanded', String(choices.length > 0));
    list.replaceChildren(...choices.map((choice, i) => this.#option(choice, i)));
    this.#mark();
  }

  /** @param {Choice} choice @param {number} i */
  #option({ figure, name }, i) {
    const props = { id: `history-choice-${i}`, role: 'option', title: name, onclick: () => this.#choose(i) };
    return h('div', props, h('bdi', {}, listName(name)), h('span.dim', {}, figure));
  }

  #mark() {
    const { active, field, list } = this;
    [...list.children].forEach((option, i) => option.setAttribute('aria-selected', String(i === active)));
    list.children[active]?.scrollIntoView({ block: 'nearest' });
    if (list.hidden) field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', `history-choice-${active}`);
  }

  #close() {
    this.list.hidden = true;
    this.field.setAttribute('aria-expanded', 'false');
    this.field.removeAttribute('aria-activedescendant');
  }

  /** @param {number} i */
  #choose(i) {
    const choice = this.choices[i];
    if (!choice) return;
    this.field.value = '';
    this.#close();
    this.add(choice.key);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key } = event;
    const { length } = this.choices;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === 'ArrowDown' && this.list.hidden) this.#fill();
    else if (key === 'ArrowDown' && length) this.active = (this.active + 1) % length;
    else if (key === 'ArrowUp' && length) this.active = (this.active + length - 1) % length;
    else if (key === 'Enter' && !this.list.hidden) this.#choose(this.active);
    else if (key === 'Escape') {
      if (!this.field.value) this.field.blur();
      this.field.value = '';
      this.#close();
    } else return;
    if (key.startsWith('Arrow')) this.#mark();
    event.preventDefault();
    event.stopPropagation();
  }
}
