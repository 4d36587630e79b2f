// SPDX-License-Identifier: GPL-3.0-or-later
// The frame of a stack at a given depth, in a number of steps that grows with the logarithm of the depth. Each node
// knows its parent and one node further up (E. W. Myers, "An applicative random-access stack", 1983).

/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * The node further up that a node knows.
 * @param {ArrayLike<number>} depth @param {ArrayLike<number>} jump those of the nodes above it
 * @param {number} above its parent
 */
export function jumpOf(depth, jump, above) {
  const far = jump[above];
  return depth[above] - depth[far] === depth[far] - depth[jump[far]] ? jump[far] : above;
}

/**
 * The caller of a node at a depth, or the node itself where it is not deeper.
 * @param {{depth: ArrayLike<number>, jump: ArrayLike<number>, parent: ArrayLike<number>}} tree
 * @param {number} node @param {number} level
 */
export function ancestorAt({ depth, jump, parent }, node, level) {
  while (depth[node] > level) node = depth[jump[node]] < level ? parent[node] : jump[node];
  return node;
}

export class Ancestors {
  /** @param {Pick<Tree, 'count'|'parent'|'depth'>} tree */
  constructor({ count, parent, depth }) {
    this.parent = parent;
    this.depth = depth;
    this.jump = new Int32Array(count);
    for (let node = 1; node < count; node++) this.jump[node] = jumpOf(depth, this.jump, parent[node]);
  }

  /** The caller of a node at a depth, or the node itself. @param {number} node @param {number} level */
  at(node, level) {
    return ancestorAt(this, node, level);
  }
}
