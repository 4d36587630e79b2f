// SPDX-License-Identifier: GPL-3.0-or-later
// What the page says in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { figures, header, inspector, status } from './lib/modules.js';

const CPU = { metric: 'cpu', unit: 'nanoseconds' };

/** @param {string} state @param {number} base @param {number} head @param {any} [meta] */
const said = (state, base, head, meta = CPU) =>
  header.changeSentence(state, true, new figures.Figure([base, head], { unit: meta.unit, totals: [1, 1] }), meta).trim();

test('a proven change in a sentence; what base lacks has no percentage', () => {
  assert.equal(said('more', 1e6, 15e5), 'itself takes 50.0 % more time (+500 µs).');
  assert.equal(said('less', 2e6, 1e6), 'itself takes 50.0 % less time (−1.00 ms).');
  assert.equal(said('new', 0, 1e6), 'is new and takes 1.00 ms itself.');
  assert.equal(said('gone', 1e6, 0), 'is gone; it took 1.00 ms itself.');
  assert.equal(said('more', 1e6, 876e4), 'itself takes 8.76 times as much time (+7.76 ms).');
  assert.equal(said('more', 0, 592e5), 'itself takes 59.2 ms, and took none in base.');
  assert.equal(said('more', 0, 12, { metric: 'page-faults', unit: 'count' }), 'itself takes 12 page faults, and took none in base.');
});

test('the root says whose widths are drawn, and what colours mean where they are those of the difference', () => {
  const name = (/** @type {object} */ change) =>
    status.rootName(
      { sides: 2, tree: {}, shownMetric: { tested: true } },
      { view: 'diff', colour: 'diff', reversed: false, removed: false, inverted: false, ...change },
    );
  assert.equal(name({}), 'all – head, coloured by its difference from base');
  assert.equal(name({ reversed: true }), 'all – base, coloured by what head changes');
  assert.equal(name({ colour: 'origin' }), 'all – head');
  assert.equal(name({ colour: 'function', reversed: true }), 'all – base');
  assert.equal(name({ view: 'base', colour: 'origin' }), 'all – base');
});

test('a copied stack has a line with figures for each frame, and commands no terminal', () => {
  const names = ['all', 'main', 'a\nrm -rf x\n', 'b\x1b[31m\x9b\u202e\u200bc', 'naïve<int> 漢字'];
  const [module, place] = ['app\r', 'app\r'];
  const model = {
    sides: 2,
    unit: 'nanoseconds',
    tree: { parent: [-1, 0, 1, 2, 3], func: [-1, 0, 1, 2, 3] },
    functions: [0, 1, 2, 3].map((i) => ({ module, place, file: i ? '' : 'main.c\n', line: 7 })),
    valueOf: (/** @type {number} */ node) => [2e9 / node, 3e9 / node],
    selfOf: () => [0, 0],
    interruptsOf: () => [0, 0],
    totals: () => [2e9, 3e9],
    nameOf: (/** @type {number} */ node) => names[node],
  };
  const lines = inspector.stackText(model, 4).split('\n');
  assert.deepEqual(lines, [
    '  base    head  difference  function',
    '2.00 s  3.00 s     +1.00 s  main (app\ufffd · main.c\ufffd:7)',
    '1.00 s  1.50 s     +500 ms  a\ufffdrm -rf x\ufffd (app\ufffd)',
    '667 ms  1.00 s     +333 ms  b\ufffd[31m\ufffd\ufffd\ufffdc (app\ufffd)',
    '500 ms  750 ms     +250 ms  naïve<int> 漢字 (app\ufffd)',
  ]);
});

test('the title names what was recorded, and both sides', () => {
  /** @param {string[]} base @param {string[]} [head] each [command, name of the file] @param {string} [title] */
  const title = (base, head, title = '') =>
    header.titleOf({ title, recordings: [base, head].filter(Boolean).map(([command, name]) => ({ command, name })) });
  assert.equal(title(['./app', '/a/before.pb.gz'], ['./app', '/a/after.pb.gz']), './app: before → after');
  assert.equal(title(['pid 1 (web)', 'x.pb.gz'], ['pid 2 (web)', 'y.pb.gz']), 'pid 1 (web) → pid 2 (web)');
  assert.equal(title(['./app', ''], ['./app', '']), './app: base → head');
  assert.equal(title(['', 'old.perf.data'], ['', 'new.folded.gz']), 'old → new');
  assert.equal(title(['./app', 'x']), './app');
  assert.equal(title(['./a', ''], ['./b', ''], 'mine'), 'mine');
});

test('what was counted in a recording is not said of its part', () => {
  const recording = { durationNs: 2e9, sampledWords: '17,402 samples', lossWords: ' · 0 lost · 99.0 % whole stacks', runs: 4 };
  const line = (/** @type {boolean} */ isPart) => header.recordingLine(recording, isPart);
  assert.equal(line(false), '17,402 samples in 2.0 s · 0 lost · 99.0 % whole stacks · 4 runs');
  assert.equal(line(true), '2.00 s · 17,402 samples in the whole recording · 0 lost · 99.0 % whole stacks · 4 runs');
});

test('labels stand with their keys', () => {
  const line = (/** @type {string[][]} */ labels) => header.labelsLine({ labels });
  assert.equal(line([]), '');
  assert.equal(line([['commit', '4f3c2a1'], ['service', 'checkout']]), 'commit 4f3c2a1 · service checkout');
});
