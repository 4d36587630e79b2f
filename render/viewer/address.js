// SPDX-License-Identifier: GPL-3.0-or-later
// The state in the address of the page and in the history of the window.

import { fromHash, toHash } from './state.js';

/** @typedef {import('./state.js').State} State */

export class Address {
  #defaults;
  #changed;
  /** @type {{state: State, replace: boolean}|null} a state that is not written yet */
  #due = null;

  /**
   * @param {State} defaults what an empty address stands for
   * @param {(state: State) => void} changed somebody else changed the address
   */
  constructor(defaults, changed) {
    this.#defaults = defaults;
    this.#changed = changed;
    window.addEventListener('popstate', () => this.#reread());
    window.addEventListener('hashchange', () => this.#hashChanged());
    /** The state of the address when it was last read or written. */ this.last = this.#read();
  }

  /** The state that the address tells. */
  #read() {
    return fromHash(location.hash, this.#defaults);
  }

  #reread() {
    this.#due = null;
    this.last = this.#read();
    this.#changed(this.last);
  }

  #hashChanged() {
    if (!this.#due && location.hash.slice(1) !== toHash(this.last, this.#defaults)) this.#reread();
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
    if (!this.#due) return;
    const { state, replace } = this.#due;
    this.#due = null;
    this.last = state;
    const hash = `#${toHash(state, this.#defaults)}`;
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
