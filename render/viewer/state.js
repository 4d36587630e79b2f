// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown, and its short form in the address, so that a link opens the same frame, also in the report of another run.

import { hashHue } from './colour.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./decode.js').Func} Func */

export const DEFAULTS = {
  view: 'diff', // base, head, diff
  tab: 'flame', // flame, timeline, functions
  colour: 'diff', // diff, origin, function, bottleneck
  palette: 'kelvin',
  system: 'show', // show, hide, fold
  reversed: false,
  removed: false,
  inverted: false,
  callers: '', // hash of a function: only its callers
  callees: '', // hash of a function: only what it calls, all its call sites together
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
  colour: ['diff', 'origin', 'function', 'bottleneck'],
  palette: ['kelvin', 'classic', 'codspeed'],
  system: ['show', 'hide', 'fold'],
};

const SHORT = {
  view: 'v',
  tab: 't',
  colour: 'c',
  palette: 'p',
  system: 's',
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

/** @param {string} key */
export function shortHash(key) {
  return Math.floor(hashHue(key) * 4294967296).toString(36);
}

/** The frames from the root to a node. @param {Tree} tree @param {Func[]} functions @param {number} node */
export function pathOf(tree, functions, node) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at]) out.push(shortHash(functions[tree.func[at]].key));
  return out.reverse().join('.');
}

/** The node at a path, or as far as it goes. @param {Tree} tree @param {Func[]} functions @param {string} path */
export function nodeAt(tree, functions, path) {
  let node = 0;
  if (!path) return 0;
  for (const step of path.split('.')) {
    let found = -1;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
      if (shortHash(functions[tree.func[child]].key) === step) {
        found = child;
        break;
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
