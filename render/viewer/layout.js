// SPDX-License-Identifier: GPL-3.0-or-later
// Which side gives the widths, and what lies where. One order of siblings for all views, so that position and zoom stay.

import { INTERRUPT } from './decode.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./decode.js').Tree|import('./lazy.js').LazyTree} AnyTree */

/**
 * Which side's values are the widths: head's, or base's in its own view and in the difference when that is reversed.
 * @param {{view: string, reversed: boolean}} state
 */
export function sideOf({ view, reversed }) {
  return view === 'base' || (view === 'diff' && reversed) ? 0 : 1;
}

/** Base's widths of what is gone, and of its callers. What interrupted a thread is not gone: where that happened is chance. @param {Tree} tree */
export function removedWidths(tree) {
  const { count, parent, flags } = tree;
  const [base, head] = tree.figures;
  const widths = new Float64Array(count);
  for (let i = count - 1; i >= 0; i--) {
    if (flags[i] & INTERRUPT) continue;
    if (base[i] > 0 && head[i] === 0) widths[i] = base[i];
    // A caller that is still there is as wide as what vanished below it.
    if (i > 0 && head[parent[i]] > 0) widths[parent[i]] += widths[i];
  }
  return widths;
}

/** How many stacks vanished: topmost nodes that only base has. @param {Tree} tree */
export function countRemoved(tree) {
  const [base, head] = tree.figures;
  let count = 0;
  for (let i = 1; i < tree.count; i++)
    if (!(tree.flags[i] & INTERRUPT) && base[i] > 0 && head[i] === 0 && (tree.parent[i] === 0 || head[tree.parent[i]] > 0)) count++;
  return count;
}

/** Where a node begins, in the widths' unit, from the left edge of `zoom`. @param {AnyTree} tree @param {(node: number) => number} width @param {number} zoom @param {number} node */
export function leftOf(tree, width, zoom, node) {
  let left = 0;
  for (let at = node; at !== zoom && at > 0 && at !== tree.twin; at = tree.parent[at]) {
    const parent = tree.parent[at];
    for (let sibling = tree.first(parent); sibling >= 0 && sibling !== at; sibling = tree.next(sibling)) left += width(sibling);
  }
  return left;
}

/** The deepest level that has a width. @param {Tree} tree @param {Float64Array} widths @param {number} node */
export function depthBelow(tree, widths, node) {
  let deepest = tree.depth[node];
  for (let i = node; i < tree.end[node]; i++) if (tree.depth[i] > deepest && widths[i] > 0) deepest = tree.depth[i];
  return deepest;
}

/**
 * The nodes that matter to the eye, in preorder: those at least `least` wide, and no more than `most` of them.
 * @param {AnyTree} tree @param {(node: number) => number} width @param {number} least @param {number} most @param {(node: number) => boolean} visit whether to go on below it
 */
export function walkWide(tree, width, least, most, visit) {
  const open = tree.twin ? [tree.twin, 1] : [0];
  for (let seen = 0; open.length && seen < most; seen++) {
    const node = /** @type {number} */ (open.pop());
    if (!visit(node)) continue;
    const kids = [];
    for (let child = tree.first(node); child >= 0; child = tree.next(child)) if (width(child) >= least) kids.push(child);
    for (let i = kids.length - 1; i >= 0; i--) open.push(kids[i]);
  }
}
