// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers what each derived thing was last made from, so that it is made again only when one of these has changed.

export class Memo {
  constructor() {
    /** @type {Map<string, readonly unknown[]>} */ this.sources = new Map();
  }

  /**
   * Whether the sources of a thing are the ones that it was last made from.
   * @param {string} what @param {readonly unknown[]} sources
   */
  holds(what, sources) {
    return sameSources(this.sources.get(what), sources);
  }

  /**
   * Notes the sources of a thing, and tells whether they differ from the last ones.
   * @param {string} what @param {...unknown} sources
   */
  isNew(what, ...sources) {
    if (this.holds(what, sources)) return false;
    this.sources.set(what, sources);
    return true;
  }

  /** The thing must be made again. @param {string} what */
  forget(what) {
    this.sources.delete(what);
  }
}

/** @param {readonly unknown[]|undefined} before @param {readonly unknown[]} now */
export function sameSources(before, now) {
  return !!before && before.every((value, i) => value === now[i]);
}
