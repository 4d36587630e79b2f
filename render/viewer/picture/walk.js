// SPDX-License-Identifier: GPL-3.0-or-later
// Which boxes of a tree are on the screen, and where.

import { leftOf } from '../model/layout.js';
import { hasBox, shownAs } from '../model/trunks.js';

/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('../data/tree.js').Tree} Tree */

/**
 * A box on the screen: its left edge, its width, its node, and how many narrow siblings it stands for.
 * @typedef {{x: number, w: number, node: number, merged: number}} Box
 */

/**
 * What part of a tree is on the screen.
 * @typedef {object} View
 * @property {FrameTree} tree
 * @property {(node: number) => number} width
 * @property {Float64Array|null} widths the widths as a column, where siblings lie one after another in it; else null
 * @property {number} zoom the node that fills the room
 * @property {number} room how wide the whole picture is
 * @property {number} left how much of it is cut off at the left edge of the screen
 * @property {number} shown how much of it is on the screen
 * @property {number} top the first row on the screen
 * @property {number} behind the row after the last
 */

/**
 * Receives the boxes on the screen. Siblings narrower than a pixel come one by one, and then what they add up to.
 * @typedef {object} Painter
 * @property {(row: number, x: number, w: number, node: number) => void} box
 * @property {(node: number, weight: number) => void} narrow
 * @property {(row: number, x: number, w: number, weight: number) => void} merged
 */

/** Narrow siblings are merged up to this width. */
const WIDEST_RUN = 3;

/**
 * The nodes that fill the width: the zoomed one; with callers and callees and no zoom, both nodes of the function.
 * @param {View} view
 */
function parts({ tree, zoom }) {
  return tree.twin && zoom === 0 ? [1, tree.twin] : [zoom];
}

/**
 * The nodes whose boxes stand for a node and for the frames above it, the innermost first. Between callers and callees
 * the root has no box.
 * @param {FrameTree} tree @param {number} node
 */
function* boxesOver(tree, node) {
  for (let at = node; at >= (tree.twin ? 1 : 0); at = tree.parent[at]) yield (at = shownAs(tree, at));
}

/** @param {View} view */
function scaleOf({ width, zoom, room }) {
  return width(zoom) > 0 ? room / width(zoom) : 0;
}

/** Left edge and width of a node on screen. @param {View} view @param {number} node */
export function extentOf(view, node) {
  const { tree, width, zoom, left, shown } = view;
  if (!tree.holds(zoom, node)) return { x: 0, w: shown };
  const scale = scaleOf(view);
  return { x: leftOf(tree, width, zoom, node) * scale - left, w: width(node) * scale };
}

/** Visits the boxes on the screen, each row from left to right. @param {View} view @param {Painter} painter */
export function walk(view, painter) {
  const { tree, shown, top, behind } = view;
  const scale = scaleOf(view);
  for (const part of scale ? parts(view) : []) {
    for (const node of part === tree.twin ? [] : boxesOver(tree, part)) {
      const row = tree.row(node);
      if (node !== part && row >= top && row < behind) painter.box(row, 0, shown, node);
    }
    if (view.widths) walkColumns(view, view.widths, painter, scale);
    else walkLinked(view, painter, part, scale);
  }
}

/**
 * Visits the boxes of a tree that is whole. It is one short loop over columns: a page is drawn before the browser has
 * compiled anything, and while it compiles long loops it has less time for the rest.
 * @param {View} view @param {Float64Array} widths @param {Painter} painter @param {number} scale
 */
function walkColumns({ tree, zoom, left, shown: width, top, behind }, widths, painter, scale) {
  const { depth, end, parent, trunks } = /** @type {Tree} */ (tree);
  const rows = trunks?.rows || depth;
  const right = left + width;
  if (rows[zoom] >= behind) return;
  const first = depth[zoom];
  const last = end[zoom];
  /** Where the next node of each depth begins, from that of the zoomed node on. */
  const lefts = [0];
  /** Visits narrow siblings and returns the node after them. @param {number} narrow the first of them */
  const run = (narrow) => {
    const level = depth[narrow] - first;
    const row = rows[parent[narrow]] + 1;
    const x = lefts[level];
    const shown = row >= top && x + WIDEST_RUN > left && x < right;
    const stop = end[parent[narrow]];
    let node = narrow;
    let weight = 0;
    do {
      weight += widths[node];
      if (shown && widths[node]) painter.narrow(node, widths[node]);
      node = end[node];
    } while (node < stop && widths[node] * scale < 1 && (weight + widths[node]) * scale < WIDEST_RUN);
    if (shown && weight) painter.merged(row, x - left, weight * scale, weight);
    lefts[level] = x + weight * scale;
    return node;
  };
  for (let node = zoom; node < last;) {
    const w = widths[node] * scale;
    if (w < 1 && node !== zoom) {
      node = run(node);
      continue;
    }
    const level = depth[node] - first;
    const row = rows[node];
    const x = lefts[level];
    lefts[level] = x + w;
    lefts[level + 1] = x;
    if (x >= right || x + w <= left) {
      // What lies right of the screen has only siblings there that follow.
      node = x < right ? end[node] : end[parent[node]];
      continue;
    }
    if (row >= top && hasBox(tree, node)) painter.box(row, x - left, w, node);
    node = row + 1 < behind ? node + 1 : end[node];
  }
}

/**
 * Visits the boxes of a tree whose nodes tell which ones come next. A tree that is made while it is looked at grows by
 * a screen more than is shown, so that there is something to scroll to.
 * @param {View} view @param {Painter} painter @param {number} part @param {number} scale
 */
function walkLinked(view, painter, part, scale) {
  const { tree, width, left, top, behind } = view;
  const right = left + view.shown;
  const ahead = behind - top;
  // The next node of each level below `part`, and where it begins.
  const nodes = [part];
  const lefts = [0];
  for (let level = 0; level >= 0;) {
    const node = nodes[level];
    if (node < 0) {
      level--;
      continue;
    }
    const x = lefts[level];
    const w = width(node) * scale;
    const row = w < 1 ? rowOfRun(tree, node) : tree.row(node);
    const beside = x >= right || x + Math.max(w, WIDEST_RUN) <= left;
    const shown = row >= top && row < behind && !beside;
    if (w < 1) {
      const run = runOf(view, node, scale, shown ? painter : null);
      nodes[level] = run.next;
      lefts[level] = x + run.weight * scale;
      if (shown && run.weight) painter.merged(row, x - left, run.weight * scale, run.weight);
      continue;
    }
    nodes[level] = level ? tree.next(node) : -1;
    lefts[level] = x + w;
    if (shown && hasBox(tree, node)) painter.box(row, x - left, w, node);
    if (beside) continue;
    if (tree.upward(node) ? row <= top - ahead : row >= behind + ahead) continue;
    nodes[++level] = tree.first(node);
    lefts[level] = x;
  }
}

/**
 * The row of narrow siblings that begin with a node: below the box that they are in, also where one of them is an inner
 * frame of a trunk.
 * @param {FrameTree} tree @param {number} node
 */
const rowOfRun = (tree, node) => (tree.trunks ? tree.row(tree.parent[node]) + 1 : tree.row(node));

/**
 * The run of narrow siblings that begins with a node.
 * @param {View} view @param {number} node @param {number} scale @param {Painter|null} painter
 */
function runOf({ tree, width }, node, scale, painter) {
  let weight = 0;
  let count = 0;
  let first = node;
  let next = node;
  do {
    const own = width(next);
    if (own > 0) {
      if (!count++) first = next;
      weight += own;
      painter?.narrow(next, own);
    }
    next = tree.next(next);
  } while (next >= 0 && width(next) * scale < 1 && (weight + width(next)) * scale < WIDEST_RUN);
  return { first, next, weight, count };
}

/**
 * The box at a place of a row, or null.
 * @param {View} view @param {number} row @param {number} x @returns {Box|null}
 */
export function boxAt(view, row, x) {
  const { tree, left, shown } = view;
  const scale = scaleOf(view);
  for (const part of scale && x >= 0 && x < shown ? parts(view) : []) {
    for (const node of boxesOver(tree, part))
      if (tree.row(node) === row) return { x: 0, w: shown, node, merged: 1 };
    const box = boxBelow(view, part, scale, row, x + left);
    if (box) return { ...box, x: box.x - left };
  }
  return null;
}

/**
 * The box at a place of the whole picture, also where that is left of the screen.
 * @param {View} view @param {number} node @param {number} scale @param {number} row @param {number} x
 * @returns {Box|null}
 */
function boxBelow(view, node, scale, row, x) {
  const { tree, width } = view;
  let left = 0;
  for (let at = tree.first(node); at >= 0;) {
    const narrow = width(at) * scale < 1;
    const alone = { first: at, next: tree.next(at), weight: width(at), count: 1 };
    const run = narrow ? runOf(view, at, scale, null) : alone;
    const w = run.weight * scale;
    if (w > 0 && x < left + Math.max(w, 1)) {
      const here = narrow ? rowOfRun(tree, at) : tree.row(at);
      if (here === row) return { x: left, w, node: run.first, merged: run.count };
      // Nothing stands below narrow siblings, and no row before this one is of interest any more.
      if (narrow || x >= left + w || here < row === tree.upward(at)) return null;
      at = tree.first(at);
    } else {
      left += w;
      at = run.next;
    }
  }
  return null;
}
