// SPDX-License-Identifier: GPL-3.0-or-later
// Which side gives the widths, and where every node lies. One order of siblings for all views, so that position and zoom stay.

/** @typedef {import('./decode.js').Tree} Tree */

/**
 * Widths of all nodes in a view, in scaled units.
 * base, head: that side. diff: head's widths, or base's when reversed. removed: base's widths of what is gone, and of its callers.
 * @param {Tree} tree @param {{view: string, reversed: boolean, removed: boolean, factor: number}} options
 */
export function widthsOf(tree, { view, reversed, removed, factor }) {
  if (removed) return removedWidths(tree);
  const side = view === 'base' || (view === 'diff' && reversed) ? 0 : 1;
  if (side === 0 || factor === 1) return tree.total[side];
  return tree.total[1].map((value) => value * factor);
}

/** @param {Tree} tree */
function removedWidths(tree) {
  const widths = new Float64Array(tree.count);
  for (let i = tree.count - 1; i >= 0; i--) {
    if (tree.total[0][i] > 0 && tree.total[1][i] === 0) widths[i] = tree.total[0][i];
    // A caller that is still there is as wide as what vanished below it.
    if (i > 0 && tree.total[1][tree.parent[i]] > 0) widths[tree.parent[i]] += widths[i];
  }
  return widths;
}

/** How many stacks vanished: topmost nodes that only base has. @param {Tree} tree */
export function countRemoved(tree) {
  let count = 0;
  for (let i = 1; i < tree.count; i++)
    if (tree.total[0][i] > 0 && tree.total[1][i] === 0 && (tree.parent[i] === 0 || tree.total[1][tree.parent[i]] > 0)) count++;
  return count;
}

/** Left edges: children stand side by side from their parent's left edge. @param {Tree} tree @param {Float64Array} widths */
export function leftEdges(tree, widths) {
  const left = new Float64Array(tree.count);
  const used = new Float64Array(tree.count);
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    left[i] = left[parent] + used[parent];
    used[parent] += widths[i];
  }
  return left;
}

/** The deepest level that has a width. @param {Tree} tree @param {Float64Array} widths @param {number} node */
export function depthBelow(tree, widths, node) {
  let deepest = tree.depth[node];
  for (let i = node; i < tree.end[node]; i++) if (widths[i] > 0 && tree.depth[i] > deepest) deepest = tree.depth[i];
  return deepest;
}
