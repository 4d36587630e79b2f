// SPDX-License-Identifier: GPL-3.0-or-later
// The page's blocks: what the C side wrote is what the viewer reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as known from './lib/known.js';
import { block, decode, tree as trees } from './lib/modules.js';
import { readPage } from './lib/pages.js';
import { randomFrom } from './lib/random.js';

/** @param {number[]} out @param {number} value */
function putVarint(out, value) {
  while (value >= 128) {
    out.push((value % 128) + 128);
    value = Math.floor(value / 128);
  }
  out.push(value);
}

test('numbers come back, from zero to 2^53', () => {
  const values = [0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER];
  const bytes = [];
  values.forEach((value) => putVarint(bytes, value));
  const columns = new block.Columns(Uint8Array.from(bytes));
  for (const value of values) assert.equal(columns.varint(), value);
});

test('signed numbers come back', () => {
  const values = [0, -1, 1, -64, 64, 2 ** 40, -(2 ** 40)];
  const bytes = [];
  values.forEach((value) => putVarint(bytes, value < 0 ? -2 * value - 1 : 2 * value));
  const columns = new block.Columns(Uint8Array.from(bytes));
  for (const value of values) assert.equal(columns.zigzag(), value);
});

test('fixed columns come back, as wide as their largest value', () => {
  const wide = new Uint8Array(new Float64Array([0, 2 ** 32, Number.MAX_SAFE_INTEGER]).buffer);
  const columns = new block.Columns(
    Uint8Array.from([1, 0, 7, 255, 2, 0, 0, 1, 1, 255, 255, 4, 1, 0, 0, 0, 0, 0, 1, 0, 255, 255, 255, 255, 8, ...wide]),
  );
  for (const values of [
    [0, 7, 255],
    [0, 257, 65535],
    [1, 65536, 4294967295],
    [0, 2 ** 32, Number.MAX_SAFE_INTEGER],
  ])
    assert.deepEqual([...columns.fixed(3)], values);
  assert.throws(() => columns.fixed(1), /cut off/);
});

test('multiples come back', () => {
  const columns = new block.Columns(Uint8Array.from([100, 1, 0, 3, 1, 2, 0, 0, 0, 1]));
  assert.deepEqual([...columns.multiples(2)], [0, 300]);
  assert.deepEqual([...columns.multiples(2)], [0, 256]);
});

test('data that is cut off is refused', () => {
  assert.throws(() => new block.Columns(Uint8Array.from([128, 128])).varint(), /cut off/);
  assert.throws(() => decode.decodeTree(Uint8Array.from([5, 0, 2]), 2), /cut off/);
  assert.throws(() => decode.decodeSamples(Uint8Array.from([3, 2]), 1, []), /cut off/);
});

test('a tree links its nodes from their depths', () => {
  const random = randomFrom(3);
  const tree = new trees.Tree(500);
  for (let i = 1; i < tree.count; i++) tree.depth[i] = 1 + random(tree.depth[i - 1] + 1);
  trees.linkTree(tree);
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    assert.ok(parent < i && tree.depth[parent] === tree.depth[i] - 1);
    assert.ok(tree.end[i] <= tree.end[parent]);
    assert.ok(tree.end[i] === tree.count || tree.depth[tree.end[i]] <= tree.depth[i]);
    for (let j = i + 1; j < tree.end[i]; j++) assert.ok(tree.depth[j] > tree.depth[i]);
  }
  assert.equal(tree.end[0], tree.count);
});

for (const [kind, factor] of [
  ['diff', 1],
  ['scaled', 2],
]) {
  test(`"${kind}" holds the known figures`, () => {
    const page = readPage(kind);
    assert.equal(page.meta.factor, factor);
    const self = new Map();
    for (let i = 1; i < page.tree.count; i++) {
      const path = [];
      for (let at = i; at > 0; at = page.tree.parent[at]) path.push(page.functions[page.tree.func[at]].name);
      self.set(path.reverse().join(' '), [page.tree.self[0][i], page.tree.self[1][i] * factor]);
    }
    for (const [path, base, head] of known.STACKS) assert.deepEqual(self.get(path.join(' ')), [base, head], path.join(' '));
    assert.deepEqual([page.tree.total[0][0], page.tree.total[1][0] * factor], known.TOTAL);
  });
}

test('samples add up to the self values of the tree', () => {
  for (const kind of ['diff', 'scaled', 'single', 'timeline', 'hostile', 'threads', 'empty-base', 'empty-head']) {
    const page = readPage(kind);
    for (let side = 0; side < 2; side++) {
      const self = new Float64Array(page.tree.count);
      const samples = page.samples[side];
      if (samples)
        for (let i = 0; i < samples.count; i++)
          self[samples.node[i]] += samples.values[page.meta.metrics.findIndex((m) => m.tested)][i];
      assert.deepEqual(self, page.tree.self[side], `${kind}, side ${side}`);
    }
  }
});

test('every event of a timeline has its sample, by thread and in order of time', () => {
  for (const kind of ['timeline', 'threads']) {
    const page = readPage(kind);
    page.timelines.forEach((timeline, side) => {
      if (!timeline) return;
      const seen = new Float64Array(page.samples[side].count);
      for (let i = 0; i < timeline.count; i++) seen[timeline.sample[i]]++;
      assert.deepEqual([...seen], [...page.samples[side].times]);
      const { starts } = timeline;
      assert.deepEqual([starts[0], starts[starts.length - 1]], [0, timeline.count]);
      for (let thread = 0; thread + 1 < starts.length; thread++) {
        for (let i = starts[thread]; i < starts[thread + 1]; i++) {
          assert.equal(page.samples[side].thread[timeline.sample[i]], thread);
          assert.ok(i === starts[thread] || timeline.time[i] >= timeline.time[i - 1]);
        }
      }
    });
  }
});

test('the weights of events arrive, and those that have none say so', () => {
  // Three events of two threads, of which the second and the third have the weights 300 and 5; and a side without one.
  const bytes = Uint8Array.of(0, 0, 1, 0, 3, 2, 2, 1, 2, 2, 2, 1, 0, 1, 1, 2, 1, 0xac, 2, 0, 5);
  const [none, made] = decode.decodeTimeline(bytes, 2);
  assert.equal(none.weight.size, 0);
  assert.deepEqual([...none.starts], [0]);
  assert.deepEqual([...made.starts], [0, 2, 3]);
  assert.deepEqual([...made.time], [1, 2, 3]);
  assert.deepEqual([...made.weight], [[1, 300], [2, 5]]);
  assert.throws(() => decode.decodeTimeline(bytes.subarray(0, 15), 2), /cut off/);
  assert.throws(() => decode.decodeTimeline(bytes.with(6, 1), 2), /not whole/);
});

test('siblings stand in the order of their keys', () => {
  const page = readPage('diff');
  for (let i = 0; i < page.tree.count; i++) {
    let before = '';
    for (let child = i + 1; child < page.tree.end[i]; child = page.tree.end[child]) {
      const { key } = page.functions[page.tree.func[child]];
      assert.ok(before < key, `${before} before ${key}`);
      before = key;
    }
  }
});

test('2,000 levels and names of 10 kB arrive whole', () => {
  const deep = readPage('deep');
  assert.equal(deep.tree.depth[deep.tree.count - 1], 2000);
  const hostile = readPage('hostile');
  const long = hostile.functions.find((f) => f.name.startsWith('long<'));
  assert.equal(long.name.length, 10000);
  assert.ok(hostile.functions.some((f) => f.name === '</script><script>window.hacked=1</script>'));
  assert.ok(
    hostile.functions.some((f) => f.name.includes('\ufffd')),
    'what is no UTF-8 is marked',
  );
});
