// SPDX-License-Identifier: GPL-3.0-or-later
// The regular expression of a search. It may come from a link, and some expressions keep the browser's engine busy for
// ever: those are tried in a worker, which can be stopped.

/** How long all names together may take on the page itself, where nothing can be stopped. */
const BUDGET_MS = 60;
/** How long a worker may take. */
const LIMIT_MS = 2000;
/** An expression with more of these may try every way to split a name. */
const MOST_REPEATS = 1;
const MOST_OPTIONS = 3;
const MOST_BRANCHES = 6;
/** How many letters are searched between two looks at the clock, at most. */
const BETWEEN_LOOKS = 4096;

/** Whether an expression takes time in proportion to a name, or little more. @param {string} source */
export function isSimple(source) {
  const bare = source.replace(/\\[^1-9k]/g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/\\|\(\?[=!<]|\)[*+{]/.test(bare)) return false;
  const repeats = bare.match(/[*+]|\{/g) || [];
  const options = bare.match(/(?<!\()\?/g) || [];
  const branches = bare.includes('(') ? bare.match(/\|/g) || [] : [];
  return repeats.length <= MOST_REPEATS && options.length <= MOST_OPTIONS && branches.length <= MOST_BRANCHES;
}

/**
 * An expression with its flags, and what is wrong with the text that it was made from.
 * @typedef {{source: string, flags: string, error: string}} Pattern
 */

/**
 * The expression for a text; a text without capital letters matches both cases.
 * @param {string} text @returns {Pattern}
 */
export function patternOf(text) {
  const flags = /[A-Z]/.test(text) ? '' : 'i';
  try {
    new RegExp(text, flags);
    return { source: text, flags, error: '' };
  } catch {
    const source = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return { source, flags, error: 'not a regular expression: searched as plain text' };
  }
}

/** What of a function a search looks at. @typedef {'name'|'module'|'file'} Part */

/** Where a text without a prefix is looked for: in the first of these parts that has it. @type {Part[]} */
const PARTS = ['name', 'module', 'file'];

/** What follows `.so` in the name of a library's file, in an expression: modules have no version. */
const VERSION = /(?<=\.so)(\\?\.\d+)+(?=\$?$)/;

/**
 * The part of functions that a text names before a colon, and the text without that; a text without such a word is
 * looked for in all parts.
 * @param {string} text @returns {{parts: Part[], rest: string}}
 */
export function partsOf(text) {
  const [, word, rest] = /^(module|file):\s*(.*)$/s.exec(text) || [];
  return word ? { parts: [/** @type {Part} */ (word)], rest } : { parts: PARTS, rest: text };
}

/**
 * The expression for a text that is looked for in a part: `libc.so.6` is the file of the module `libc.so`.
 * @param {string} text @param {Part} part
 */
export const patternIn = (text, part) => patternOf(part === 'module' ? text.replace(VERSION, '') : text);

/**
 * Which functions match with one of their texts, as 1 by function; null where that takes too long.
 * @template T
 * @param {{source: string, flags: string}} pattern @param {T[]} functions @param {(f: T) => string[]} textsOf
 * @param {number} [budget] how long it may take, in milliseconds
 */
export function matchAll({ source, flags }, functions, textsOf, budget = BUDGET_MS) {
  if (!isSimple(source)) return null;
  const expression = new RegExp(source, flags);
  const hits = new Uint8Array(functions.length);
  const end = Date.now() + budget;
  let letters = 0;
  for (let i = 0; i < functions.length; i++) {
    for (const text of textsOf(functions[i])) {
      if (text && expression.test(text)) hits[i] = 1;
      letters += text.length;
    }
    if (letters < BETWEEN_LOOKS) continue;
    letters = 0;
    if (Date.now() > end) return null;
  }
  return hits;
}

/** The program of the worker. It receives the texts of all functions, then an expression. */
const WORKER = `let names;
onmessage = ({ data }) => {
  if (data.names) { names = data.names; return; }
  const expression = new RegExp(data.source, data.flags);
  const hits = new Uint8Array(names.length);
  names.forEach((texts, i) => { if (texts.some((text) => text && expression.test(text))) hits[i] = 1; });
  postMessage(hits);
};`;

/** Runs searches that may take long, one at a time, in a worker. */
export class Searcher {
  /** @param {(part: Part) => string[][]} textsOf the texts that each function has of a part */
  constructor(textsOf) {
    this.textsOf = textsOf;
    /** @type {Worker|null} */ this.worker = null;
    this.timer = 0;
  }

  stop() {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
  }

  /**
   * @param {{source: string, flags: string}} pattern @param {Part} part
   * @param {(hits: Uint8Array|null, error: string) => void} done
   */
  run({ source, flags }, part, done) {
    this.stop();
    const fail = (/** @type {string} */ why) => {
      this.stop();
      done(null, why);
    };
    const url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));
    try {
      this.worker = new Worker(url);
    } catch {
      return fail('this browser cannot run such a complex expression');
    }
    URL.revokeObjectURL(url);
    this.timer = window.setTimeout(() => fail(`too slow: stopped after ${LIMIT_MS / 1000} s`), LIMIT_MS);
    this.worker.onerror = () => fail('this browser cannot run such a complex expression');
    this.worker.onmessage = ({ data }) => {
      clearTimeout(this.timer);
      done(data, '');
    };
    this.worker.postMessage({ names: this.textsOf(part) });
    this.worker.postMessage({ source, flags });
  }
}
