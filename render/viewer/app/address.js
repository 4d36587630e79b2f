// SPDX-License-Identifier: GPL-3.0-or-later
// The state in the address of the page and in the history of the window.

import { fromHash, toHash, WHOLE } from '../model/state.js';

/** @typedef {import('../model/state.js').State} State */

/**
 * The page that a report is a part of, where it is one.
 * @typedef {object} Within
 * @property {string} [kept] what the address says before the state of the report
 * @property {string} [name] what the page is called while the report is open
 * @property {[string, string][]} [keys] what else keys do, for the help
 * @property {{name: string, module: string}} [first] the function that the report opens at, where its address says nothing
 * @property {AbortSignal} [until] the report is taken off the page: it does nothing from then on
 */

export class Address {
  #defaults;
  #changed;
  #kept;
  #until;
  /** @type {{state: State, replace: boolean}|null} a state that is not written yet */
  #due = null;
  /** @type {State|null} what an address stands for that says nothing, where that is not the defaults */
  #opening = null;

  /**
   * @param {State} defaults what an address stands for where it says nothing
   * @param {(state: State) => void} changed somebody else changed the address
   * @param {Within} within
   */
  constructor(defaults, changed, { kept = '', until }) {
    this.#defaults = defaults;
    this.#changed = changed;
    this.#kept = kept;
    this.#until = until;
    window.addEventListener('popstate', () => this.#reread(), { signal: until });
    window.addEventListener('hashchange', () => this.#hashChanged(), { signal: until });
    /** The state of the address when it was last read or written. */ this.last = this.#read();
  }

  /** The state that the address tells. */
  #read() {
    return fromHash(location.hash, this.#defaults);
  }

  /** What the address of a state says. @param {State} state */
  #text(state) {
    const text = toHash(state, this.#defaults);
    const opening = this.#opening ? toHash(this.#opening, this.#defaults) : '';
    const said = opening && text === opening ? '' : text || (opening && WHOLE);
    return [this.#kept, said].filter(Boolean).join('&');
  }

  /** Whether it says nothing of the state. */
  get isEmpty() {
    return location.hash.slice(1) === this.#kept;
  }

  /** From now on an address that says nothing stands for a state. @param {State} state */
  opensAs(state) {
    this.last = this.#opening = state;
  }

  #reread() {
    this.#due = null;
    this.last = this.#read();
    this.#changed(this.last);
  }

  #hashChanged() {
    if (!this.#due && location.hash.slice(1) !== this.#text(this.last)) this.#reread();
  }

  /**
   * Notes a state to be written. Writing takes longer than drawing, so that it waits for `write`. A state that makes no
   * step takes the place of one that waits.
   * @param {State} state @param {boolean} replace whether the state makes no step in the history
   */
  note(state, replace) {
    if (replace && this.#due) {
      this.#due.state = state;
      return;
    }
    this.write();
    this.#due = { state, replace };
  }

  /** Writes the state that was noted. */
  write() {
    if (!this.#due || this.#until?.aborted) return;
    const { state, replace } = this.#due;
    this.#due = null;
    this.last = state;
    const hash = `#${this.#text(state)}`;
    if (hash === (location.hash || '#')) return;
    if (replace) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
  }

  /** Returns to the state before this one. */
  back() {
    this.write();
    history.back();
  }
}
