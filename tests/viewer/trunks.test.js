// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of frames that have one row.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, lazy, order, trunks, tree as trees, walk } from './lib/modules.js';
import { shown } from './lib/pages.js';
import { childrenOf, property, randomFrom } from './lib/random.js';

const { below, framesIn, hasBox, isTrunk, rowWords, shownAs, trunkNames, trunksOf } = trunks;

/**
 * A random tree of long runs: most frames call one other for nearly all of their time. Some functions have a proven
 * change of their own, and some nodes a proven one.
 * @param {number} seed
 */
function longRuns(seed) {
  const random = randomFrom(seed);
  const depths = [0];
  const self = [[0], [0]];
  const grow = (/** @type {number} */ depth, /** @type {number} */ left, /** @type {number} */ most) => {
    depths.push(depth);
    for (const side of self) side.push(left ? Number(!random(8)) : random(most));
    if (!left) return;
    if (!random(6)) grow(depth + 1, random(3), 8);
    grow(depth + 1, left - 1, most);
    if (!random(6)) grow(depth + 1, random(left), random(3) ? 8 : most);
  };
  for (let i = 0; i < 4; i++) grow(1, 8 + random(14), 600);
  const tree = new trees.Tree(depths.length);
  tree.depth.set(depths);
  self.forEach((values, side) => tree.self[side].set(values));
  for (let i = 1; i < tree.count; i++) {
    tree.func[i] = random(12);
    tree.state[i] = random(12) ? codes.UNPROVEN : codes.MORE;
  }
  trees.linkTree(tree);
  const never = Uint8Array.from({ length: 12 }, (_, f) => (f === 5 ? 1 : 0));
  tree.trunks = trunksOf(tree, never);
  const functions = Array.from({ length: 12 }, (_, id) => ({ name: `f${id}`, origin: id % 4, languages: 0 }));
  return { tree, never, functions };
}

/** How many frames were folded in each tree. @type {number[]} */
const foldedIn = [];

/** The outermost frames of all trunks. @param {any} tree @returns {number[]} */
const trunksIn = (tree) => Array.from(tree.func, (_, node) => node).filter((node) => isTrunk(tree, node));

property('frames of a trunk have nearly all of its time on both sides, the same verdict, and no change of their own', ({ tree, never }) => {
  let folded = 0;
  for (const top of trunksIn(tree)) {
    const frames = framesIn(tree, top);
    assert.ok(frames.length >= 4);
    assert.equal(frames[0], top);
    const last = childrenOf(tree, frames[frames.length - 1]).filter((node) => tree.total.every((side) => side[node] >= 0.95 * side[top]));
    assert.ok(last.length && last.every((node) => hasBox(tree, node)), 'the frame below which the time parts has its row');
    frames.forEach((frame, i) => {
      if (i) assert.equal(tree.parent[frame], frames[i - 1]);
      for (const side of tree.total) assert.ok(side[frame] >= 0.95 * side[top]);
      assert.ok(!never[tree.func[frame]]);
      assert.equal(tree.state[frame] === codes.MORE, tree.state[top] === codes.MORE);
      assert.equal(shownAs(tree, frame), top);
      assert.deepEqual(framesIn(tree, frame), frames);
      assert.equal(hasBox(tree, frame), i === 0);
      assert.match(rowWords(tree, frame), i ? /^one of \d+ frames in one row$/ : /^the outermost of /);
      folded++;
    });
  }
  for (let node = 1; node < tree.count; node++)
    assert.equal(tree.row(node) - tree.row(tree.parent[node]), hasBox(tree, node) ? 1 : 0);
  foldedIn.push(folded);
}, longRuns);

test('the random trees have trunks', () => {
  assert.ok(foldedIn.filter((folded) => folded > 3).length > foldedIn.length / 2, `${foldedIn}`);
});

/** The boxes of a tree, each with its row and place. @param {any} tree @param {Float64Array|null} widths @param {object} [change] */
function boxesOf(tree, widths, change = {}) {
  const width = (/** @type {number} */ node) => tree.total[1][node];
  const view = { tree, width, widths, zoom: 0, room: 1e7, left: 0, shown: 1e7, top: 0, behind: 200, ...change };
  /** @type {{row: number, x: number, w: number, node: number}[]} */ const boxes = [];
  walk.walk(view, {
    box: (row, x, w, node) => boxes.push({ row, x, w, node }),
    narrow: () => {},
    merged: () => {},
  });
  return { view, boxes };
}

property('nothing is hidden: every other frame has its box, at its own place, and boxes of a row do not overlap', ({ tree }) => {
  const ordered = new order.OrderedTree(tree, { by: 'size', factor: 1, changes: null });
  for (const [of, widths] of [[tree, tree.total[1]], [ordered, null]]) {
    const { view, boxes } = boxesOf(of, widths);
    const wide = Array.from(of.func, (_, node) => node).filter((node) => of.total[1][node] > 0 && hasBox(of, node));
    assert.deepEqual(boxes.map(({ node }) => node).sort((a, b) => a - b), wide);
    for (const { row, x, w, node } of boxes) {
      const place = walk.extentOf(view, node);
      assert.ok(Math.abs(place.x - x) < 1e-3 && Math.abs(place.w - w) < 1e-3);
      assert.equal(row, of.row(node));
      assert.equal(walk.boxAt(view, row, x + w / 2)?.node, node, 'a trunk is hit as its outermost frame');
    }
    boxes.sort((a, b) => a.row - b.row || a.x - b.x);
    for (let i = 1; i < boxes.length; i++)
      if (boxes[i].row === boxes[i - 1].row) assert.ok(boxes[i].x >= boxes[i - 1].x + boxes[i - 1].w - 1e-3);
  }
}, longRuns);

property('zoomed to an inner frame, its trunk is drawn once, from edge to edge, and the rest is where it belongs', ({ tree }) => {
  for (const top of trunksIn(tree).slice(0, 4)) {
    const inner = framesIn(tree, top)[2];
    if (!(tree.total[1][inner] > 0)) continue;
    const { view, boxes } = boxesOf(tree, tree.total[1], { zoom: inner });
    const own = boxes.filter(({ node }) => node === top);
    assert.equal(own.length, 1);
    assert.deepEqual([own[0].x, own[0].w], [0, view.shown]);
    assert.equal(walk.boxAt(view, tree.row(top), 10)?.node, top);
    assert.equal(new Set(boxes.map(({ node }) => node)).size, boxes.length, 'no box is drawn twice');
    assert.ok(boxes.every(({ node }) => hasBox(tree, node)));
  }
}, longRuns);

property('the row below a box has what all its frames call, from left to right', ({ tree }) => {
  for (let node = 0; node < tree.count; node++) {
    if (!hasBox(tree, node)) continue;
    const found = [...below(tree, node)];
    const wanted = [];
    for (let at = node + 1; at < tree.end[node]; at++)
      if (tree.row(at) === tree.row(node) + 1 && hasBox(tree, at)) wanted.push(at);
    assert.deepEqual(found, wanted);
  }
}, longRuns);

/** A tree of one stack of functions, each of which has some time. @param {any[]} functions */
function chain(functions) {
  const tree = new trees.Tree(functions.length + 1);
  for (let i = 1; i <= functions.length; i++) {
    tree.depth[i] = i;
    tree.func[i] = i - 1;
  }
  tree.self[0][functions.length] = tree.self[1][functions.length] = 100;
  trees.linkTree(tree);
  tree.trunks = trunksOf(tree, new Uint8Array(functions.length));
  return { tree, functions };
}

test('a trunk is called by what its frames are', () => {
  const frames = (/** @type {any[]} */ ...list) => list.map(([name, origin, languages = 0]) => ({ name, origin, languages }));
  const names = (/** @type {any[]} */ list) => trunkNames(chain(frames(...list, ['leaf', 1])), 1);
  const system = Array.from({ length: 4 }, (_, i) => [`s${i}`, codes.SYSTEM]);
  assert.deepEqual(names(system), ['4 frames of the system', '4 frames']);
  assert.equal(names([...system, ['eval', codes.SYSTEM, 16]])?.[0], '5 frames of the interpreter');
  assert.equal(names([...system, ['main', 1]])?.[0], '5 frames: main');
  assert.deepEqual(names([['main', 1], ...system, ['shop::Worker::run(int)', 1]]), [
    '6 frames: main … shop::Worker::run(int)',
    '6 frames: main … run',
    '6 frames',
  ]);
  const libraries = Array.from({ length: 4 }, (_, i) => [`l${i}`, codes.LIBRARY]);
  assert.equal(names(libraries)?.[0], '4 frames of libraries: l0 … l3');
  assert.equal(names(libraries.slice(1)), null, 'three frames are no trunk');
});

test('figures, paths and turned trees are those of all frames; without trunks each has its row', () => {
  const folded = shown('deep');
  const whole = shown('deep', { trunks: false });
  assert.ok(folded.tree.row(2000) < 10 && folded.rowRange()[1] < 10);
  assert.equal(whole.tree.row(2000), 2000);
  assert.equal(whole.rowRange()[1], 2000);
  assert.equal(folded.pathTo(1500), whole.pathTo(1500));
  assert.deepEqual([...folded.valueOf(1500)], [...whole.valueOf(1500)]);
  const turned = shown('deep', { inverted: true });
  assert.ok(turned.tree instanceof lazy.LazyTree);
  for (let node = turned.tree.first(0), row = 1; node >= 0 && row < 50; node = turned.tree.first(node), row++)
    assert.equal(turned.tree.row(node), row);
});
