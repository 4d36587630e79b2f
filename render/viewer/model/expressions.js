// SPDX-License-Identifier: GPL-3.0-or-later
// Which functions the expressions of filters mean: those that a search would find by the same text. An expression may come
// from a link, and what could take for ever is tried apart.

import { textsOf } from './names.js';
import { matchAll, partsOf, patternIn } from './pattern.js';

/** @typedef {import('./pattern.js').Part} Part */
/** @typedef {import('./pattern.js').Pattern} Pattern */
/** @typedef {import('../data/symbols.js').Func} Func */

/** What an expression means: functions, as 1 by function; null and the reason where that is not to be known. @typedef {{hits: Uint8Array|null, error: string}} Found */

/** The texts that an expression is compared with: no row of a process is a function. @param {Func} f @param {Part} part */
export const comparedTexts = (f, part) => (f.isProcess ? [] : textsOf(f, part));

export class Expressions {
  /** @param {Func[]} functions */
  constructor(functions) {
    this.functions = functions;
    /** @type {Map<string, Found>} by expression */ this.known = new Map();
    /** Expressions that take too long to be tried here. @type {Set<string>} */ this.slow = new Set();
    /** How many of these have been answered. */ this.answers = 0;
    /** @type {((pattern: Pattern, part: Part, done: (hits: Uint8Array|null, error: string) => void) => void)|null} */
    this.runApart = null;
  }

  /** What an expression means; undefined while that is not known. @param {string} text @returns {Found|undefined} */
  find(text) {
    const known = this.known.get(text);
    if (known || this.slow.has(text)) return known;
    const { part, pattern } = this.#read(text);
    // Where nothing runs apart, nobody waits for a picture.
    const hits = matchAll(pattern, this.functions, (f) => comparedTexts(f, part), this.runApart ? undefined : Infinity);
    if (hits) return this.#note(text, hits, '');
    this.slow.add(text);
    return undefined;
  }

  /** @param {string} text */
  #read(text) {
    const { parts, rest } = partsOf(text);
    return { part: parts[0], pattern: patternIn(rest, parts[0]) };
  }

  /** @param {string} text @param {Uint8Array|null} hits @param {string} error @returns {Found} */
  #note(text, hits, error) {
    const found = { hits: hits && this.#withLaterNames(hits), error };
    this.known.set(text, found);
    return found;
  }

  /** A function that was renamed is one, so that both its names are meant. @param {Uint8Array} hits */
  #withLaterNames(hits) {
    const out = hits.slice();
    for (const f of this.functions) if (hits[f.id] && f.movedTo >= 0) out[f.movedTo] = 1;
    return out;
  }

  /** Those of some expressions that `find` does not answer before `read` has. @param {string[]} texts */
  unknown(texts) {
    return texts.filter((text) => !this.find(text));
  }

  /** Tries expressions apart, one after another. @param {string[]} texts */
  async read(texts) {
    for (const text of this.unknown(texts)) {
      const { part, pattern } = this.#read(text);
      await new Promise((/** @type {(_: void) => void} */ resolve) =>
        this.runApart?.(pattern, part, (hits, error) => {
          this.#note(text, hits, error);
          this.answers++;
          resolve();
        }),
      );
    }
  }
}
