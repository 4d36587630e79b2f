// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown, and its short form in the address, so that a link opens the same frame, also in the report of another run.

import { hashOf } from './symbols.js';

/** @typedef {import('./layout.js').AnyTree} AnyTree */
/** @typedef {import('./symbols.js').Func} Func */

export const DEFAULTS = {
  view: 'diff', // base, head, diff
  tab: 'flame', // flame, timeline, functions
  colour: 'diff', // diff, origin, function
  palette: 'kelvin',
  metric: '', // name of a value type; the tested one when empty
  system: 'show', // show, hide, fold
  interrupts: 'show', // show, fold; they go with the system frames where these are not shown
  reversed: false,
  removed: false,
  inverted: false,
  callers: '', // hash of a function: its callers; with the same in callees, both around it
  callees: '', // hash of a function: what it calls, all its call sites together
  thread: '',
  range: /** @type {number[]|null} */ (null),
  search: '',
  picked: '', // hash of a function: all its frames are marked
  origins: '', // origins marked, as digits
  states: '', // verdicts marked, as digits
  zoom: '', // path
  selected: '',
};
/** @typedef {typeof DEFAULTS} State */

/** What a choice may be; anything else in an address is not taken. @type {Record<string, string[]>} */
const CHOICES = {
  view: ['base', 'head', 'diff'],
  tab: ['flame', 'timeline', 'functions'],
  colour: ['diff', 'origin', 'function'],
  palette: ['kelvin', 'classic', 'codspeed'],
  system: ['show', 'hide', 'fold'],
  interrupts: ['show', 'fold'],
};

const SHORT = {
  view: 'v',
  tab: 't',
  colour: 'c',
  palette: 'p',
  metric: 'm',
  system: 's',
  interrupts: 'n',
  reversed: 'r',
  removed: 'e',
  inverted: 'i',
  callers: 'k',
  callees: 'l',
  thread: 'h',
  range: 'g',
  search: 'q',
  picked: 'u',
  origins: 'o',
  states: 'a',
  zoom: 'z',
  selected: 'f',
};

/** Before the first step of a path that leads up, from a function to its callers, where there are callees too. */
const UPWARD = '~';

/** The frames from the root to a node. @param {AnyTree} tree @param {Func[]} functions @param {number} node */
export function pathOf(tree, functions, node) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at]) out.push((at === tree.twin ? UPWARD : '') + hashOf(functions[tree.func[at]]));
  return out.reverse().join('.');
}

/** The node at a path, or as far as it goes. @param {AnyTree} tree @param {Func[]} functions @param {string} path */
export function nodeAt(tree, functions, path) {
  let node = 0;
  if (!path) return 0;
  for (const step of path.split('.')) {
    let found = -1;
    if (tree.twin && node === 0 && step[0] === UPWARD) {
      found = tree.twin;
    } else {
      for (let child = tree.first(node); child >= 0 && found < 0; child = tree.next(child))
        if (hashOf(functions[tree.func[child]]) === step) found = child;
    }
    if (found < 0) return node;
    node = found;
  }
  return node;
}

/** @param {State} state @param {Partial<State>} defaults */
export function toHash(state, defaults) {
  const out = [];
  for (const [name, short] of Object.entries(SHORT)) {
    const value = /** @type {any} */ (state)[name];
    const usual = /** @type {any} */ (defaults)[name];
    if (JSON.stringify(value) === JSON.stringify(usual)) continue;
    const text = Array.isArray(value)
      ? value.map((v) => Math.round(v)).join('-')
      : value === true
        ? '1'
        : value === false
          ? '0'
          : String(value ?? '');
    out.push(`${short}=${encodeURIComponent(text)}`);
  }
  return out.join('&');
}

/** @param {string} hash @param {State} defaults @returns {State} */
export function fromHash(hash, defaults) {
  const state = { ...defaults };
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    const entry = Object.entries(SHORT).find(([, short]) => short === part.slice(0, at));
    if (at < 0 || !entry) continue;
    let text;
    try {
      text = decodeURIComponent(part.slice(at + 1));
    } catch {
      continue;
    }
    const usual = /** @type {any} */ (DEFAULTS)[entry[0]];
    const value = entry[0] === 'range' ? text.split('-').map(Number) : typeof usual === 'boolean' ? text === '1' : text;
    if (entry[0] === 'range' && (!Array.isArray(value) || value.length !== 2 || !(value[0] < value[1]))) continue;
    if (CHOICES[entry[0]] && !CHOICES[entry[0]].includes(text)) continue;
    /** @type {any} */ (state)[entry[0]] = value;
  }
  return state;
}
