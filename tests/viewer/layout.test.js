// SPDX-License-Identifier: GPL-3.0-or-later
// Where frames lie: inside their caller, side by side, in all views in one order.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { layout } from './lib/modules.js';
import { randomPage } from './lib/random.js';

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 100);
const USUAL = { view: 'diff', reversed: false, removed: false, factor: 1 };

/** @param {any} tree @param {object} options */
const widths = (tree, options) => layout.widthsOf(tree, { ...USUAL, ...options });

test('a view draws the widths of its side; head is scaled', () => {
  const { tree } = randomPage(1);
  assert.deepEqual(widths(tree, { view: 'base' }), tree.total[0]);
  assert.deepEqual(widths(tree, { view: 'head' }), tree.total[1]);
  assert.deepEqual(widths(tree, { view: 'diff' }), tree.total[1]);
  assert.deepEqual(widths(tree, { view: 'diff', reversed: true }), tree.total[0]);
  assert.deepEqual(widths(tree, { view: 'head', reversed: true }), tree.total[1]);
  assert.deepEqual(
    widths(tree, { view: 'head', factor: 0.5 }),
    tree.total[1].map((/** @type {number} */ value) => value / 2),
  );
  assert.deepEqual(widths(tree, { view: 'base', factor: 0.5 }), tree.total[0]);
});

test('callees lie within their caller and do not overlap', () => {
  for (const seed of SEEDS) {
    const { tree } = randomPage(seed);
    for (const options of [{}, { reversed: true }, { removed: true }]) {
      const wide = widths(tree, options);
      const left = layout.leftEdges(tree, wide);
      for (let i = 0; i < tree.count; i++) {
        let edge = left[i];
        for (let child = i + 1; child < tree.end[i]; child = tree.end[child]) {
          assert.equal(left[child], edge);
          edge += wide[child];
        }
        if (!(wide[i] === 0)) assert.ok(edge <= left[i] + wide[i] + 1e-9, `node ${i} of seed ${seed}`);
      }
    }
  }
});

test('removed stacks have the widths of base, and their callers are as wide as what vanished', () => {
  for (const seed of SEEDS) {
    const { tree } = randomPage(seed);
    const wide = widths(tree, { removed: true });
    let count = 0;
    let sum = 0;
    for (let i = 1; i < tree.count; i++) {
      const gone = tree.total[0][i] > 0 && tree.total[1][i] === 0;
      const top = gone && tree.total[1][tree.parent[i]] > 0;
      if (gone) assert.equal(wide[i], tree.total[0][i]);
      if (top) {
        count++;
        sum += tree.total[0][i];
      }
    }
    assert.equal(layout.countRemoved(tree), count);
    assert.equal(wide[0], sum);
  }
});

test('the deepest level counts what has a width, below the zoomed frame', () => {
  for (const seed of SEEDS) {
    const { tree } = randomPage(seed);
    const wide = widths(tree, {});
    for (const node of [0, 1, tree.count >> 1]) {
      let deepest = tree.depth[node];
      for (let i = node; i < tree.end[node]; i++) if (wide[i] > 0) deepest = Math.max(deepest, tree.depth[i]);
      assert.equal(layout.depthBelow(tree, wide, node), deepest);
    }
  }
});
