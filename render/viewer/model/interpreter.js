// SPDX-License-Identifier: GPL-3.0-or-later
// The time of an interpreter's frames as that of the functions that they run. The program does the same for what it
// tests (diff/match/union_tree.c).

import { languagesOf } from '../data/symbols.js';

/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').Tree} Tree */

/** A function's byte of languages: its own below, above it the one that it interprets. */
const INTERPRETS_SHIFT = 4;
const LANGUAGE = 15;

/** Whether a function interprets others. @param {Func} f */
export const interprets = (f) => f.languages >> INTERPRETS_SHIFT > 0;

/** Whether functions of the report interpret others. @param {Func[]} functions */
export function hasInterpreters(functions) {
  return Array.prototype.some.call(languagesOf(functions), (both) => both >> INTERPRETS_SHIFT);
}

/**
 * Self values [base, head] of a tree, with those of an interpreter's frames at the function that they run: the nearest
 * one above of the language that they interpret, if only frames of the interpreter are between.
 * @param {Tree} tree @param {Func[]} functions
 */
export function selfWithInterpreter({ count, func, parent, self }, functions) {
  const languages = languagesOf(functions);
  const owners = new Int32Array(count);
  const out = self.map((side) => Float64Array.from(side));
  for (let i = 1; i < count; i++) {
    const interprets = languages[func[i]] >> INTERPRETS_SHIFT;
    const above = owners[parent[i]];
    owners[i] = i;
    if (!interprets || !above || (languages[func[above]] & LANGUAGE) !== interprets) continue;
    owners[i] = above;
    for (let side = 0; side < 2; side++) {
      out[side][above] += self[side][i];
      out[side][i] = 0;
    }
  }
  return out;
}
