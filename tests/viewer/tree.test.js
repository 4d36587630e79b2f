// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold of every tree that is made from the page's: filters, the system-calls toggle, inverting, search.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lazy, sums as trees, system } from './lib/modules.js';
import { byPath, childrenOf, namesTo, property, randomFrom, randomPage, STATES, unfold, withoutSystem } from './lib/random.js';

const SYSTEM = 3;

/** @param {Float64Array[]} self */
const sums = (self) => self.map((side) => side.reduce((a, b) => a + b, 0));

/** @param {any} tree */
const totals = (tree) => [tree.total[0][0], tree.total[1][0]];

property('self values add up to the total of the root, and of every node', ({ tree }) => {
  assert.deepEqual(sums(tree.self), totals(tree));
  for (let i = 0; i < tree.count; i++)
    for (let side = 0; side < 2; side++) {
      let sum = tree.self[side][i];
      for (let child = i + 1; child < tree.end[i]; child = tree.end[child]) sum += tree.total[side][child];
      assert.equal(tree.total[side][i], sum);
    }
});

property('a function counts once in a recursion', ({ tree, functions }) => {
  const made = trees.functionSums(tree, functions.length);
  for (const f of functions) {
    const self = [0, 0];
    const total = [0, 0];
    for (let i = 1; i < tree.count; i++) {
      let above = tree.parent[i];
      while (above > 0 && tree.func[above] !== f.id) above = tree.parent[above];
      for (let side = 0; side < 2; side++) {
        if (tree.func[i] === f.id) self[side] += tree.self[side][i];
        if (tree.func[i] === f.id && above === 0) total[side] += tree.total[side][i];
      }
    }
    assert.deepEqual([made.self[0][f.id], made.self[1][f.id]], self);
    assert.deepEqual([made.total[0][f.id], made.total[1][f.id]], total);
  }
});

/** All of an inverted tree, or of one around a function. @param {any} page @param {any} [source] */
const inverted = (page, source = page.tree) => unfold(lazy.inverted(source, page.functions));
/** @param {any} page @param {number} func @param {object} which */
const around = (page, func, which) =>
  unfold(lazy.around(page.tree, page.functions, func, { callers: false, callees: false, ...which }));

property('inverting keeps the totals; its first level is the self time of each function', (page) => {
  const made = inverted(page);
  assert.deepEqual(totals(made), totals(page.tree));
  assert.deepEqual(sums(made.self), totals(page.tree));
  const before = trees.functionSums(page.tree, page.functions.length);
  const first = new Map(childrenOf(made, 0).map((child) => [made.func[child], [made.total[0][child], made.total[1][child]]]));
  for (const f of page.functions) {
    const self = [before.self[0][f.id], before.self[1][f.id]];
    if (self[0] || self[1]) assert.deepEqual(first.get(f.id), self);
    else assert.equal(first.get(f.id), undefined);
  }
});

/** Inverting, the slow way: every stack backwards. @param {any} page @param {(func: number) => boolean} [only] */
function invertedByHand(page, only) {
  const { tree, functions } = page;
  const out = new Map();
  for (let i = 1; i < tree.count; i++) {
    const weight = (only ? tree.total : tree.self).map((/** @type {Float64Array} */ side) => side[i]);
    if (!weight[0] && !weight[1]) continue;
    if (only && !only(tree.func[i])) continue;
    let above = tree.parent[i];
    while (only && above > 0 && !only(tree.func[above])) above = tree.parent[above];
    if (only && above > 0) continue;
    const path = [];
    for (let at = i; at > 0; at = tree.parent[at]) path.push(functions[tree.func[at]].name);
    const sum = out.get(path.join(';')) || [0, 0];
    out.set(path.join(';'), [sum[0] + weight[0], sum[1] + weight[1]]);
  }
  return out;
}

property('inverting turns every stack around', (page) => {
  assert.deepEqual(sorted(byPath(page, inverted(page))), sorted(invertedByHand(page)));
});

/** @param {Map<string, number[]>} map */
const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

property("callers of one function add up to the function's total", (page) => {
  const before = trees.functionSums(page.tree, page.functions.length);
  for (const f of page.functions) {
    const made = around(page, f.id, { callers: true });
    assert.deepEqual(totals(made), [before.total[0][f.id], before.total[1][f.id]]);
    for (const child of childrenOf(made, 0)) assert.equal(made.func[child], f.id);
    assert.deepEqual(sorted(byPath(page, made)), sorted(invertedByHand(page, (func) => func === f.id)));
  }
});

property('callees of one function add up to the time spent in and below it', (page) => {
  const before = trees.functionSums(page.tree, page.functions.length);
  for (const f of page.functions) {
    const made = around(page, f.id, { callees: true });
    assert.deepEqual(totals(made), [before.total[0][f.id], before.total[1][f.id]]);
    assert.deepEqual(sums(made.self), totals(made));
    for (const child of childrenOf(made, 0)) assert.equal(made.func[child], f.id);
  }
});

property('callers above and callees below a function are the two pictures in one', (page) => {
  for (const f of page.functions) {
    const both = around(page, f.id, { callers: true, callees: true });
    const up = around(page, f.id, { callers: true });
    const down = around(page, f.id, { callees: true });
    assert.deepEqual(totals(both), totals(up));
    if (!childrenOf(up, 0).length) continue;
    const list = (/** @type {any} */ tree, /** @type {number} */ node, /** @type {number} */ depth = 0) => [
      [depth, tree.func[node], tree.total[0][node], tree.total[1][node], tree.self[0][node]],
      ...childrenOf(tree, node).flatMap((/** @type {number} */ child) => list(tree, child, depth + 1)),
    ];
    assert.deepEqual(list(both, 1), list(down, 1));
    assert.deepEqual(list(both, both.twin), list(up, 1));
    for (let i = 1; i < both.count; i++)
      assert.equal(both.row(i), both.upward(i) ? 1 - both.depth[i] : both.depth[i] - 1, 'callers above, callees below');
  }
});

test('children are made only when they are asked for', () => {
  const page = randomPage(2, { stacks: 400 });
  const made = lazy.inverted(page.tree, page.functions);
  const first = made.count;
  assert.ok(first <= page.functions.length + 1);
  made.first(1);
  assert.ok(made.count > first && made.count < unfold(lazy.inverted(page.tree, page.functions)).count);
});

/** @param {any[]} functions @param {number[]} wanted */
const hitsOf = (functions, wanted) => Uint8Array.from(functions, (f) => (wanted.includes(f.id) ? 1 : 0));

property('a search covers the union of the matching subtrees', ({ tree, functions }) => {
  for (const wanted of [[0], [1, 2], [3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]]) {
    const { sum, nodes } = trees.covered(tree, hitsOf(functions, wanted), null, null);
    const union = [0, 0];
    let summed = 0;
    for (let i = 1; i < tree.count; i++) {
      let at = i;
      while (at > 0 && !wanted.includes(tree.func[at])) at = tree.parent[at];
      if (at > 0) [0, 1].forEach((side) => (union[side] += tree.self[side][i]));
      if (wanted.includes(tree.func[i])) summed += tree.total[0][i];
    }
    assert.deepEqual(sum, union);
    assert.ok(sum[0] <= tree.total[0][0] && sum[0] <= summed);
    for (const node of nodes) assert.ok(wanted.includes(tree.func[node]));
  }
  assert.deepEqual(trees.covered(tree, hitsOf(functions, []), null, null).sum, [0, 0]);
});

/** What a toggle should make of every stack, by hand. @param {any} page @param {'hide'|'fold'} mode */
function withoutSystemByHand(page, mode) {
  const { tree, functions } = page;
  const out = new Map();
  const hidden = [0, 0];
  for (let i = 0; i < tree.count; i++) {
    const self = [tree.self[0][i], tree.self[1][i]];
    if (!self[0] && !self[1]) continue;
    if (mode === 'hide' && i > 0 && functions[tree.func[i]].origin === SYSTEM) {
      self.forEach((value, side) => (hidden[side] += value));
      continue;
    }
    const path = [];
    for (let at = i; at > 0; at = tree.parent[at])
      if (functions[tree.func[at]].origin !== SYSTEM) path.push(functions[tree.func[at]].name);
    const key = path.reverse().join(';');
    const sum = out.get(key) || [0, 0];
    out.set(key, [sum[0] + self[0], sum[1] + self[1]]);
  }
  return { paths: out, hidden };
}

for (const mode of /** @type {const} */ (['hide', 'fold'])) {
  property(
    `system calls, ${mode}: frames between others are spliced out, the rest is ${mode === 'hide' ? 'hidden' : 'kept'}`,
    (page) => {
      const { tree: made, hidden } = withoutSystem(page.tree, page.functions, mode);
      const wanted = withoutSystemByHand(page, mode);
      assert.deepEqual(byPath(page, made), wanted.paths);
      assert.deepEqual(hidden, wanted.hidden);
      for (let i = 1; i < made.count; i++) assert.notEqual(page.functions[made.func[i]].origin, SYSTEM);
      totals(made).forEach((total, side) => assert.equal(total + hidden[side], page.tree.total[side][0]));
    },
  );
}

test('system calls that are hidden step by step come out as at once', () => {
  const page = randomPage(3, { stacks: 5000 });
  const splicer = system.splicerOf(page.tree, page.functions, 'hide');
  let steps = 1;
  while (!splicer.run(-1)) steps++;
  assert.ok(steps > 3, `${steps} steps`);
  assert.deepEqual(splicer.result(), withoutSystem(page.tree, page.functions, 'hide'));
});

property('hiding keeps the self time of every function that is no system function', (page) => {
  const before = trees.functionSums(page.tree, page.functions.length);
  const after = trees.functionSums(withoutSystem(page.tree, page.functions, 'hide').tree, page.functions.length);
  for (const f of page.functions)
    for (let side = 0; side < 2; side++) assert.equal(after.self[side][f.id], f.origin === SYSTEM ? 0 : before.self[side][f.id]);
});

property('siblings of a tree that is made anew keep the shared order, and are distinct', (page) => {
  for (const made of [
    inverted(page),
    withoutSystem(page.tree, page.functions, 'hide').tree,
    withoutSystem(page.tree, page.functions, 'fold').tree,
  ])
    for (let i = 0; i < made.count; i++) {
      let before = -1;
      for (const child of childrenOf(made, i)) {
        const { rank } = page.functions[made.func[child]];
        assert.ok(rank > before, namesTo(page, made, child).join(';'));
        before = rank;
      }
    }
});

/** @param {any} page @param {object} filters */
const filtered = (page, filters) => trees.filteredSelf(page.tree, page.samples, page.timelines, filters);

property('a filter that lets all pass changes nothing', (page) => {
  assert.deepEqual(filtered(page, { range: null }), page.tree.self);
  assert.deepEqual(filtered(page, { keepThread: () => true }), page.tree.self);
  assert.deepEqual(filtered(page, { range: [0, 2e7] }), page.tree.self);
});

property('threads and ranges of time add up to the whole', (page) => {
  const add = (/** @type {any[]} */ parts) =>
    [0, 1].map((side) =>
      page.tree.self[side].map((/** @type {any} */ _, /** @type {number} */ i) =>
        parts.reduce((sum, part) => sum + part[side][i], 0),
      ),
    );
  const threads = [0, 1, 2].map((wanted) =>
    filtered(page, { keepThread: (/** @type {any} */ _, /** @type {number} */ thread) => thread === wanted }),
  );
  assert.deepEqual(add(threads), page.tree.self);
  const ranges = [0, 1e6, 4e6, 1e7].map((from, i, all) => filtered(page, { range: [from, all[i + 1] ?? 2e7] }));
  assert.deepEqual(add(ranges), page.tree.self);
  const both = [0, 1, 2].flatMap((wanted) =>
    [0, 5e6].map((from) =>
      filtered(page, {
        range: [from, from + 5e6],
        keepThread: (/** @type {any} */ _, /** @type {number} */ thread) => thread === wanted,
      }),
    ),
  );
  assert.deepEqual(add(both), page.tree.self);
});

property('a range of time that moves has the samples of that range', (page) => {
  const random = randomFrom(page.tree.count);
  for (let i = 0; i < 30; i++) {
    const from = random(1e7);
    const range = [from, from + random(i % 2 ? 1e7 : 1e5)];
    const wanted = page.tree.self.map((column) => new Float64Array(column.length));
    page.timelines.forEach(({ time, sample }, side) =>
      time.forEach((at, event) => {
        if (at >= range[0] && at < range[1]) wanted[side][page.samples[side].node[sample[event]]]++;
      }),
    );
    assert.deepEqual(filtered(page, { range }), wanted);
  }
});

property('ranges that move under several filters in turn have the samples that each of them keeps', (page) => {
  const random = randomFrom(page.tree.count);
  const passes = Uint8Array.from(page.tree.func, () => random(3) > 0);
  const keepThread = (/** @type {any} */ _, /** @type {number} */ thread) => thread !== 1;
  const kept = page.samples.map((side) => Uint8Array.from(side.node, (node) => passes[node]));
  const several = [{}, { kept }, { keepThread }, { kept, keepThread }, { keepThread: () => true }];
  for (let i = 0; i < 40; i++) {
    const filter = several[random(several.length)];
    const from = random(1e7);
    const range = [from, from + random(1e7)];
    const counts = page.samples.map((side) => new Float64Array(side.count));
    page.timelines.forEach(({ time, sample }, side) =>
      time.forEach((at, event) => {
        const { thread } = page.samples[side];
        const one = sample[event];
        const isKept = (filter.kept?.[side][one] ?? 1) && (filter.keepThread?.(side, thread[one]) ?? true);
        if (isKept && at >= range[0] && at < range[1]) counts[side][one]++;
      }),
    );
    const wanted = page.tree.self.map((column, side) => {
      const out = new Float64Array(column.length);
      counts[side].forEach((count, one) => (out[page.samples[side].node[one]] += count));
      return out;
    });
    if (i % 2) assert.deepEqual(filtered(page, { ...filter, range }), wanted);
    else assert.deepEqual(trees.filteredValues(page.samples, page.timelines, { ...filter, range }), counts);
  }
});

property('every combination of the toggles keeps all time but what it says is hidden', (page) => {
  for (const mode of /** @type {const} */ (['hide', 'fold'])) {
    const { tree: made, hidden } = withoutSystem(page.tree, page.functions, mode);
    const turned = inverted(page, made);
    totals(turned).forEach((total, side) => assert.equal(total + hidden[side], page.tree.total[side][0], mode));
  }
});

test('inverted frames have the verdict on what their width shows', () => {
  const page = randomPage(7);
  page.functions.forEach((/** @type {any} */ f, /** @type {number} */ i) => {
    f.self = { state: i % 2 ? 'same' : 'less' };
    f.total = { state: 'more' };
  });
  const states = (/** @type {any} */ made) => {
    const out = new Map();
    for (const child of childrenOf(made, 0)) out.set(made.func[child], STATES[made.state[child]]);
    return out;
  };
  for (const [func, state] of states(inverted(page))) assert.equal(state, func % 2 ? 'same' : 'less');
  assert.deepEqual([...states(around(page, 3, { callers: true }))], [[3, 'more']]);
});

test('a range of time does not compare a part of one side with the whole of the other', () => {
  const page = randomPage(4);
  const self = trees.filteredSelf(page.tree, page.samples, [null, page.timelines[1]], { range: [0, 1e6] });
  assert.ok(
    self.every((side, i) => i === 1 || side.every((value) => value === 0)) ||
      self[1].every((value, i) => value === page.tree.self[1][i]),
  );
});

test('the events of a sample share its value by their weights', () => {
  const tree = { count: 2, self: [new Float64Array(2), new Float64Array(2)] };
  const samples = { count: 2, node: [0, 1], thread: [0, 0], times: [2, 3], values: [[10, 100]] };
  const weight = new Map([[1, 70], [3, 20], [4, 10]]);
  const timeline = { count: 5, starts: Int32Array.of(0, 5), time: [1, 2, 3, 4, 5], sample: [0, 1, 0, 1, 1], weight };
  /** @param {number[]} range */
  const within = (range) => [...trees.filteredSelf(tree, [samples, null], [timeline, null], { range })[0]];
  assert.deepEqual(within([0, 9]), [10, 100]);
  assert.deepEqual(within([1, 3]), [5, 70]);
  assert.deepEqual(within([4, 6]), [0, 30]);
});
