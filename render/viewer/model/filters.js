// SPDX-License-Identifier: GPL-3.0-or-later
// The filters that somebody puts on functions, modules and processes: their text in an address, what they keep of a
// call tree, and how much of the time each of them is about. Nothing here touches the browser.

import { INTERRUPT, INTERRUPTS, LIBRARY, ORIGINS, SYSTEM, USER } from '../data/codes.js';
import { shortHash } from '../data/hash.js';
import { isWaitFrame } from '../data/symbols.js';

/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * What a filter does: it keeps the stacks with a function, with one that an expression means, a module or a line of a
 * function, drops the stacks with a function, takes frames out of all stacks and gives their time to their callers (those
 * of a function, those that an expression means, or all that are not of one origin), folds recursions, or keeps a process.
 * @typedef {'only'|'focus'|'without'|'merge'|'hide'|'module'|'line'|'process'|'user'|'library'|'system'|'recursion'} Kind
 */

/**
 * Its `hash` is that of its function, module, line (`lines.js`) or process, or its expression (`expressions.js`); empty
 * where it has none.
 * @typedef {{kind: Kind, hash: string}} Filter
 */

/**
 * A filter in a report; `subject` is the name of what it is about, and undefined where the report lacks that.
 * @typedef {object} Meant
 * @property {Filter} filter
 * @property {string|undefined} subject
 * @property {Func} [func]
 * @property {string} [module]
 * @property {Uint8Array|null} [hits] the functions of its expression, as 1 by function
 * @property {string} [error] why these are not known
 * @property {number} [row] of the table of lines
 */

/** What the filters by origin are called. */
export const ORIGIN_WORDS = { user: 'Only user code', library: 'Only library code', system: 'Only system code' };

/** The letter of each kind in an address. @type {Record<Kind, string>} */
const LETTERS = {
  only: 'o',
  focus: 'f',
  without: 'w',
  merge: 'm',
  hide: 'h',
  module: 'l',
  line: 'n',
  process: 'p',
  user: 'u',
  library: 'b',
  system: 's',
  recursion: 'r',
};
/** @type {Map<string, Kind>} */
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter, /** @type {Kind} */ (kind)]));
/** Filters that choose stacks by their frames. */
const OF_STACKS = ['only', 'focus', 'without', 'module', 'line'];
/** Filters by an expression. */
const OF_EXPRESSIONS = ['focus', 'hide'];
/** The origin whose frames a kind leaves. @type {Record<string, number>} */
const ORIGIN_OF = { user: USER, library: LIBRARY, system: SYSTEM };
/** Of these kinds a function has one filter at a time. */
const OF_FUNCTIONS = ['only', 'without', 'merge'];
/** More filters are not obeyed: each has a bit of a number. */
const MOST = 30;

/** An expression between the dots of an address. @param {string} text */
const escaped = (text) => text.replaceAll('~', '~t').replaceAll('.', '~d');
/** @param {string} text */
const unescaped = (text) => text.replaceAll('~d', '.').replaceAll('~t', '~');

/** Whether a filter has an expression. @param {Filter} filter */
export const hasExpression = ({ kind }) => OF_EXPRESSIONS.includes(kind);

/** The expressions of a text of filters. @param {string} text */
export const expressionsOf = (text) =>
  filtersOf(text)
    .filter(hasExpression)
    .map(({ hash }) => hash);

/** The filters of a text in an address. @param {string} text @returns {Filter[]} */
export function filtersOf(text) {
  /** @type {Filter[]} */ const out = [];
  for (const part of text ? text.split('.') : []) {
    const kind = KINDS.get(part[0]);
    const hash = part.slice(1);
    if (kind && out.length < MOST) out.push({ kind, hash: OF_EXPRESSIONS.includes(kind) ? unescaped(hash) : hash });
  }
  return out;
}

/** @param {Filter[]} filters */
const textOf = (filters) =>
  filters.map((one) => LETTERS[one.kind] + (hasExpression(one) ? escaped(one.hash) : one.hash)).join('.');

/** @param {Filter} a @param {Filter} b */
const isSame = (a, b) => a.kind === b.kind && a.hash === b.hash;

/** Whether a filter takes the place of another one. @param {Filter} filter @param {Filter} other */
function replaces(filter, other) {
  if (filter.kind === 'process' || filter.kind === 'line') return other.kind === filter.kind;
  if (filter.kind in ORIGIN_OF) return other.kind in ORIGIN_OF;
  return OF_FUNCTIONS.includes(filter.kind) && OF_FUNCTIONS.includes(other.kind) && filter.hash === other.hash;
}

/** Whether a text has a filter. @param {string} text @param {Kind} kind @param {string} [hash] */
export const hasFilter = (text, kind, hash = '') => filtersOf(text).some((one) => isSame(one, { kind, hash }));

/** Whether a text has a filter of a kind. @param {string} text @param {Kind} kind */
export const hasKind = (text, kind) => filtersOf(text).some((one) => one.kind === kind);

/** The text with one more filter. @param {string} text @param {Kind} kind @param {string} [hash] */
export function withFilter(text, kind, hash = '') {
  const filter = { kind, hash };
  return textOf([...filtersOf(text).filter((one) => !isSame(one, filter) && !replaces(filter, one)), filter]);
}

/** The text without a filter. @param {string} text @param {Kind} kind @param {string} [hash] */
export function withoutFilter(text, kind, hash = '') {
  return textOf(filtersOf(text).filter((one) => !isSame(one, { kind, hash })));
}

/** The text without the filter that was added last. @param {string} text */
export const withoutLast = (text) => textOf(filtersOf(text).slice(0, -1));

/**
 * What filters mean in a report.
 * @param {Filter[]} filters @param {Func[]} functions @param {(hash: string) => Func|undefined} functionOf
 * @param {string[]} processes names
 * @param {(hash: string) => {func: Func, row: number, subject: string}|undefined} [lineOf]
 * @param {(text: string) => import('./expressions.js').Found|undefined} [foundBy] what an expression means
 * @returns {Meant[]}
 */
export function meaningOf(filters, functions, functionOf, processes, lineOf = () => undefined, foundBy = () => undefined) {
  return filters.map((filter) => {
    const { kind, hash } = filter;
    if (kind in ORIGIN_OF || kind === 'recursion') return { filter, subject: '' };
    if (hasExpression(filter)) {
      const { hits, error } = foundBy(hash) || { hits: null, error: '' };
      return { filter, subject: hits?.includes(1) ? hash : undefined, hits, error };
    }
    if (kind === 'process') return { filter, subject: processes.find((name) => shortHash(name) === hash) };
    if (kind === 'line') return { filter, subject: undefined, ...lineOf(hash) };
    if (kind === 'module') {
      const module = functions.find((f) => f.module && shortHash(f.module) === hash)?.module;
      return { filter, subject: module, module };
    }
    const func = functionOf(hash);
    return { filter, subject: func?.name, func };
  });
}

/** Whether a filter chooses stacks, and its report knows what by. @param {Meant} meant */
const choosesStacks = ({ filter, subject }) => OF_STACKS.includes(filter.kind) && subject !== undefined;
/** Whether filters choose stacks. @param {Meant[]} filters */
export const chooseStacks = (filters) => filters.some(choosesStacks);

/**
 * The filters that a function has a part in, as bits by function.
 * @param {Meant[]} filters @param {Func[]} functions
 */
function bitsOf(filters, functions) {
  const bits = new Int32Array(functions.length);
  filters.forEach((meant, i) => {
    if (!choosesStacks(meant)) return;
    if (meant.func) bits[meant.func.id] |= 1 << i;
    else if (meant.hits) meant.hits.forEach((hit, f) => hit && (bits[f] |= 1 << i));
    else for (const f of functions) if (f.module === meant.module) bits[f.id] |= 1 << i;
  });
  return bits;
}

/**
 * The filters whose function or module the stack of each node has, as bits.
 * @param {Tree} tree @param {Func[]} functions @param {Meant[]} filters
 */
function bitsByNode({ count, func, parent }, functions, filters) {
  const bits = bitsOf(filters, functions);
  const has = new Int32Array(count);
  for (let i = 1; i < count; i++) has[i] = has[parent[i]] | bits[func[i]];
  return has;
}

/**
 * Finds the stacks that filters keep, as 1 by innermost node, in one pass over the nodes; null where no filter chooses
 * stacks.
 * @param {Tree} tree @param {Func[]} functions @param {Meant[]} filters @returns {Uint8Array|null}
 */
export function chosenStacks(tree, functions, filters) {
  if (!chooseStacks(filters)) return null;
  let needed = 0;
  let forbidden = 0;
  filters.forEach((meant, i) => {
    if (!choosesStacks(meant)) return;
    if (meant.filter.kind === 'without') forbidden |= 1 << i;
    else needed |= 1 << i;
  });
  const has = bitsByNode(tree, functions, filters);
  const passes = new Uint8Array(has.length);
  for (let i = 0; i < has.length; i++) passes[i] = (has[i] & needed) === needed && !(has[i] & forbidden) ? 1 : 0;
  return passes;
}

/** Self values [base, head] of the stacks that are kept. @param {Float64Array[]} self @param {Uint8Array} passes */
export function selfOf(self, passes) {
  return self.map((side) => {
    const out = new Float64Array(side.length);
    for (let i = 0; i < side.length; i++) if (passes[i]) out[i] = side[i];
    return out;
  });
}

/**
 * The functions whose frames are taken out of all stacks, as 1 by function; null for none. What hit a thread from
 * outside, such as an interrupt, is nobody's code and stays, and so does what it waits for.
 * @param {Meant[]} filters @param {Func[]} functions @param {ArrayLike<number>} origins by function
 */
export function mergedFunctions(filters, functions, origins) {
  const left = filters.flatMap(({ filter }) => ORIGIN_OF[filter.kind] ?? []);
  const hidden = filters.flatMap(({ filter, hits }) => (filter.kind === 'hide' && hits ? [hits] : []));
  const isForeign = (/** @type {number} */ origin) =>
    Object.values(ORIGIN_OF).includes(origin) && left.some((one) => one !== origin);
  const foreign = Array.from(ORIGINS, (_, origin) => isForeign(origin));
  const isTaken = (/** @type {number} */ id) =>
    foreign[origins[id]] || (origins[id] < INTERRUPTS && hidden.some((hits) => hits[id]));
  const merged = Uint8Array.from(functions, (f, id) => (isTaken(id) && !isWaitFrame(f) ? 1 : 0));
  for (const { filter, func } of filters) if (filter.kind === 'merge' && func) merged[func.id] = 1;
  return merged.includes(1) ? merged : null;
}

/**
 * The time [base, head] that each filter is about, without interrupts: of the stacks with its function or module, or
 * of the frames that it merges into their callers. It is that of the filter alone.
 * @param {Tree} tree @param {Float64Array[]} self [base, head] of everything @param {Func[]} functions
 * @param {Meant[]} filters @param {ArrayLike<number>} origins by function
 */
export function timesOf(tree, self, functions, filters, origins) {
  const { count, flags, func } = tree;
  const times = filters.map(() => [0, 0]);
  if (!filters.length) return times;
  const has = chooseStacks(filters) ? bitsByNode(tree, functions, filters) : null;
  const own = new Int32Array(functions.length);
  filters.forEach((meant, i) => {
    const merged = mergedFunctions([meant], functions, origins);
    if (merged) for (let f = 0; f < own.length; f++) if (merged[f]) own[f] |= 1 << i;
  });
  for (let i = 1; i < count; i++) {
    if (flags[i] & INTERRUPT) continue;
    for (let left = own[func[i]] | (has ? has[i] : 0); left; left &= left - 1) {
      const time = times[31 - Math.clz32(left & -left)];
      time[0] += self[0][i];
      time[1] += self[1][i];
    }
  }
  return times;
}
