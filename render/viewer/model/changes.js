// SPDX-License-Identifier: GPL-3.0-or-later
// Where the proven changes are in the tree that is drawn.

import { walkSeen } from './finding.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */

/**
 * The frame of a function that changed most, among those for which something holds; -1 for none.
 * @param {Model} model @param {FunctionChange} change @param {(node: number) => boolean} holds
 */
function mostChanged({ factor, tree, turned, width }, { f, own }, holds) {
  // In a turned tree the own time of a frame is known when its children are made, and what stands there is its total.
  const [base, head] = own && !turned ? tree.self : tree.figures;
  const { func } = tree;
  let most = -1;
  let best = -1;
  const see = (/** @type {number} */ node) => {
    const size = Math.abs(head[node] * factor - base[node]);
    if (size > most && holds(node)) [most, best] = [size, node];
  };
  if (!turned) for (let node = 1; node < tree.count; node++) func[node] === f.id && see(node);
  else
    walkSeen(tree, width, (node) => {
      if (tree.func[node] === f.id) see(node);
      return true;
    });
  return best;
}

/**
 * The place of a change: the frame of its function that changed most, and whether that is only drawn with what is gone;
 * null where none is drawn.
 * @param {Model} model @param {FunctionChange} change @param {Pick<import('./state.js').State, 'view'>} state
 */
export function placeOf(model, change, state) {
  const { removed, side, tree } = model;
  const drawn = mostChanged(model, change, (node) => tree.total[side][node] > 0);
  if (drawn >= 0) return { node: drawn, gone: false };
  const gone = model.canShowRemoved(state) ? mostChanged(model, change, (node) => removed?.marks[node] === 1) : -1;
  return gone < 0 ? null : { node: gone, gone: true };
}

/**
 * The frame that a page opens at: the place of a function, where one is given and drawn, else that of the first proven
 * change, or where that was called if it is gone; -1 where nothing is proven.
 * @param {Model} model @param {Pick<import('./state.js').State, 'view'>} state @param {{name: string, module: string}} [wanted]
 */
export function firstPlace(model, state, wanted) {
  const func = wanted && model.functions.findIndex(({ module, name }) => name === wanted.name && module === wanted.module);
  const [first] = model.provenChanges();
  let node = func !== undefined && func >= 0 ? model.widestOf(func) : -1;
  if (node < 0) node = first ? (placeOf(model, first, state)?.node ?? -1) : -1;
  while (node > 0 && !(model.width(node) > 0)) node = model.tree.parent[node];
  return node;
}
