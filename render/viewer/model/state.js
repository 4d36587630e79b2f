// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown, and its short form in the address. A link opens the same frame also in the report of another run.

import { hashOf } from '../data/hash.js';

/** @typedef {import('../data/tree.js').FrameTree} FrameTree */

/** What names a function in a path. @typedef {{key: string, isProcess?: boolean}} Named */

export const DEFAULTS = {
  view: 'diff',
  tab: 'flame',
  colour: 'diff',
  palette: 'kelvin',
  metric: '', // name of a metric; the tested one when empty
  system: 'show',
  interrupts: 'show', // without system frames there are none
  interpreter: 'function', // whose time that of an interpreter's frames is
  reversed: false,
  removed: false,
  inverted: false,
  order: '', // of siblings; what suits the tree when empty
  trunks: true, // runs of frames with nearly the same time have one row
  flipped: false, // the root at the bottom
  callers: '', // hash of a function whose callers are shown; with the same in callees, both around it
  callees: '', // hash of a function whose callees are shown, from all its call sites
  filters: '', // what is kept and merged, as `filters.js` writes it
  processes: true, // processes are the first row, where there are several
  thread: '',
  range: /** @type {number[]|null} */ (null),
  search: '',
  picked: '', // hash of a function whose frames are all marked
  origins: '', // numbers of the origins that are marked, as digits
  states: '', // numbers of the verdicts that are marked, as digits
  bottlenecks: '', // numbers of the bottlenecks that are marked, as digits
  source: '', // hash of the function whose lines are shown
  line: '', // the line that keys are about, as `lines.js` writes it
  inlined: 'file', // whose self time that of inlined code is: of its own file's lines, or of the line it is called at
  zoom: '', // path of the frame that fills the width
  selected: '', // path of the selected frame
};
/** @typedef {typeof DEFAULTS} State */
/** @typedef {Partial<State>} Change */

/** What a choice resets, because a path into another tree means nothing. */
export const OTHER_TREE = { zoom: '', selected: '' };
export const OTHER_ROOT = { ...OTHER_TREE, callers: '', callees: '' };
/** Nothing is marked in the legend. */
export const NO_MARKS = { origins: '', states: '', bottlenecks: '' };

/**
 * The parts of a state in an address: their names there, and for choices all values; another value is not obeyed.
 * @type {Record<keyof State, string[]>}
 */
const IN_ADDRESS = {
  view: ['v', 'base', 'head', 'diff'],
  tab: ['t', 'flame', 'timeline', 'functions'],
  colour: ['c', 'diff', 'origin', 'function', 'waiting', 'bottleneck'],
  palette: ['p', 'kelvin', 'classic', 'codspeed'],
  metric: ['m'],
  system: ['s', 'show', 'hide', 'fold'],
  interrupts: ['n', 'show', 'fold'],
  interpreter: ['y', 'function', 'apart'],
  reversed: ['r'],
  removed: ['e'],
  inverted: ['i'],
  order: ['d', 'name', 'size', 'change'],
  trunks: ['tr'],
  flipped: ['b'],
  callers: ['k'],
  callees: ['l'],
  filters: ['w'],
  processes: ['j'],
  thread: ['h'],
  range: ['g'],
  search: ['q'],
  picked: ['u'],
  origins: ['o'],
  states: ['a'],
  bottlenecks: ['x'],
  source: ['sl'],
  line: ['ln'],
  inlined: ['li', 'file', 'call'],
  zoom: ['z'],
  selected: ['f'],
};

/** Before the first step of a path that leads up, from a function to its callers, where there are callees too. */
const UPWARD = '~';

/** Before the step of a path that is a process: a tree without rows of processes has no such step. */
const PROCESS = '!';

/** What an address says of the defaults, where one that says nothing stands for another state. */
export const WHOLE = 'z=';

/** The path of the root as a selection. An empty path stands for no selection. */
export const ROOT = '.';

/**
 * The frames from the root to a node as a text.
 * @param {FrameTree} tree @param {Named[]} functions @param {number} node
 */
export function pathOf(tree, functions, node) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at])
    out.push((at === tree.twin ? UPWARD : '') + stepOf(functions[tree.func[at]]));
  return out.reverse().join('.');
}

/** The step of a path that a function is. @param {Named} f */
const stepOf = (f) => (f.isProcess ? PROCESS : '') + hashOf(f);

/**
 * The child of a node that a step leads to, or -1.
 * @param {FrameTree} tree @param {Named[]} functions @param {number} node @param {string} step
 */
function childAt(tree, functions, node, step) {
  for (let child = tree.first(node); child >= 0; child = tree.next(child))
    if (stepOf(functions[tree.func[child]]) === step) return child;
  return -1;
}

/**
 * Follows a path as far as it leads.
 * @param {FrameTree} tree @param {Named[]} functions @param {number} node where it begins @param {string[]} steps
 * @returns {{node: number, left: number}} where it ends, and how many steps are left there
 */
function follow(tree, functions, node, steps) {
  for (const [i, step] of steps.entries()) {
    const isUpward = tree.twin && node === 0 && step[0] === UPWARD;
    const found = isUpward ? tree.twin : childAt(tree, functions, node, step);
    if (found < 0) return { node, left: steps.length - i };
    node = found;
  }
  return { node, left: 0 };
}

/**
 * Where a path leads: the node at its end, or where it leaves the tree, and how many of its steps are left there. A path
 * from a tree without rows of processes begins below the one where it leads furthest.
 * @param {FrameTree} tree @param {Named[]} functions @param {string} path @returns {{node: number, left: number}}
 */
export function pathEnd(tree, functions, path) {
  if (!path || path === ROOT) return { node: 0, left: 0 };
  const steps = path.split('.');
  let best = follow(tree, functions, 0, steps);
  if (best.node !== 0) return best;
  if (steps[0][0] === PROCESS) return follow(tree, functions, 0, steps.slice(1));
  for (let child = tree.first(0); child >= 0; child = tree.next(child)) {
    const found = functions[tree.func[child]].isProcess ? follow(tree, functions, child, steps) : best;
    if (found.left < best.left) best = found;
  }
  return best;
}

/** The node that a path leads to, as far as it leads. @param {FrameTree} tree @param {Named[]} functions @param {string} path */
export const nodeAt = (tree, functions, path) => pathEnd(tree, functions, path).node;

/** The hash of the function at the end of a path; empty for none. @param {string} path */
export function functionIn(path) {
  const step = path.slice(path.lastIndexOf('.') + 1);
  return step[0] === PROCESS ? '' : step.replace(UPWARD, '');
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
  for (const [name, [short]] of Object.entries(IN_ADDRESS)) {
    const key = /** @type {keyof State} */ (name);
    if (JSON.stringify(state[key]) === JSON.stringify(defaults[key])) continue;
    out.push(`${short}=${encodeURIComponent(valueText(state[key]))}`);
  }
  return out.join('&');
}

/**
 * A part of a state from its text; undefined where the text is none of its values.
 * @param {keyof State} name @param {string} text
 */
function parsed(name, text) {
  if (name === 'range') {
    const range = text.split('-').map(Number);
    return range.length === 2 && range[0] < range[1] ? range : undefined;
  }
  const [, ...choices] = IN_ADDRESS[name];
  if (choices.length && !choices.includes(text)) return undefined;
  return typeof DEFAULTS[name] === 'boolean' ? text === '1' : text;
}

/**
 * The state of a short form; what is wrong in it is left out.
 * @param {string} hash @param {State} defaults @returns {State}
 */
export function fromHash(hash, defaults) {
  const state = { ...defaults };
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    const names = /** @type {(keyof State)[]} */ (Object.keys(IN_ADDRESS));
    const name = names.find((one) => IN_ADDRESS[one][0] === part.slice(0, at));
    if (at < 0 || !name) continue;
    try {
      const value = parsed(name, decodeURIComponent(part.slice(at + 1)));
      if (value !== undefined) Object.assign(state, { [name]: value });
    } catch {
      // A part that cannot be decoded is left out.
    }
  }
  return state;
}
