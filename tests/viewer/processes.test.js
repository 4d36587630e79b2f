// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of processes: which process of base and which of head are one.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { filters, hash, processes } from './lib/modules.js';
import { comparedPage, functionOf, readPage, shown, sumsOf } from './lib/pages.js';

const read = () => comparedPage('pairs/named_base.pb.gz', 'pairs/named_head.pb.gz');

/** The names of the rows of processes. @param {any} model */
function rowsOf(model) {
  const out = [];
  for (let at = model.tree.first(0); at >= 0; at = model.tree.next(at))
    if (model.functions[model.tree.func[at]].isProcess) out.push([at, model.nameOf(at)]);
  return out;
}

/** Names the processes of a page. @param {any} page @param {string[][]} names by side, of each thread */
function withNames(page, names) {
  page.meta.recordings.forEach((/** @type {any} */ { threads }, /** @type {number} */ side) =>
    threads.forEach((/** @type {any[]} */ thread, /** @type {number} */ i) => (thread[3] = names[side][i % names[side].length])),
  );
  return page;
}

test('two builds in files of two names are one row, with the time of both', () => {
  const page = read();
  const names = page.meta.recordings.map(({ threads }) => [...new Set(threads.map(processes.processOf))].sort());
  assert.deepEqual(names, [
    ['server_v1', 'shop-load'],
    ['server_v2', 'shop-load'],
  ]);
  const model = shown(page);
  const rows = rowsOf(model);
  assert.deepEqual(rows.map(([, name]) => name), ['server_v1 → server_v2', 'shop-load']);
  for (const [at] of rows) assert.ok(model.valueOf(at).every((value) => value > 0));
  const f = functionOf(model, 'shop::Worker::run()');
  const { total } = sumsOf(model, f);
  const frames = [...model.framesOf(f.id)].map((node) => model.valueOf(node));
  assert.ok(frames.length && frames.every(([base, head]) => base > 0 && head > 0), 'nothing is "none in base"');
  assert.deepEqual([0, 1].map((side) => frames.reduce((sum, pair) => sum + pair[side], 0)), total);
});

test('a filter keeps the process of both names', () => {
  const page = read();
  const row = shown(page).functions.find((f) => f.name === 'server_v1 → server_v2');
  const model = shown(page, { filters: filters.withFilter('', 'process', hash.shortHash(row.name)) });
  assert.deepEqual(rowsOf(model).map(([, name]) => name), ['server_v1 → server_v2']);
  assert.ok(model.totals().every((value) => value > 0));
});

test('one process of two names needs no row', () => {
  const model = shown(withNames(readPage('timeline'), [['old'], ['new']]));
  assert.deepEqual(rowsOf(model), []);
  assert.equal(model.callTree, model.tables.tree);
});

/** A root with two children, the first of which has a child of its own. */
const TREE = { count: 4, parent: Int32Array.of(-1, 0, 1, 0), depth: Uint16Array.of(0, 1, 2, 1) };

/** The rows of processes that ran in some nodes. @param {[string, number, number][][]} sides name, node and time of each process */
function paired(sides) {
  const threads = sides.map((side) => side.map(([name], i) => [0, i + 1, i + 1, name, '']));
  const samples = sides.map((side) => ({
    count: side.length,
    node: Int32Array.from(side, ([, node]) => node),
    thread: side.map((_, i) => i),
    values: [side.map(([, , time]) => time)],
  }));
  const rows = processes.processRows(threads.map((side) => ({ threads: side })));
  return processes.pairedRows(rows, TREE, samples, 0, threads).map(({ of }) => of.join('|'));
}

test('each process is paired once, with the one that it shares the most with', () => {
  const base = [['a1', 2, 9], ['b1', 3, 5]];
  assert.deepEqual(paired([base, [['a2', 2, 8], ['b2', 3, 5], ['c2', 2, 3]]]), ['a1|a2', 'b1|b2', '|c2']);
});

test('programs that share less than half stay apart, and so do processes of one side', () => {
  assert.deepEqual(paired([[['old', 2, 9]], [['new', 3, 9]]]), ['|new', 'old|']);
  assert.deepEqual(paired([[['a', 2, 9]], [['a', 2, 9], ['b', 2, 9]]]), ['a|a', '|b']);
  // The smaller one has half of its stack where the other has been.
  assert.deepEqual(paired([[['old', 2, 5]], [['new', 1, 9]]]), ['old|new']);
});
