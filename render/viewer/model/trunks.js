// SPDX-License-Identifier: GPL-3.0-or-later
// Trunks: runs of frames that are drawn in one row. Where a program has not branched yet, or an interpreter takes many
// calls for one of the program's, each frame has nearly all the time of the one above it, and a row for each would
// push what differs off the screen. The last frame of a run, below which the time parts, keeps its own row. What other
// frames of the run call is drawn in the row below the trunk, at its own place.

import { LIBRARY, STATES, SYSTEM } from '../data/codes.js';
import { count, listName, shorterNames } from '../common/format.js';
import { interprets } from './interpreter.js';
import { PROVEN, selfStatesOf } from '../data/symbols.js';

/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */
/** @typedef {import('../data/tree.js').Trunks} Trunks */

/** A frame of a run has this part of the time of its first frame at least, on each side that has any. */
const NEARLY_ALL = 0.95;
/** Fewer frames than these are no trunk. */
const LEAST_FRAMES = 4;
/**
 * Marks of frames in runs: those that have no row of their own; the last one, which has one and begins no other run; the
 * outermost one, whose box stands for the run.
 */
const INNER = 1;
const LAST = 2;
const OUTER = 3;
/**
 * The functions whose frames are never part of a trunk, as 1 by function: those with a proven change of their own, and
 * rows of processes.
 * @param {Func[]} functions
 */
export function neverFolded(functions) {
  const states = selfStatesOf(functions);
  return Uint8Array.from(functions, (f, id) => (PROVEN.has(states[id]) || f.isProcess ? 1 : 0));
}

/**
 * The callee that has nearly all the time of each node, or 0, and how many such steps follow from there.
 * @param {Tree} tree
 */
function stepsOf({ count: nodes, parent, total: [base, head] }) {
  const next = new Int32Array(nodes);
  const left = new Uint16Array(nodes);
  for (let node = nodes - 1; node > 0; node--) {
    const above = parent[node];
    if (head[node] < NEARLY_ALL * head[above] || base[node] < NEARLY_ALL * base[above]) continue;
    next[above] = node;
    left[above] = left[node] + 1;
  }
  return { next, left };
}

/**
 * The trunks of a call tree; null where there are none. A run goes on from a frame to the one that it calls for nearly
 * all of the time, as long as the verdict on it is the same, so that the colour of a trunk is that of all its frames.
 * @param {Tree} tree @param {Uint8Array} never 1 for each function whose frames are never part of a trunk
 * @returns {Trunks|null}
 */
export function trunksOf(tree, never) {
  const { count: nodes, func, parent, state, total } = tree;
  const [base, head] = total;
  const { next, left } = stepsOf(tree);
  const verdicts = Uint8Array.from(STATES, (_, verdict) => (PROVEN.has(verdict) ? verdict : 0));
  const marks = new Uint8Array(nodes);
  let some = false;
  for (let node = 1; node < nodes; node++) {
    if (left[node] < LEAST_FRAMES || marks[node] || never[func[node]] || !(base[node] + head[node] > 0)) continue;
    const verdict = verdicts[state[node]];
    const [least0, least1] = [NEARLY_ALL * base[node], NEARLY_ALL * head[node]];
    let last = node;
    let frames = 0;
    for (let at = next[node]; at && !never[func[at]] && verdicts[state[at]] === verdict; at = next[at], frames++) {
      if (base[at] < least0 || head[at] < least1) break;
      last = at;
    }
    if (frames < LEAST_FRAMES) continue;
    some = true;
    marks[node] = OUTER;
    for (let at = last; at !== node; at = parent[at]) marks[at] = at === last ? LAST : INNER;
  }
  return some ? { rows: rowsOf(tree, marks), marks, next } : null;
}

/** The row of each node. @param {Tree} tree @param {Uint8Array} marks */
function rowsOf({ count: nodes, parent }, marks) {
  const rows = new Uint16Array(nodes);
  for (let node = 1; node < nodes; node++) rows[node] = rows[parent[node]] + (marks[node] === INNER ? 0 : 1);
  return rows;
}

/** Whether a frame has no row of its own. @param {FrameTree} tree @param {number} node */
const isInner = ({ trunks }, node) => !!trunks && trunks.marks[node] === INNER;

/** Whether a box stands for several frames. @param {FrameTree} tree @param {number} node */
export const isTrunk = ({ trunks }, node) => !!trunks && trunks.marks[node] === OUTER;

/**
 * Whether a node has a box: inner frames of trunks have none, and a function has one between its callers and callees.
 * @param {FrameTree} tree @param {number} node
 */
export const hasBox = (tree, node) => !isInner(tree, node) && !(tree.twin && node === tree.twin);

/** The outermost frame of the trunk that a frame is in, or the frame. @param {FrameTree} tree @param {number} node */
function outermostOf(tree, node) {
  while (isInner(tree, node)) node = tree.parent[node];
  return node;
}

/** The node whose box stands for a node. @param {FrameTree} tree @param {number} node */
export const shownAs = (tree, node) => (tree.twin && node === tree.twin ? 1 : outermostOf(tree, node));

/** The frames that the box of a node stands for, the outermost first. @param {FrameTree} tree @param {number} node */
export function framesIn(tree, node) {
  const { trunks } = tree;
  const frames = [outermostOf(tree, node)];
  if (trunks)
    for (let at = trunks.next[frames[0]]; trunks.marks[at] === INNER; at = trunks.next[at]) frames.push(at);
  return frames;
}

/** The frames in the row below the box of a node, from left to right. @param {FrameTree} tree @param {number} node */
export function* below(tree, node) {
  /** The siblings after the inner frames whose callees are told, or -1. @type {number[]} */
  const after = [];
  let at = tree.first(outermostOf(tree, node));
  while (at >= 0 || after.length) {
    if (at < 0) at = /** @type {number} */ (after.pop());
    else if (isInner(tree, at)) {
      after.push(tree.next(at));
      at = tree.first(at);
    } else {
      yield at;
      at = tree.next(at);
    }
  }
}

/** What a name begins with that has lost its first parts. */
const SHORTENED = /^…(::)?/;

/** The names at both ends of a list. @param {string[]} names */
const ends = (names) => (names.length > 1 ? `${names[0]} … ${names[names.length - 1]}` : names[0]);

/** The names of trunks by their outermost frames: a picture that moves asks for the same again. */
/** @type {WeakMap<Trunks, Map<number, string[]>>} */
const named = new WeakMap();

/**
 * What the trunk is called that a frame is in, in forms that get shorter; null for a frame with a row of its own.
 * @param {{tree: FrameTree, functions: Func[]}} model @param {number} node
 */
export function trunkNames({ tree, functions }, node) {
  const { trunks } = tree;
  const top = outermostOf(tree, node);
  if (!trunks || !isTrunk(tree, top)) return null;
  const names = named.get(trunks) || new Map();
  named.set(trunks, names);
  if (!names.has(top)) names.set(top, namesFor(tree, functions, top));
  return /** @type {string[]} */ (names.get(top));
}

/** The names of a trunk, by what its frames are. @param {FrameTree} tree @param {Func[]} functions @param {number} top */
function namesFor(tree, functions, top) {
  const all = framesIn(tree, top).map((frame) => functions[tree.func[frame]]);
  const own = all.filter((f) => f.origin !== SYSTEM && !interprets(f));
  const many = `${count(all.length)} frames`;
  if (!own.length) return [`${many} of the ${all.some(interprets) ? 'interpreter' : 'system'}`, many];
  const what = all.every((f) => f.origin === LIBRARY) ? `${many} of libraries` : many;
  const short = own.map((f) => (shorterNames(f.name).pop() || '').replace(SHORTENED, ''));
  return [`${what}: ${ends(own.map((f) => listName(f.name)))}`, `${many}: ${ends(short)}`, many];
}

/**
 * What is said of a frame that shares its row with others: its figures are its own. Empty where it does not.
 * @param {FrameTree} tree @param {number} node
 */
export function rowWords(tree, node) {
  const frames = framesIn(tree, node);
  if (frames.length === 1) return '';
  return `${frames[0] === node ? 'the outermost' : 'one'} of ${count(frames.length)} frames in one row`;
}
