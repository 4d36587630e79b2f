// SPDX-License-Identifier: GPL-3.0-or-later
// What a search finds by the names of functions, their modules and their files.

import { moduleName } from '../common/format.js';
import { matchAll, partsOf, patternOf } from './pattern.js';

/** @typedef {import('./pattern.js').Part} Part */
/** @typedef {import('./pattern.js').Pattern} Pattern */
/** @typedef {import('../data/symbols.js').Func} Func */

/**
 * Receives the functions that a search found, as 1 by function; null and a reason where it failed.
 * @typedef {(hits: Uint8Array|null, error: string) => void} SearchDone
 */

/** What a search reads of a function. @param {Func} f @param {Part} part */
export function textOf(f, part) {
  if (part === 'fullName') return f.fullName === f.name ? '' : f.fullName;
  return part === 'module' ? moduleName(f.module) : f[part];
}

export class NameSearch {
  /** @param {Func[]} functions @param {() => void} found a search that took long has found something */
  constructor(functions, found) {
    this.functions = functions;
    this.found = found;
    this.error = '';
    /** What of the functions the last search has found. @type {Part} */ this.part = 'name';
    /** @type {((pattern: Pattern, part: Part, done: SearchDone) => void)|null} runs a search that may never end */
    this.runApart = null;
    /** @type {{text: string, hits: Uint8Array|null, error: string}|null} what such a search found */
    this.foundApart = null;
  }

  /**
   * Which functions a text finds, as 1 by function: by the first of their parts that any of them has it in. None while
   * a search that may take long is running; it looks at one part.
   * @param {string} text
   */
  find(text) {
    const none = new Uint8Array(this.functions.length);
    this.part = 'name';
    this.error = '';
    if (!text) return none.fill(1);
    const { parts, rest } = partsOf(text);
    const pattern = patternOf(rest);
    this.error = pattern.error;
    for (const part of parts) {
      const hits = matchAll(pattern, this.functions, (f) => textOf(f, part));
      if (!hits) return this.#findApart(text, pattern, parts[0]) || none;
      if (!hits.includes(1) && part !== parts[parts.length - 1]) continue;
      this.part = hits.includes(1) ? part : parts[0];
      return hits;
    }
    return none;
  }

  /**
   * What a search that may take long has found, once it is done.
   * @param {string} text @param {Pattern} pattern @param {Part} part
   */
  #findApart(text, pattern, part) {
    this.part = part;
    if (this.foundApart?.text === text) {
      this.error = this.foundApart.error;
      return this.foundApart.hits?.slice();
    }
    this.error = 'searching…';
    this.runApart?.(pattern, part, (hits, error) => {
      this.foundApart = { text, hits, error };
      this.found();
    });
    return null;
  }

  /** The modules or the files of what was found; none where names were. @param {Uint8Array} hits @returns {string[]} */
  texts(hits) {
    const { functions, part } = this;
    if (part === 'name' || part === 'fullName') return [];
    return [...new Set(functions.filter((f) => hits[f.id]).map((f) => textOf(f, part)))].sort();
  }
}
