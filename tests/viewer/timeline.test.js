// SPDX-License-Identifier: GPL-3.0-or-later
// Samples and waits over time: the strip, lanes of threads, and the boxes in them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ancestors, axis, lanes, Model, timeline, waiting } from './lib/modules.js';
import { readPage } from './lib/pages.js';
import { randomFrom, randomPage } from './lib/random.js';

const { Ancestors } = ancestors;
const ALL_ROWS = { first: 0, behind: 100 };

/**
 * The boxes of a lane in a range of time that 1,000 columns show.
 * @param {any} lane @param {any} page @param {number[]} range @param {any} [options]
 */
function boxesOf(lane, page, [from, to], { rows = ALL_ROWS, columns = 1000 } = {}) {
  const boxes = [];
  const sampled = [];
  timeline.walkLane(lane, new Ancestors(page.tree), { from, to, step: (to - from) / columns, ...rows }, {
    box: (row, start, end, node, kind) => boxes.push({ row, from: start, to: end, node, kind }),
    sampled: (start, end) => sampled.push([start, end]),
  });
  return Object.assign(boxes, { sampled });
}

/** @param {any[]} all @param {string} name @param {number} side */
const laneIn = (all, name, side) => all.find((lane) => lane.name === name && lane.side === side);
/** @param {any} page @param {string} name @param {number} side */
const laneOf = (page, name, side) => laneIn(lanes.allLanes(page).lanes, name, side);

/**
 * A report of one thread, whose samples have two stacks, main → a and main → a → b, in turns.
 * @param {number[]} times of the samples in microseconds @param {number} period in microseconds
 */
function threadPage(times, period) {
  const sample = Int32Array.from(times, (_, i) => i % 2);
  const taken = [0, 1].map((which) => sample.filter((s) => s === which).length);
  const tree = {
    count: 4,
    parent: Int32Array.of(-1, 0, 1, 2),
    depth: Uint16Array.of(0, 1, 2, 3),
    end: Int32Array.of(4, 4, 4, 4),
    holds: (node, inner) => inner >= node,
  };
  const samples = {
    count: 2,
    node: Int32Array.of(2, 3),
    thread: Int32Array.of(0, 0),
    times: taken,
    values: [taken, taken.map((n) => n * period * 1000)],
  };
  return {
    tree,
    meta: {
      sides: 1,
      metrics: [
        { name: 'samples', unit: 'count', isCount: true },
        { name: 'cpu', unit: 'nanoseconds', isCount: false },
      ],
      recordings: [{ threads: [[0, 1, 1, 'app', 'main']], frequency_hz: 0 }],
    },
    samples: [null, samples],
    timelines: [
      null,
      { count: times.length, starts: Int32Array.of(0, times.length), time: Float64Array.from(times), sample, weight: new Map() },
    ],
  };
}

/** @param {number} count @param {(i: number) => number} at */
const series = (count, at) => Array.from({ length: count }, (_, i) => at(i));

test('the strip counts every event once, per side and thread', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const page = randomPage(seed);
    const count = (keep) => timeline.activity(page.timelines, page.samples, 1e7, 50, keep);
    const sum = (counts) => counts.reduce((a, b) => a + b, 0);
    const all = count(undefined);
    all.forEach((counts, side) => assert.equal(sum(counts), page.timelines[side].count));
    const parts = [0, 1, 2].map((wanted) => count((_, thread) => thread === wanted));
    for (let side = 0; side < 2; side++)
      for (let i = 0; i < 50; i++) assert.equal(sum(parts.map((part) => part[side][i])), all[side][i]);
  }
});

test('a side without a timeline is empty', () => {
  const page = randomPage(1);
  const [base] = timeline.activity([null, page.timelines[1]], page.samples, 1e7, 10, undefined);
  assert.ok(base.every((value) => value === 0));
  assert.ok(lanes.allLanes({ ...page, timelines: [null, page.timelines[1]] }).lanes.every((lane) => lane.side === 1));
});

test('the caller at a depth is found, also in a stack of 60,000 frames', () => {
  const walked = (tree, node, level) => {
    while (tree.depth[node] > level) node = tree.parent[node];
    return node;
  };
  const { tree } = randomPage(5);
  const chain = { count: 60000, parent: Int32Array.from(series(60000, (i) => i - 1)), depth: Uint16Array.from(series(60000, (i) => i)) };
  const random = randomFrom(3);
  for (const made of [tree, chain]) {
    const found = new Ancestors(made);
    for (let i = 0; i < 200; i++) {
      const node = random(made.count);
      const level = random(made.depth[node] + 3);
      assert.equal(found.at(node, level), walked(made, node, level));
    }
  }
});

test('boxes nest in time, and none overlaps another of its row', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const page = randomPage(seed);
    const boxes = boxesOf(laneOf(page, 'thread 1', 1), page, [0, 1e7], { columns: 1e6 });
    assert.ok(boxes.length > 0);
    const rows = new Map();
    for (const box of boxes) {
      assert.ok(box.from < box.to);
      assert.equal(page.tree.depth[box.node], box.row + 1);
      rows.set(box.row, [...(rows.get(box.row) || []), box]);
    }
    for (const [depth, row] of rows) {
      row.sort((a, b) => a.from - b.from);
      for (let i = 1; i < row.length; i++) assert.ok(row[i - 1].to <= row[i].from);
      const above = rows.get(depth - 1) || [];
      const lies = (box) => above.some((p) => p.from <= box.from && p.to >= box.to && p.node === page.tree.parent[box.node]);
      if (depth) assert.ok(row.every(lies), `each box of row ${depth} lies in one of its caller`);
    }
  }
});

test('one box for a frame that was sampled again and again', () => {
  const page = readPage('timeline');
  const name = (box) => page.functions[page.tree.func[box.node]].name;
  const lane = laneOf(page, 'main', 1);
  assert.equal(lane.track.period, 1000);
  const boxes = boxesOf(lane, page, [0, 2e6]);
  assert.deepEqual(boxes.map(name).sort(), ['load', 'main', 'work']);
  const ends = (wanted) => boxes.filter((box) => name(box) === wanted).map(({ from, to }) => [from, to]);
  assert.deepEqual(ends('main'), [[0, 2e6]]);
  assert.deepEqual(ends('work'), [[1e6, 2e6]]);
  assert.deepEqual(boxesOf(lane, page, [0, 5e5]).map(name).sort(), ['load', 'main']);
});

test('neighbours are one box at every frequency, and while others have the CPU', () => {
  for (const frequency of [49, 99, 199, 997, 4999]) {
    const period = 1e6 / frequency;
    for (const load of [1, 4, 40]) {
      const times = series(200, (i) => i * period * load);
      const page = threadPage(times, period);
      const [lane] = lanes.allLanes(page).lanes;
      assert.ok(Math.abs(lane.track.period - period) < 1);
      const boxes = boxesOf(lane, page, [0, times[199] + period], { columns: 1e6 });
      const count = (row) => boxes.filter((box) => box.row === row).length;
      assert.deepEqual([count(0), count(1), count(2)], [1, 1, 100], `${frequency} Hz, load ${load}`);
      const covered = boxes.sampled.reduce((sum, [from, to]) => sum + to - from, 0);
      assert.ok(Math.abs(covered / (200 * period) - 1) < 0.01, 'the time between samples is no sampled time');
    }
  }
});

test('a long gap parts boxes where it can be seen, and does not where it is narrower than a letter', () => {
  const times = [...series(50, (i) => i * 1000), ...series(50, (i) => 1e6 + i * 1000)];
  const page = threadPage(times, 1000);
  const [lane] = lanes.allLanes(page).lanes;
  const mains = (range) => boxesOf(lane, page, range).filter((box) => box.row === 0).length;
  assert.equal(mains([0, 2e6]), 2);
  assert.equal(mains([0, 1e9]), 1);
});

test('an event with a weight is as long as its part of the time', () => {
  const page = threadPage([0, 100, 5000], 1000);
  const [, { weight }] = page.timelines;
  weight.set(0, 3).set(2, 9);
  page.samples[1].values[1][0] = 12e6;
  const [lane] = lanes.allLanes(page).lanes;
  assert.equal(lane.track.length(0), 3000);
  assert.equal(lane.track.length(1), 1000, 'the period of those that have none');
  assert.equal(lane.track.length(2), 9000);
  const boxes = boxesOf(lane, page, [0, 20000]);
  assert.deepEqual(boxes.filter((box) => box.row === 0).map(({ to }) => to), [14000]);
});

test('what is drawn depends on the window, and neither on samples nor on depth', () => {
  const deep = 5000;
  const times = series(300000, (i) => i * 10);
  const page = threadPage(times, 10);
  page.tree.parent = Int32Array.from(series(2 * deep, (i) => (i === deep ? 1 : i - 1)));
  page.tree.depth = Uint16Array.from(series(2 * deep, (i) => (i < deep ? i : i - deep + 2)));
  Object.assign(page.tree, { count: 2 * deep, holds: () => true });
  page.samples[1].node = Int32Array.of(deep - 1, 2 * deep - 1);
  const [lane] = lanes.allLanes(page).lanes;
  const rows = { first: 3000, behind: 3040 };
  const boxes = boxesOf(lane, page, [0, 3e6], { rows, columns: 800 });
  assert.ok(boxes.length <= 40 * 801, `${boxes.length} boxes`);
  assert.ok(boxes.sampled.length <= 801);
  assert.ok(boxes.every((box) => box.row >= 3000 && box.row < 3040));
});

test('samples of a frame are counted in a range of time', () => {
  const page = threadPage(series(10, (i) => i * 1000), 1000);
  const [lane] = lanes.allLanes(page).lanes;
  assert.deepEqual(timeline.countIn(lane, page.tree, 1, 0, 1e6), { all: 10, having: 10 });
  assert.deepEqual(timeline.countIn(lane, page.tree, 3, 0, 4000), { all: 4, having: 2 });
});

test('base stands above head, the busiest process first and in it the busiest thread', () => {
  const lane = (side, process, name, busy) => ({ side, process, name, busy, thread: 0 });
  const base = [lane(0, 'db', 'writer', 30), lane(0, 'web', 'w', 9), lane(0, 'web', 'w', 5)];
  const head = [lane(1, 'db', 'reader', 60), lane(1, 'web', 'w', 40), lane(1, 'web', 'w', 1), lane(1, 'db', 'writer', 1)];
  const order = lanes.ordered([base, head]).map((l) => `${l.process} ${l.name} ${l.side} ${l.busy}`);
  assert.deepEqual(order, [
    'db reader 1 60',
    'db writer 0 30',
    'db writer 1 1',
    'web w 0 9',
    'web w 1 40',
    'web w 0 5',
    'web w 1 1',
  ]);
});

test('an axis counts in plain units', () => {
  const texts = (from, to, most) => axis.ticks([from, to], most).map(({ text }) => text);
  assert.deepEqual(texts(0, 2e6, 5), ['0.0 s', '0.5 s', '1.0 s', '1.5 s', '2.0 s']);
  assert.deepEqual(texts(0, 250e3, 3), ['0 ms', '100 ms', '200 ms']);
  assert.deepEqual(texts(3.1e6, 3.12e6, 3), ['3.10 s', '3.11 s', '3.12 s']);
  assert.deepEqual(texts(0, 150e6, 3), ['0 s', '1 min', '2 min']);
  assert.deepEqual(texts(0, 120e6, 4), ['0 s', '30 s', '1 min', '1 min 30 s', '2 min']);
  for (let span = 1; span < 1e13; span *= 3.7) assert.ok(texts(0, span, 10).length <= 11, `${span}`);
});

/* ---- Threads that wait ---- */

const [, LOCK, , IO, , , IDLE] = Array.from({ length: waiting.CLASSES }, (_, i) => i);

/** A page of waits, with its lanes. */
function waitsPage() {
  const page = readPage('waits');
  const { classes } = new Model(page);
  const { lanes: all, end } = lanes.allLanes(page, null, classes);
  return { page, classes, all, end };
}

test('a wait is one box as long as it took, in the class of its wait; what is not all waiting has none', () => {
  const { page, all, end } = waitsPage();
  const worker = laneIn(all, 'worker', 1);
  const named = (/** @type {any} */ box) => ({ ...box, name: page.functions[page.tree.func[box.node]].name });
  const boxes = boxesOf(worker, page, [0, end], { columns: 1500 }).map(named);
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
  const { page, all } = waitsPage();
  const worker = laneIn(all, 'worker', 1);
  // One column holds the CPU time and the first 900 ms of the wait, which ends in the next one.
  const [first] = boxesOf(worker, page, [0, 2e6], { columns: 2 }).filter(({ kind }) => kind === LOCK);
  assert.equal(first?.to, 11e5);
});

test('what ran while shorter waits were added up ran before the wait that tells of them', () => {
  const { page, classes } = waitsPage();
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
  const { page, all, end } = waitsPage();
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
