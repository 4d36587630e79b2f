// SPDX-License-Identifier: GPL-3.0-or-later
// Orders of siblings: what comes first, and that nothing but the order changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, lazy, order, state, sums, trunks, walk } from './lib/modules.js';
import { shown } from './lib/pages.js';
import { byPath, childrenOf, property, randomFrom, randomPage, unfold } from './lib/random.js';

const { MORE, LESS, GONE, STATES, UNPROVEN } = codes;
const FACTOR = 2;

/** A page with verdicts on its frames and functions, and a factor. @param {number} seed */
function provenPage(seed) {
  const page = randomPage(seed);
  const random = randomFrom(seed);
  for (let i = 1; i < page.tree.count; i++) page.tree.state[i] = random(4) ? UNPROVEN : [MORE, LESS, STATES.indexOf('new'), GONE][random(4)];
  for (const f of page.functions) f.self = { state: random(2) ? 'more' : 'unproven' };
  page.meta.factor = FACTOR;
  return page;
}

/** How large a node is on the greater side. @param {any} tree @param {number} node */
const sizeOf = (tree, node) => Math.max(tree.total[0][node], tree.total[1][node] * FACTOR);

/** The largest proven change of a node or of one below it, the slow way. @param {any} tree @param {number} node */
function changeOf(tree, node) {
  let most = 0;
  for (let i = node; i < tree.end[node]; i++)
    if (i > 0 && tree.state[i] !== UNPROVEN) most = Math.max(most, Math.abs(tree.total[1][i] * FACTOR - tree.total[0][i]));
  return most;
}

/** The nodes of a tree, callers before callees. @param {any} tree @param {number} [node] @returns {number[]} */
const readOf = (tree, node = 0) => [node, ...childrenOf(tree, node).flatMap((child) => readOf(tree, child))];

/** Whether numbers never rise. @param {number[]} list */
const falls = (list) => list.every((value, i) => !i || value <= list[i - 1]);

property('by size: the greater of both sides decides, and every node keeps its number, its callees and its figures', (page) => {
  const { tree } = shown(page, { order: 'size' });
  for (let node = 0; node < tree.count; node++) {
    const children = childrenOf(tree, node);
    assert.ok(falls(children.map((child) => sizeOf(tree, child))));
    assert.deepEqual([...children].sort((a, b) => a - b), childrenOf(page.tree, node));
  }
  assert.equal(tree.total, page.tree.total);
  const read = readOf(tree);
  read.forEach((node, place) => assert.equal(tree.places[node], place));
  assert.deepEqual(read.sort((a, b) => a - b), Array.from({ length: tree.count }, (_, i) => i));
}, provenPage);

property('by change: the largest proven change in a frame or below it comes first, then the larger frame', (page) => {
  const changes = order.changesIn(page.tree, FACTOR);
  for (let node = 1; node < page.tree.count; node++) assert.equal(changes[node], changeOf(page.tree, node));
  const { tree } = shown(page, { order: 'change' });
  for (let node = 0; node < tree.count; node++) {
    const keys = childrenOf(tree, node).map((child) => [changeOf(page.tree, child), sizeOf(tree, child)]);
    for (let i = 1; i < keys.length; i++) {
      assert.ok(keys[i][0] <= keys[i - 1][0]);
      if (keys[i][0] === keys[i - 1][0]) assert.ok(keys[i][1] <= keys[i - 1][1]);
    }
  }
}, provenPage);

test('many siblings are sorted as few are', () => {
  const page = randomPage(1);
  const many = 5000;
  const random = randomFrom(3);
  const tree = Object.assign(Object.create(Object.getPrototypeOf(page.tree)), page.tree, {
    count: many + 1,
    func: new Int32Array(many + 1),
    parent: new Int32Array(many + 1).fill(0),
    end: Int32Array.from({ length: many + 1 }, (_, i) => (i ? i + 1 : many + 1)),
    total: [0, 1].map(() => Float64Array.from({ length: many + 1 }, () => random(100))),
  });
  const made = new order.OrderedTree(tree, { by: 'size', factor: FACTOR, changes: null });
  const sizes = childrenOf(made, 0).map((node) => sizeOf(tree, node));
  assert.equal(sizes.length, many);
  assert.ok(falls(sizes));
});

property('base, head and difference, zoom and selection keep one order; a filter makes its own', (page) => {
  const model = shown(page, { order: 'size' });
  const { tree } = model;
  for (const change of [{ view: 'base' }, { view: 'head' }, { reversed: true }, { zoom: model.pathTo(3), selected: model.pathTo(2) }]) {
    model.update({ ...state.DEFAULTS, order: 'size', ...change });
    assert.equal(model.tree, tree);
  }
  model.update({ ...state.DEFAULTS, order: 'size', thread: 'thread 1' });
  assert.notEqual(model.tree, tree);
  for (let node = 0; node < model.tree.count; node++)
    assert.ok(falls(childrenOf(model.tree, node).map((child) => sizeOf(model.tree, child))));
}, provenPage);

property('boxes on the screen stand in the order, without gaps, and are found where they stand', (page) => {
  const model = shown(page, { order: 'size' });
  const { tree, width, widths } = model;
  const view = { tree, width, widths, zoom: 0, room: 1e6, left: 0, shown: 1e6, top: 0, behind: 100 };
  let seen = 0;
  walk.walk(view, {
    box: (/** @type {number} */ row, /** @type {number} */ x, /** @type {number} */ w, /** @type {number} */ node) => {
      const place = walk.extentOf(view, node);
      assert.ok(Math.abs(place.x - x) < 1e-3 && Math.abs(place.w - w) < 1e-3);
      assert.equal(walk.boxAt(view, row, x + w / 2)?.node, node);
      seen++;
    },
    narrow: () => assert.fail('no frame is narrow here'),
    merged: () => {},
  });
  assert.equal(seen, readOf(tree).filter((node) => width(node) > 0 && trunks.hasBox(tree, node)).length);
}, provenPage);

property('matches follow each other as they stand on the screen', (page) => {
  const names = (/** @type {string} */ by) => shown(page, { order: by, search: 'f[0-5]$' }).found;
  const [byName, bySize] = [names('name'), names('size')];
  const { tree } = shown(page, { order: 'size' });
  const places = bySize.nodes.map((/** @type {number} */ node) => tree.places[node]);
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.deepEqual([...bySize.nodes].sort((a, b) => a - b), byName.nodes);
  assert.deepEqual(bySize.sum, byName.sum);
}, provenPage);

property('by function that runs: by size where no order was chosen, with the exact time of each function', (page) => {
  const model = shown(page, { inverted: true });
  assert.equal(model.orderOf({ ...state.DEFAULTS, inverted: true }), 'size');
  const { tree } = model;
  const self = sums.functionSums(page.tree, page.functions.length).self;
  const top = childrenOf(tree, 0);
  assert.ok(falls(top.map((node) => sizeOf(tree, node))));
  for (const node of top)
    assert.deepEqual([tree.total[0][node], tree.total[1][node]], [self[0][tree.func[node]], self[1][tree.func[node]]]);
  const inverted = unfold(tree);
  for (let node = 0; node < inverted.count; node++)
    assert.ok(falls(childrenOf(inverted, node).map((child) => sizeOf(inverted, child))));
  const sorted = (/** @type {any} */ made) => [...byPath(page, made)].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(sorted(inverted), sorted(unfold(lazy.inverted(page.tree, page.functions))));
}, provenPage);

property('by function that runs, by change: functions whose own change is proven come first, the largest before', (page) => {
  const { tree } = shown(page, { inverted: true, order: 'change' });
  const keys = childrenOf(tree, 0).map((node) =>
    page.functions[tree.func[node]].self.state === 'more' ? Math.abs(tree.total[1][node] * FACTOR - tree.total[0][node]) : 0,
  );
  assert.ok(falls(keys));
}, provenPage);

property('callers and callees of a function stand in the order too', (page) => {
  const sorted = (/** @type {any} */ made) => [...byPath(page, made)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const which of [{ callers: true, callees: false }, { callers: false, callees: true }]) {
    const by = { by: 'size', factor: FACTOR, changes: null };
    const made = unfold(lazy.around(page.tree, page.functions, 2, which, by));
    for (let node = 0; node < made.count; node++)
      assert.ok(falls(childrenOf(made, node).map((child) => sizeOf(made, child))));
    assert.deepEqual(sorted(made), sorted(unfold(lazy.around(page.tree, page.functions, 2, which))));
  }
}, provenPage);

test('one recording, and a metric that was not tested, have no order by change', () => {
  const page = provenPage(7);
  page.meta.sides = 1;
  assert.deepEqual(shown(page).orders, ['name', 'size']);
  assert.equal(shown(page).orderOf({ ...state.DEFAULTS, order: 'change' }), 'name');
  assert.equal(shown(page).orderOf({ ...state.DEFAULTS, order: 'change', inverted: true }), 'size');
});
