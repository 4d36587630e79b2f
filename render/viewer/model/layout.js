// SPDX-License-Identifier: GPL-3.0-or-later
// Which values are the widths, and where frames lie. Siblings have one order in all views, so that position and zoom
// stay.

import { GONE, INTERRUPT } from '../data/codes.js';

/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * The side whose values are the widths: base (0) in its own view and in the reversed difference, else head (1).
 * @param {{view: string, reversed: boolean}} state
 */
export function sideOf({ view, reversed }) {
  return view === 'base' || (view === 'diff' && reversed) ? 0 : 1;
}

/**
 * Frames that are gone: proven so, or below such a frame. An interrupt is never gone, because chance decides where
 * interrupts hit.
 * @typedef {{marks: Uint8Array, count: number, base: number}} Removed by node, how many stacks, and their time in base
 */

/** Finds the stacks whose end is proven: what noise may have left out of head is not removed. @param {Tree} tree */
export function findRemoved(tree) {
  const [base, head] = tree.figures;
  /** @type {Removed} */
  const removed = { marks: new Uint8Array(tree.count), count: 0, base: 0 };
  for (let i = 1; i < tree.count; i++) {
    if (tree.flags[i] & INTERRUPT || !(base[i] > 0) || head[i] !== 0) continue;
    const below = removed.marks[tree.parent[i]];
    if (!below && tree.state[i] !== GONE) continue;
    removed.marks[i] = 1;
    if (below) continue;
    removed.count++;
    removed.base += base[i];
  }
  return removed;
}

/**
 * Widths, in values of base, of stacks that are gone and of their callers.
 * @param {Tree} tree @param {Removed} removed
 */
export function removedWidths(tree, { marks }) {
  const { count, parent } = tree;
  const [base] = tree.figures;
  const widths = new Float64Array(count);
  for (let i = count - 1; i >= 0; i--) {
    if (marks[i]) widths[i] = base[i];
    // A caller that is not gone itself is as wide as the frames that vanished below it.
    if (i > 0 && !marks[parent[i]]) widths[parent[i]] += widths[i];
  }
  return widths;
}

/**
 * How far a node begins from the left edge of `zoom`, in the unit of the widths.
 * @param {FrameTree} tree @param {(node: number) => number} width @param {number} zoom @param {number} node
 */
export function leftOf(tree, width, zoom, node) {
  let left = 0;
  for (let at = node; at !== zoom && at > 0 && at !== tree.twin; at = tree.parent[at]) {
    const parent = tree.parent[at];
    for (let other = tree.first(parent); other >= 0 && other !== at; other = tree.next(other)) left += width(other);
  }
  return left;
}

/**
 * The deepest row below a node that has something to draw.
 * @param {Tree} tree @param {Float64Array} widths @param {number} node
 */
export function deepestRow({ depth, end, trunks }, widths, node) {
  const rowOf = trunks?.rows || depth;
  let deepest = rowOf[node];
  for (let i = node; i < end[node]; i++) if (rowOf[i] > deepest && widths[i] > 0) deepest = rowOf[i];
  return deepest;
}

/**
 * Visits the nodes that are at least `least` wide, in preorder, and no more than `most` of them.
 * @param {FrameTree} tree @param {(node: number) => number} width @param {number} least @param {number} most
 * @param {(node: number) => boolean} visit returns whether to go on below the node
 */
export function walkWide(tree, width, least, most, visit) {
  const open = tree.twin ? [tree.twin, 1] : [0];
  for (let seen = 0; open.length && seen < most; seen++) {
    const node = /** @type {number} */ (open.pop());
    if (!visit(node)) continue;
    const kids = [];
    for (let child = tree.first(node); child >= 0; child = tree.next(child))
      if (width(child) >= least) kids.push(child);
    for (let i = kids.length - 1; i >= 0; i--) open.push(kids[i]);
  }
}
