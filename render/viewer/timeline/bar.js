// SPDX-License-Identifier: GPL-3.0-or-later
// The bar of the timeline: the range of time, which can be typed, the thread, and what the lanes show.

import { h, renew } from '../common/dom.js';
import { Memo } from '../common/memo.js';
import { parseRange, RANGE_EXAMPLES, rangeText } from '../common/timerange.js';
import { select } from '../common/widgets.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../common/widgets.js').Options} Options */

export class TimelineBar {
  /** @param {(change: Change) => void} set changes the state @param {() => number} end of the whole time */
  constructor(set, end) {
    this.set = set;
    this.end = end;
    /** @type {string|null} what the field shows of the state that was last drawn */ this.told = null;
    this.memo = new Memo();
    /** Whether the field gets the focus when it is shown. */ this.isWanted = false;
    this.field = h('input', {
      type: 'text',
      spellcheck: false,
      autocomplete: 'off',
      title: `a range of time (T): ${RANGE_EXAMPLES}`,
      placeholder: '2s-3s',
      'aria-label': 'Time',
      'aria-describedby': 'time-error',
      onchange: () => this.#typed(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e),
    });
    this.error = h('span.wrong', { id: 'time-error', role: 'alert' });
    this.threads = h('span.pieces');
    this.rest = h('span.pieces');
    this.element = h('div.caption', {}, h('label', {}, 'Time ', this.field), this.error, this.threads, this.rest);
  }

  /** Selects what was typed, or says what is wrong with it. */
  #typed() {
    if (this.field.value === this.told) return;
    const { range, error = '' } = parseRange(this.field.value, this.end());
    this.#complain(error);
    if (range !== undefined) this.set({ range });
    // What means the same range is written in the usual form.
    if (!error) this.field.value = this.told || '';
  }

  /** Escape takes back what was typed. @param {KeyboardEvent} e */
  #key(e) {
    if (e.key !== 'Escape') return;
    this.field.value = this.told || '';
    this.#complain('');
  }

  /** @param {string} error */
  #complain(error) {
    this.error.textContent = error;
    this.field.setAttribute('aria-invalid', String(!!error));
  }

  /** Puts the cursor into the field as soon as that is shown. */
  focus() {
    this.isWanted = true;
  }

  /**
   * Shows a state, with a text and buttons about the lanes.
   * @param {State} state @param {Options} threads to choose from
   * @param {string} about what the text and the buttons depend on @param {() => Child[]} rest makes these
   */
  draw({ range, thread }, threads, about, rest) {
    const told = range ? rangeText(range) : '';
    if (told !== this.told) {
      this.told = this.field.value = told;
      this.#complain('');
    }
    if (this.memo.isNew('threads', threads)) {
      const choose = (/** @type {string} */ name) => this.set({ thread: name, zoom: '' });
      renew(this.threads, [threads.length > 2 && select('Thread', threads, thread, choose)]);
    }
    // The list stays, because somebody may be typing in it.
    const list = this.threads.querySelector('select');
    if (list) list.value = threads.some(([value]) => value === thread) ? thread : '';
    if (this.memo.isNew('rest', about)) renew(this.rest, rest());
    if (!this.isWanted) return;
    this.isWanted = false;
    this.field.focus();
    this.field.select();
  }
}
