// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that wait, in the timeline: their boxes, lanes and bars.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ancestors, lanes, Model, timeline, waiting } from './lib/modules.js';
import { readPage } from './lib/pages.js';

const [, LOCK, , IO, , , IDLE] = Array.from({ length: waiting.CLASSES }, (_, i) => i);
const ALL_ROWS = { first: 0, behind: 100 };

/** The boxes of a lane. @param {any} lane @param {any} page @param {number[]} range @param {number} columns */
function boxesOf(lane, page, [from, to], columns) {
  const boxes = [];
  timeline.walkLane(lane, new ancestors.Ancestors(page.tree), { from, to, step: (to - from) / columns, ...ALL_ROWS }, {
    box: (row, start, end, node, kind) => boxes.push({ row, from: start, to: end, node, kind }),
  });
  return boxes;
}

test('a wait is one box as long as it took, in the class of its wait; what is not all waiting has none', () => {
  const page = readPage('waits');
  const model = new Model(page);
  const { lanes: all, end } = lanes.allLanes(page, null, model.classes);
  const worker = all.find(({ name, side }) => name === 'worker' && side === 1);
  const named = (/** @type {any} */ box) => ({ ...box, name: model.functions[page.tree.func[box.node]].name });
  const boxes = boxesOf(worker, page, [0, end], 1500).map(named);
  const lock = boxes.filter(({ name }) => name === '[waiting: lock]');
  assert.deepEqual(
    lock.map(({ from, to, kind }) => ({ from, to, kind })),
    [{ from: 1e5, to: 11e5, kind: LOCK }],
  );
  assert.equal(boxes.find(({ name }) => name === 'get').kind, LOCK);
  assert.equal(boxes.find(({ name }) => name === 'serve').kind, 0);
  assert.equal(boxes.find(({ name }) => name === 'compute').kind, 0);
  const [nap] = boxes.filter(({ name }) => name === '[waiting: timer]');
  const waits = timeline.waitsOf(worker, page.tree, nap.node, nap.from, nap.to);
  assert.deepEqual([nap.from, nap.to, waits.count, Math.round(waits.time)], [11e5, 14e5, 3, 3e5]);
});

test('a wait that goes on stands for its column, whatever stands before it there', () => {
  const page = readPage('waits');
  const model = new Model(page);
  const { lanes: all } = lanes.allLanes(page, null, model.classes);
  const worker = all.find(({ name, side }) => name === 'worker' && side === 1);
  // One column holds the CPU time and the first 900 ms of the wait, which ends in the next one.
  const [first] = boxesOf(worker, page, [0, 2e6], 2).filter(({ kind }) => kind === LOCK);
  assert.equal(first?.to, 11e5);
});

test('what ran while shorter waits were added up ran before the wait that tells of them', () => {
  const page = readPage('waits');
  const { classes } = new Model(page);
  const [, own] = page.samples;
  const kinds = Uint8Array.from(own.node, (node) => classes[page.tree.func[node]]);
  const [wait, ran] = [kinds.indexOf(LOCK), kinds.indexOf(0)];
  const ofKind = (/** @type {number} */ i) => (i === wait ? 1e8 : kinds[i] ? 0 : 1e6);
  const values = Float64Array.from(kinds, (_, i) => ofKind(i));
  const times = Uint8Array.from(kinds, (kind) => (kind ? 0 : 1));
  const samples = { ...own, times, values: [values] };
  // 100 ms of waiting ended at 200 ms; at 130 ms the thread ran for a millisecond.
  const time = Float64Array.of(1e5, 1.3e5);
  const events = { count: 2, starts: Int32Array.of(0, 2), time, sample: [wait, ran], weight: new Map([[0, 1e8]]) };
  const metrics = [{ name: 'wall', unit: 'nanoseconds', isCount: false, tested: true }];
  const track = new lanes.Track(samples, events, metrics, { frequency_hz: 0 }, null, kinds);
  const seen = [0, 1].map((at) => [track.kind(at), track.time[at], track.length(at), track.timeOf(at)]);
  assert.deepEqual(seen, [
    [0, 1.3e5, 1e3, 1e3],
    [LOCK, 1.31e5, 0.69e5, 1e5],
  ]);
});

test('threads that only wait stand below the busy ones, and their bars show what for', () => {
  const page = readPage('waits');
  const model = new Model(page);
  const { lanes: all, end } = lanes.allLanes(page, null, model.classes);
  assert.deepEqual(
    all.map(({ name, side }) => `${side} ${name}`),
    ['0 worker', '1 worker', '0 reader', '1 reader', '0 idler', '1 idler'],
  );
  const idler = all.at(-1);
  assert.deepEqual([idler.busy, idler.waited], [0, 15e5]);
  assert.ok(end >= 15e5, 'the end of the last wait is on the axis');
  const parts = timeline.waitsIn(idler, [0, 15e5], 3);
  for (let i = 0; i < 3; i++) {
    assert.equal(waiting.mostOf(parts, i * waiting.CLASSES), IDLE);
    assert.ok(Math.abs(parts[i * waiting.CLASSES + IDLE] - 5e5) < 1);
  }
  for (let parts = 1; parts < 400; parts++) {
    const sum = timeline.waitsIn(idler, [1e5, 13e5], parts).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 12e5) < 1, `${sum} in ${parts} parts`);
  }
  assert.deepEqual([...timeline.busyShares(idler, [0, 15e5], 3)], [0, 0, 0]);
  const reader = all.find(({ name }) => name === 'reader');
  assert.equal(waiting.mostOf(timeline.waitsIn(reader, [0, 1e5], 2), 0), IO);
});
