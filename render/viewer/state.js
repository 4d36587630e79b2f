// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown, and its short form in the address. A link opens the same frame also in the report of another run.

import { hashOf } from './hash.js';

/** @typedef {import('./tree.js').FrameTree} FrameTree */

export const DEFAULTS = {
  view: 'diff', // base, head, diff
  tab: 'flame', // flame, timeline, functions
  colour: 'diff', // diff, origin, function
  palette: 'kelvin',
  metric: '', // name of a metric; the tested one when empty
  system: 'show', // show, hide, fold
  interrupts: 'show', // show, fold; without system frames there are none
  reversed: false,
  removed: false,
  inverted: false,
  callers: '', // hash of a function whose callers are shown; with the same in callees, both around it
  callees: '', // hash of a function whose callees are shown, from all its call sites
  thread: '',
  range: /** @type {number[]|null} */ (null),
  search: '',
  picked: '', // hash of a function whose frames are all marked
  origins: '', // numbers of the origins that are marked, as digits
  states: '', // numbers of the verdicts that are marked, as digits
  zoom: '', // path of the frame that fills the width
  selected: '', // path of the selected frame
};
/** @typedef {typeof DEFAULTS} State */
/** @typedef {Partial<State>} Change */

/** The values of choices; an address with another value is not obeyed. @type {Record<string, string[]>} */
const CHOICES = {
  view: ['base', 'head', 'diff'],
  tab: ['flame', 'timeline', 'functions'],
  colour: ['diff', 'origin', 'function'],
  palette: ['kelvin', 'classic', 'codspeed'],
  system: ['show', 'hide', 'fold'],
  interrupts: ['show', 'fold'],
};

/** The names of the parts of a state in an address. @type {Record<keyof State, string>} */
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

/** The path of the root as a selection. An empty path stands for no selection. */
export const ROOT = '.';

/**
 * The frames from the root to a node as a text.
 * @param {FrameTree} tree @param {{key: string}[]} functions @param {number} node
 */
export function pathOf(tree, functions, node) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at])
    out.push((at === tree.twin ? UPWARD : '') + hashOf(functions[tree.func[at]]));
  return out.reverse().join('.');
}

/**
 * The node at the end of a path, or where the path leaves the tree.
 * @param {FrameTree} tree @param {{key: string}[]} functions @param {string} path
 */
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

/** A value as a text. @param {State[keyof State]} value */
function valueText(value) {
  if (Array.isArray(value)) return value.map((v) => Math.round(v)).join('-');
  if (typeof value === 'boolean') return value ? '1' : '0';
  return value ?? '';
}

/** The short form of a state: what differs from the defaults. @param {State} state @param {State} defaults */
export function toHash(state, defaults) {
  const out = [];
  for (const [name, short] of Object.entries(SHORT)) {
    const key = /** @type {keyof State} */ (name);
    if (JSON.stringify(state[key]) === JSON.stringify(defaults[key])) continue;
    out.push(`${short}=${encodeURIComponent(valueText(state[key]))}`);
  }
  return out.join('&');
}

/**
 * A part of a state from its text; undefined where the text is none of its values.
 * @param {string} name @param {string} text
 */
function parsed(name, text) {
  if (name === 'range') {
    const range = text.split('-').map(Number);
    return range.length === 2 && range[0] < range[1] ? range : undefined;
  }
  if (CHOICES[name] && !CHOICES[name].includes(text)) return undefined;
  return typeof DEFAULTS[/** @type {keyof State} */ (name)] === 'boolean' ? text === '1' : text;
}

/**
 * The state of a short form; what is wrong in it is left out.
 * @param {string} hash @param {State} defaults @returns {State}
 */
export function fromHash(hash, defaults) {
  const state = { ...defaults };
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    const entry = Object.entries(SHORT).find(([, short]) => short === part.slice(0, at));
    if (at < 0 || !entry) continue;
    try {
      const value = parsed(entry[0], decodeURIComponent(part.slice(at + 1)));
      if (value !== undefined) Object.assign(state, { [entry[0]]: value });
    } catch {
      // A part that cannot be decoded is left out.
    }
  }
  return state;
}
