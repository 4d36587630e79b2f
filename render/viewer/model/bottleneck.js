// SPDX-License-Identifier: GPL-3.0-or-later
// What holds functions and frames up, as the report's data says it (docs/bottlenecks.md): a class each, which is the
// number of enum profile_bottleneck, and the four parts that the self cost consists of. Nothing is decided here.

/** @typedef {import('../data/decode.js').Costs} Costs */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * What is drawn, as the model has it.
 * @typedef {object} Drawn
 * @property {number} side
 * @property {import('../data/report.js').Meta} meta
 * @property {import('../data/report.js').Tables} tables
 * @property {{func: ArrayLike<number>, self: ArrayLike<number>[], total: ArrayLike<number>[]}} tree
 * @property {Tree} callTree
 * @property {unknown} turned the tree is turned around
 */

/** The classes by number, as `profile/bottleneck.c` calls them. */
export const BOTTLENECKS = ['', 'instruction', 'cache', 'memory', 'system', 'mixed'];
/** The classes that are also parts of a cost. */
export const COST_PARTS = [1, 2, 3, 4];
export const MIXED = 5;
/** Their colours; those without a class, and mixed ones, have the neutral one of the theme. */
export const BOTTLENECK_COLOURS = ['', '#7cc4f2', '#f2d42a', '#d9622b', '#5b5ea6', ''];
/** What they mean. */
export const BOTTLENECK_HINTS = [
  '',
  'it executes that many instructions',
  'it waits for data that is in a cache beyond the first',
  'it waits for memory',
  'it is in the kernel',
  'no part of its cost is large enough to be its bottleneck',
];
/** What a change consists of, as sentences name it. */
export const CAUSES = ['', 'instructions', 'cache misses', 'memory accesses', 'system time', 'several parts'];

/** Whether a state cannot be shown without the classes. @param {Drawn} model @param {State} state */
export const needsBottlenecks = ({ meta }, { colour, bottlenecks }) =>
  !!meta.hasBottlenecks && (colour === 'bottleneck' || !!bottlenecks);

/**
 * The node of the report that a node of the picture is; -1 where it is none, as in a turned tree.
 * @param {Drawn} model @param {number} node
 */
export function sourceOf({ callTree, tables, turned }, node) {
  if (turned) return -1;
  if (callTree.from) return callTree.from[node];
  return callTree.func === tables.tree.func ? node : -1;
}

/**
 * The costs that a frame stands for, and its number in them: its own, or where it is no frame of the report those of its
 * function in all its frames; null where nothing is known.
 * @param {Drawn} model @param {number} node @returns {{costs: Costs, at: number, isWhole: boolean}|null}
 */
export function costsOf(model, node) {
  const { bottlenecks } = model.tables;
  if (!bottlenecks || node < 0) return null;
  const source = sourceOf(model, node);
  if (source >= 0) return { costs: bottlenecks.nodes, at: source, isWhole: false };
  const func = model.tree.func[node];
  return func >= 0 && func < bottlenecks.functions.count
    ? { costs: bottlenecks.functions, at: func, isWhole: true }
    : null;
}

/** The class of a frame of the picture on the side that is drawn; 0 for none. @param {Drawn} model @param {number} node */
function bottleneckOf(model, node) {
  const found = node > 0 ? costsOf(model, node) : null;
  return found?.costs.classes[model.side]?.[found.at] || 0;
}

/** How many strengths of the colour of a class are told apart. */
export const STRENGTHS = 16;

/** The shade of a class at full strength. @param {number} one */
export const fullShade = (one) => (one ? one * STRENGTHS + STRENGTHS - 1 : 0);

/**
 * The shade of a frame of the picture: its class, and how much of its time is its own, which is the strength of the
 * colour. Without a call tree, that is where functions and not calls are drawn, all are strong.
 * @param {Drawn} model @param {number} node
 */
export function bottleneckShade(model, node) {
  const { side, tree, turned } = model;
  const one = bottleneckOf(model, node);
  const total = tree.total[side][node];
  if (!one || turned || !(total > 0)) return fullShade(one);
  const part = Math.sqrt(Math.min(1, tree.self[side][node] / total));
  return one * STRENGTHS + Math.round((STRENGTHS - 1) * part);
}

/** The class of a node of the report, whatever the picture shows. @param {Drawn} model @param {number} node */
export const reportBottleneck = ({ side, tables }, node) => tables.bottlenecks?.nodes.classes[side]?.[node] || 0;

/** The class of a function on the side that is drawn; 0 for none. @param {Drawn} model @param {number} func */
export const functionBottleneck = ({ tables, side }, func) => tables.bottlenecks?.functions.classes[side]?.[func] || 0;

/**
 * What the difference of a function's own cost consists of, in words; empty where no part is large enough to be named, or
 * where the tested metric is not that cost.
 * @param {Drawn} model @param {number} func
 */
export function causeOf({ meta, tables }, func) {
  const change = tables.bottlenecks?.functions.change?.[func] || 0;
  return meta.bottlenecksExplain && change !== MIXED ? CAUSES[change] : '';
}

/** The self cost [by class] of the frames of the call tree on the side that is drawn. @param {Drawn} model */
export function costByClass(model) {
  const { callTree, side, tables } = model;
  const sums = BOTTLENECKS.map(() => 0);
  const { bottlenecks } = tables;
  if (!bottlenecks) return sums;
  const self = callTree.self[side];
  for (let i = 1; i < callTree.count; i++) {
    const source = callTree.from ? callTree.from[i] : callTree.func === tables.tree.func ? i : -1;
    const one =
      source >= 0 ? bottlenecks.nodes.classes[side]?.[source] : functionBottleneck(model, callTree.func[i]);
    sums[one || 0] += self[i];
  }
  return sums;
}

/**
 * Whether a frame has one of the marked classes; null where none is marked.
 * @param {Drawn} model @param {State} state @returns {((node: number) => boolean)|null}
 */
export const isMarked = (model, { bottlenecks }) =>
  bottlenecks ? (node) => bottlenecks.includes(String(bottleneckOf(model, node))) : null;
