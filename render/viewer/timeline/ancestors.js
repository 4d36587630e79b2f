// SPDX-License-Identifier: GPL-3.0-or-later
// The frame of a stack at a given depth, in a number of steps that grows with the logarithm of the depth. Each node
// knows its parent and one node further up (E. W. Myers, "An applicative random-access stack", 1983).

/** @typedef {import('../data/tree.js').Tree} Tree */

export class Ancestors {
  /** @param {Pick<Tree, 'count'|'parent'|'depth'>} tree */
  constructor({ count, parent, depth }) {
    this.parent = parent;
    this.depth = depth;
    const jump = new Int32Array(count);
    for (let node = 1; node < count; node++) {
      const above = parent[node];
      const far = jump[above];
      jump[node] = depth[above] - depth[far] === depth[far] - depth[jump[far]] ? jump[far] : above;
    }
    this.jump = jump;
  }

  /**
   * The caller of a node at a depth, or the node itself where it is not deeper.
   * @param {number} node @param {number} level
   */
  at(node, level) {
    const { depth, jump, parent } = this;
    while (depth[node] > level) node = depth[jump[node]] < level ? parent[node] : jump[node];
    return node;
  }
}
