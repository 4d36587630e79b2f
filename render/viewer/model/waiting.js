// SPDX-License-Identifier: GPL-3.0-or-later
// What threads wait for. The stack of a wait ends in the frame of its class, "[waiting: lock]", so that the function of
// a frame tells its class (docs/decisions/49-waiting.md). Classes are numbers; 0 is no wait but CPU time.

import { ORIGINS, SYSTEM } from '../data/codes.js';
import { hasFilter, withFilter, withoutFilter } from './filters.js';
import { hashOf } from '../data/hash.js';

/** @typedef {import('../data/decode.js').Releases} Releases */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').Shades} Shades */
/** @typedef {import('../data/tree.js').Tree} Tree */

/** How many strengths of the colour of a class are told apart. */
export const LEVELS = 15;
/** How many classes sums have room for, with CPU time: a shade, which is a byte, tells so many apart. */
export const CLASSES = 256 / (LEVELS + 1);
/** The sign before the name of a frame that is a wait and no code. */
export const WAIT_SIGN = '‖';

/**
 * The class of each function, 0 for all code; null in a report without waits.
 * @param {{frames: [number, number][]}|null|undefined} waits @param {number} count of functions
 * @returns {Uint8Array|null}
 */
export function classesOf(waits, count) {
  if (!waits) return null;
  const out = new Uint8Array(count);
  for (const [func, one] of waits.frames) out[func] = one;
  return out;
}

/* ---- Filters: those by class are filters by the function that stands for the class. ---- */

/** A class with the function that stands for it. @typedef {{f: Func, one: number}} WaitFunction */

/** @type {readonly ['only', 'without']} */
const BY_CLASS = ['only', 'without'];

/** The filters but those by class. @param {string} filters @param {WaitFunction[]} waits */
export function withoutWaits(filters, waits) {
  let out = filters;
  for (const { f } of waits)
    for (const kind of BY_CLASS) if (hasFilter(out, kind, hashOf(f))) out = withoutFilter(out, kind, hashOf(f));
  return out;
}

/** Whether the filters keep nothing but one class. @param {string} filters @param {WaitFunction[]} waits */
export const showsOneClass = (filters, waits) => waits.some(({ f }) => hasFilter(filters, 'only', hashOf(f)));

/** Whether the filters leave a class out. @param {string} filters @param {WaitFunction[]} waits @param {Func} f */
export function isLeftOut(filters, waits, f) {
  const onlyOther = waits.some((other) => other.f !== f && hasFilter(filters, 'only', hashOf(other.f)));
  return onlyOther || hasFilter(filters, 'without', hashOf(f));
}

/**
 * The filters with a class that was left out, or without one that was not. The only class that is shown is left out
 * when all are shown again.
 * @param {string} filters @param {WaitFunction[]} waits @param {Func} f
 */
export function withClassToggled(filters, waits, f) {
  const hash = hashOf(f);
  if (hasFilter(filters, 'without', hash)) return withoutFilter(filters, 'without', hash);
  return showsOneClass(filters, waits) ? withoutWaits(filters, waits) : withFilter(filters, 'without', hash);
}

/** The filters that leave no other waits. @param {string} filters @param {WaitFunction[]} waits @param {Func} f */
export const withClassOnly = (filters, waits, f) => withFilter(withoutWaits(filters, waits), 'only', hashOf(f));

/* ---- Sums ---- */

/**
 * The time [base, head] of each class in a tree.
 * @param {Pick<Tree, 'count'|'func'|'self'>} tree @param {Uint8Array} classes by function
 * @param {number} [from] @param {number} [to] the nodes that count
 */
export function classSums({ count, func, self }, classes, from = 0, to = count) {
  const sums = [new Float64Array(CLASSES), new Float64Array(CLASSES)];
  const [self0, self1] = self;
  for (let i = from; i < to; i++) {
    const one = i ? classes[func[i]] : 0;
    sums[0][one] += self0[i];
    sums[1][one] += self1[i];
  }
  return sums;
}

/* ---- Shades ---- */

/** The shade of a class at full strength. @param {number} one */
export const shadeOf = (one) => (one ? one * (LEVELS + 1) + LEVELS : 0);

/**
 * A shade: the class that has most of the waiting, and how much of all time is waiting, which is the strength of its
 * colour. 0 is CPU time alone.
 * @param {ArrayLike<number>} sums time by class @param {number} [at] where they begin
 * @param {number} [behind] the number behind the last class that has time
 */
function shadeOfSums(sums, at = 0, behind = CLASSES) {
  let waiting = 0;
  let best = 0;
  for (let one = 1; one < behind; one++) {
    waiting += sums[at + one];
    if (sums[at + one] > (best ? sums[at + best] : 0)) best = one;
  }
  return best && best * (LEVELS + 1) + Math.max(1, Math.round((LEVELS * waiting) / (waiting + sums[at])));
}

/**
 * Makes the shades of a call tree in one pass from its end: below the nodes of a level, sums are added up by level.
 * @param {Tree} tree @param {Uint8Array} classes by function @param {number} side @returns {Shades}
 */
export function shadesOf({ count, depth, func, self }, classes, side) {
  const values = self[side];
  const all = new Uint8Array(count);
  const own = new Uint8Array(count);
  const behind = classes.reduce((most, one) => Math.max(most, one), 0) + 1;
  let deepest = 0;
  for (let i = 0; i < count; i++) if (depth[i] > deepest) deepest = depth[i];
  const open = new Float64Array((deepest + 2) * CLASSES);
  for (let i = count - 1; i >= 0; i--) {
    const above = depth[i] * CLASSES;
    const below = above + CLASSES;
    const one = i ? classes[func[i]] : 0;
    own[i] = shadeOf(one);
    open[below + one] += values[i];
    all[i] = shadeOfSums(open, below, behind);
    for (let k = 0; k < behind; k++) {
      open[above + k] += open[below + k];
      open[below + k] = 0;
    }
  }
  return { all, own, side };
}

/**
 * The shade of nodes together, from their shades.
 * @param {Uint8Array} shades by node @param {ArrayLike<number>} weights by node
 * @param {ArrayLike<number>} nodes @param {number} from @param {number} to which of them
 */
export function joinedShade(shades, weights, nodes, from, to) {
  const sums = new Float64Array(CLASSES);
  for (let i = from; i < to; i++) {
    const shade = shades[nodes[i]];
    const waiting = (weights[nodes[i]] * (shade % (LEVELS + 1))) / LEVELS;
    sums[shade >> 4] += waiting;
    sums[0] += weights[nodes[i]] - (shade ? waiting : 0);
  }
  return shadeOfSums(sums);
}

/* ---- Functions ---- */

/**
 * The time of each class in each function and what it calls, as `CLASSES` values a function. Recursion counts once.
 * @param {Tree} tree @param {Uint8Array} classes by function @param {number} side
 */
export function functionClasses({ count, func, parent, self }, classes, side) {
  const sums = new Float64Array(classes.length * CLASSES);
  const seen = new Int32Array(classes.length);
  for (let i = 1; i < count; i++) {
    const one = classes[func[i]];
    const value = self[side][i];
    if (!one || !value) continue;
    for (let at = i; at > 0; at = parent[at]) {
      if (seen[func[at]] === i) continue;
      seen[func[at]] = i;
      sums[func[at] * CLASSES + one] += value;
    }
  }
  return sums;
}

/** The class with the most time; 0 for none. @param {ArrayLike<number>} sums @param {number} [at] where they begin */
export const mostOf = (sums, at = 0) => shadeOfSums(sums, at) >> 4;

const USER = ORIGINS.indexOf('user');

/**
 * Whether code of an origin is rather the place of a wait than what called it.
 * @param {number} own @param {number} caller
 */
function isRather(own, caller) {
  if (caller === USER) return own === USER;
  return own < SYSTEM || caller >= SYSTEM;
}

/**
 * The function in which a wait happens, as `render/waits.h` explains: the innermost one of the user's own code, else
 * one that is not the system's, else the innermost one; -1 for none. The page decides it again, since it asks of any
 * wait in the timeline, and the data has the places of none.
 * @param {{func: ArrayLike<number>, parent: ArrayLike<number>}} tree @param {Func[]} functions
 * @param {Uint8Array} classes by function @param {number} node
 */
export function placeOf({ func, parent }, functions, classes, node) {
  let place = -1;
  for (let at = node; at > 0; at = parent[at]) {
    const f = func[at];
    if (classes[f]) continue;
    if (place < 0 || !isRather(functions[place].origin, functions[f].origin)) place = f;
  }
  return place;
}

/* ---- Locks, and what ended waits ---- */

/** A lock for a reader, as in the text. @param {{ordinal: number, name: string}} lock */
export const lockName = ({ ordinal, name }) => name || `lock ${ordinal} (no name)`;

/**
 * What is known of the waits in some subtrees.
 * @typedef {object} Known
 * @property {number} all time of the waits whose lock or releaser is known
 * @property {{lock: number, ns: number, places: number}[]} locks the longest first, with how many functions wait for it
 * @property {{releaser: number, ns: number}[]} releasers the longest first
 */

/** Entries by falling time. @template {{ns: number}} T @param {Iterable<T>} entries @returns {T[]} */
const byTime = (entries) => [...entries].sort((a, b) => b.ns - a.ns);

/** @param {Map<number, number>} sums @param {number} key @param {number} ns */
const add = (sums, key, ns) => sums.set(key, (sums.get(key) || 0) + ns);

/**
 * Sums the releases of nodes.
 * @param {Releases} releases @param {(node: number) => boolean} isIn whether the waits of a node count
 * @param {(node: number) => number} placeOfNode @returns {Known}
 */
export function knownOf({ lock, node, ns, releaser }, isIn, placeOfNode) {
  /** @type {Map<number, number>} */ const locks = new Map();
  /** @type {Map<number, number>} */ const releasers = new Map();
  let all = 0;
  for (let i = 0; i < node.length; i++) {
    if (!isIn(node[i])) continue;
    all += ns[i];
    if (lock[i] >= 0) add(locks, lock[i], ns[i]);
    if (releaser[i] >= 0) add(releasers, releaser[i], ns[i]);
  }
  /** @type {Map<number, Set<number>>} */ const places = new Map([...locks.keys()].map((one) => [one, new Set()]));
  for (let i = 0; i < node.length; i++) places.get(lock[i])?.add(placeOfNode(node[i]));
  return {
    all,
    locks: byTime([...locks].map(([one, sum]) => ({ lock: one, ns: sum, places: places.get(one)?.size || 0 }))),
    releasers: byTime([...releasers].map(([one, sum]) => ({ releaser: one, ns: sum }))),
  };
}
