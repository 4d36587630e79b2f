// SPDX-License-Identifier: GPL-3.0-or-later
// Samples over time, and the flame chart of a thread.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decode, timeline } from './lib/modules.js';
import { readPage } from './lib/pages.js';
import { randomPage } from './lib/random.js';

test('the strip counts every event once, per side and thread', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const page = randomPage(seed);
    const all = timeline.activity(page.timelines, page.samples, 50, undefined);
    all.counts.forEach((counts, side) =>
      assert.equal(
        counts.reduce((a, b) => a + b, 0),
        page.timelines[side].count,
      ),
    );
    const parts = [0, 1, 2].map((wanted) =>
      timeline.activity(page.timelines, page.samples, 50, (_, thread) => thread === wanted),
    );
    parts.forEach((part) => assert.equal(part.end, all.end));
    for (let side = 0; side < 2; side++)
      for (let i = 0; i < 50; i++)
        assert.equal(
          parts.reduce((sum, part) => sum + part.counts[side][i], 0),
          all.counts[side][i],
        );
  }
});

test('a side without a timeline is empty', () => {
  const page = randomPage(1);
  const made = timeline.activity([null, page.timelines[1]], page.samples, 10, undefined);
  assert.ok(made.counts[0].every((value) => value === 0));
});

test('boxes of the chart nest in time, and none overlaps another of its depth', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const page = randomPage(seed);
    const boxes = timeline.chart(page.tree, page.samples[1], page.timelines[1], 1, [0, 1e7]);
    assert.ok(boxes.length > 0);
    const rows = new Map();
    for (const box of boxes) {
      assert.ok(box.from < box.to);
      assert.equal(page.tree.depth[box.node], box.depth + 1);
      if (!rows.has(box.depth)) rows.set(box.depth, []);
      rows.get(box.depth).push(box);
    }
    for (const [depth, row] of rows) {
      row.sort((a, b) => a.from - b.from);
      for (const box of row) {
        if (depth === 0) continue;
        const parent = rows
          .get(depth - 1)
          .find((p) => p.from <= box.from && p.to >= box.to && p.node === page.tree.parent[box.node]);
        assert.ok(parent, `a box of depth ${depth} lies in one of its caller`);
      }
    }
  }
});

test('boxes of one depth do not overlap', () => {
  const page = readPage('timeline');
  for (const thread of [0, 1, 2]) {
    const boxes = timeline.chart(page.tree, page.samples[1], page.timelines[1], thread, [0, 3e6]);
    const rows = new Map();
    for (const box of boxes) rows.set(box.depth, [...(rows.get(box.depth) || []), box]);
    for (const row of rows.values()) {
      row.sort((a, b) => a.from - b.from);
      for (let i = 1; i < row.length; i++) assert.ok(row[i - 1].to <= row[i].from, `${row[i - 1].to} ends before ${row[i].from}`);
    }
  }
});

test('one box for a frame that was sampled again and again', () => {
  const page = readPage('timeline');
  const name = (box) => page.functions[page.tree.func[box.node]].name;
  const boxes = timeline.chart(page.tree, page.samples[1], page.timelines[1], 0, [0, 3e6]);
  assert.deepEqual(boxes.map(name).sort(), ['load', 'main', 'work']);
  const [main] = boxes.filter((box) => name(box) === 'main');
  assert.deepEqual([main.from, main.to], [0, 2e6]);
  const [work] = boxes.filter((box) => name(box) === 'work');
  assert.deepEqual([work.from, work.to], [1e6, 2e6]);
  const half = timeline.chart(page.tree, page.samples[1], page.timelines[1], 0, [0, 5e5]);
  assert.deepEqual(half.map(name).sort(), ['load', 'main']);
});
