// SPDX-License-Identifier: GPL-3.0-or-later
// Finds frames in a tree that is made while it is looked at.

import { outermost } from './lazy.js';
import { walkWide } from './layout.js';
import { covered, hasCaller } from './sums.js';

/** @typedef {import('./lazy.js').LazyTree} LazyTree */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * Nodes that are narrower than this part of the width are not searched in a tree that is made while it is looked at.
 */
const LEAST_PART = 1 / 4000;
/** No more nodes than these are searched there. */
const MOST_NODES = 20000;

/**
 * Sees the nodes that are wide enough; below those for which `see` is false nothing is looked at.
 * @param {FrameTree} tree @param {(node: number) => number} width @param {(node: number) => boolean} see
 */
export function walkSeen(tree, width, see) {
  walkWide(tree, width, width(0) * LEAST_PART, MOST_NODES, see);
}

/**
 * The time [base, head] of stacks with a matching frame, of the ones that are drawn.
 * @param {Tree} callTree @param {LazyTree} tree @param {Uint8Array} hits
 */
function coveredAround(callTree, tree, hits) {
  const [base, head] = callTree.figures;
  const func = tree.first(0) < 0 ? -1 : tree.func[tree.first(0)];
  if (!tree.around) return covered(callTree, hits, null, null).sum;
  const sum = [0, 0];
  for (const node of func < 0 ? [] : outermost(callTree, func)) {
    const own = hits[func] || (tree.around.callers && hasCaller(callTree, node, hits));
    const below = tree.around.callees ? covered(callTree, hits, null, null, node).sum : [0, 0];
    const part = own ? [base[node], head[node]] : below;
    sum[0] += part[0];
    sum[1] += part[1];
  }
  return sum;
}

/**
 * The frames that match, and the time [base, head] of their stacks.
 * @param {{callTree: Tree, width: (node: number) => number}} drawn @param {LazyTree} tree
 * @param {(node: number) => boolean} matches
 * @param {Uint8Array|null} hits functions that match; null where verdicts decide as well
 */
export function foundIn({ callTree, width }, tree, matches, hits) {
  const [base, head] = tree.figures;
  const sum = [0, 0];
  /** @type {number[]} */ const nodes = [];
  walkSeen(tree, width, (node) => {
    if (!matches(node)) return true;
    // The function between callers and callees has two nodes and counts once.
    if (tree.twin && node === 1) return true;
    nodes.push(node === tree.twin ? 1 : node);
    sum[0] += base[node];
    sum[1] += head[node];
    return false;
  });
  return { sum: hits ? coveredAround(callTree, tree, hits) : sum, nodes };
}
