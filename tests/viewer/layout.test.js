// SPDX-License-Identifier: GPL-3.0-or-later
// Where frames lie: inside their caller, side by side, in all views in one order.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, layout, table } from './lib/modules.js';
import { childrenOf, property } from './lib/random.js';

test('a view draws the widths of its side', () => {
  const side = (/** @type {string} */ view, reversed = false) => layout.sideOf({ view, reversed });
  assert.deepEqual([side('base'), side('head'), side('diff'), side('diff', true), side('head', true)], [0, 1, 1, 0, 1]);
});

property('callees lie within their caller and do not overlap', ({ tree }) => {
  for (const widths of [tree.total[0], tree.total[1], layout.removedWidths(tree, layout.findRemoved(tree))]) {
    const width = (/** @type {number} */ node) => widths[node];
    for (let i = 0; i < tree.count; i++) {
      const left = layout.leftOf(tree, width, 0, i);
      let edge = left;
      for (const child of childrenOf(tree, i)) {
        assert.equal(layout.leftOf(tree, width, 0, child), edge);
        assert.equal(layout.leftOf(tree, width, i, child), edge - left, 'from the left edge of the zoomed frame');
        edge += widths[child];
      }
      if (widths[i]) assert.ok(edge <= left + widths[i] + 1e-9);
    }
  }
});

property('removed stacks are the proven ones, in the widths of base, and their callers are as wide as what vanished', ({ tree }) => {
  for (let i = 1; i < tree.count; i += 3) if (tree.total[1][i] === 0) tree.state[i] = codes.GONE;
  const removed = layout.findRemoved(tree);
  const wide = layout.removedWidths(tree, removed);
  const isGone = (/** @type {number} */ i) =>
    i > 0 && tree.total[0][i] > 0 && tree.total[1][i] === 0 && (tree.state[i] === codes.GONE || isGone(tree.parent[i]));
  let count = 0;
  let sum = 0;
  for (let i = 1; i < tree.count; i++) {
    assert.equal(!!removed.marks[i], isGone(i));
    if (isGone(i)) assert.equal(wide[i], tree.total[0][i]);
    if (!isGone(i) || isGone(tree.parent[i])) continue;
    count++;
    sum += tree.total[0][i];
  }
  assert.equal(removed.count, count);
  assert.equal(removed.base, sum);
  assert.equal(wide[0], sum);
});

property('the deepest row counts what has a width, below the zoomed frame', ({ tree }) => {
  for (const node of [0, 1, tree.count >> 1]) {
    let deepest = tree.depth[node];
    for (let i = node; i < tree.end[node]; i++) if (tree.total[1][i] > 0) deepest = Math.max(deepest, tree.depth[i]);
    assert.equal(layout.deepestRow(tree, tree.total[1], node), deepest);
  }
});

property('a walk over what is wide meets every node once, callers before callees, and stops where it is told', ({ tree }) => {
  const width = (/** @type {number} */ node) => tree.total[1][node];
  const walked = (/** @type {number} */ least, most = 1e9) => {
    const out = /** @type {number[]} */ ([]);
    layout.walkWide(tree, width, least, most, (/** @type {number} */ node) => (out.push(node), true));
    return out;
  };
  assert.deepEqual(
    walked(0),
    Array.from({ length: tree.count }, (_, i) => i),
  );
  assert.deepEqual(walked(0, 5), [0, 1, 2, 3, 4]);
  for (const node of walked(40)) assert.ok(node === 0 || width(node) >= 40);
});

test('rows are sorted by rank, then by size, however large the numbers are', () => {
  const values = [[0, 9e18], [2, 1e18 + 256], [2, 1e18], [2, 3], [-1, 9e18], [2, 2]];
  const sorted = [...values].sort((a, b) => -table.compareValues(a, b));
  assert.deepEqual(sorted, [[2, 1e18 + 256], [2, 1e18], [2, 3], [2, 2], [0, 9e18], [-1, 9e18]]);
  assert.equal(Math.sign(table.compareValues([2, 7], [2, 7])), 0);
  assert.ok(table.compareValues('a', 'b') < 0 && table.compareValues(Infinity, 1) > 0);
});
