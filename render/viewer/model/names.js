// SPDX-License-Identifier: GPL-3.0-or-later
// What a search finds by the names of functions, their modules and their files.

import { moduleName } from '../common/format.js';
import { matchAll, partsOf, patternIn } from './pattern.js';

/** @typedef {import('./pattern.js').Part} Part */
/** @typedef {import('./pattern.js').Pattern} Pattern */
/** @typedef {import('../data/symbols.js').Func} Func */

/**
 * Receives the functions that a search found, as 1 by function; null and a reason where it failed.
 * @typedef {(hits: Uint8Array|null, error: string) => void} SearchDone
 */

/** What a search reads of a function: its name as shown and in full, its module or its file. @param {Func} f @param {Part} part */
export function textsOf(f, part) {
  if (part === 'name') return f.fullName === f.name ? [f.name] : [f.name, f.fullName];
  return [part === 'module' ? moduleName(f.module) : f.file];
}

export class NameSearch {
  /** @param {Func[]} functions @param {() => void} found a search that took long has found something */
  constructor(functions, found) {
    this.functions = functions;
    this.found = found;
    this.error = '';
    /** The last text, with the part that it was found in; empty where it found no function. */ this.expression = '';
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
    this.error = this.expression = '';
    if (!text) return none.fill(1);
    const { parts, rest } = partsOf(text);
    for (const part of parts) {
      const pattern = patternIn(rest, part);
      this.error = pattern.error;
      const hits = matchAll(pattern, this.functions, (f) => textsOf(f, part));
      if (!hits) return this.#found(text, parts[0], this.#findApart(text, pattern, parts[0]) || none);
      if (!hits.includes(1) && part !== parts[parts.length - 1]) continue;
      return this.#found(text, hits.includes(1) ? part : parts[0], hits);
    }
    return none;
  }

  /**
   * Notes what a text has found, and in which part.
   * @template {Uint8Array} Hits
   * @param {string} text @param {Part} part @param {Hits} hits
   */
  #found(text, part, hits) {
    this.part = part;
    const isFound = this.functions.some((f) => hits[f.id] && !f.isProcess);
    if (isFound) this.expression = part === 'name' || partsOf(text).parts.length === 1 ? text : `${part}:${text}`;
    return hits;
  }

  /**
   * What a search that may take long has found, once it is done.
   * @param {string} text @param {Pattern} pattern @param {Part} part
   */
  #findApart(text, pattern, part) {
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
    if (part === 'name') return [];
    return [...new Set(functions.filter((f) => hits[f.id]).flatMap((f) => textsOf(f, part)))].sort();
  }
}
