// SPDX-License-Identifier: GPL-3.0-or-later
// Distributions of latencies: what is drawn of them, and how it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { latencies } from './lib/modules.js';
import { readPage } from './lib/pages.js';

/** @param {number[]} list */
const sum = (list) => list.reduce((a, b) => a + b, 0);

test('buckets are those of the profile: 16 in each power of two, without gaps', () => {
  assert.deepEqual([0, 1, 15, 16, 17, 31, 32, 33].map(latencies.bucketStart), [0, 1, 15, 16, 17, 31, 32, 34]);
  for (let i = 1; i < 976; i++) assert.ok(latencies.bucketStart(i) > latencies.bucketStart(i - 1), String(i));
  assert.equal(latencies.bucketStart(975), 31 * 2 ** 59);
});

test('every answer within the axis is in a step, spread over the width of its bucket', () => {
  const side = { first: 320, counts: [3, 0, 5, 12, 0, 1], p50: 1, p99: 1 };
  const axis = [Math.log10(latencies.bucketStart(300)), Math.log10(latencies.bucketStart(340))];
  for (const steps of [1, 7, 80, 1000]) {
    const list = latencies.shares(side, axis, steps);
    assert.ok(Math.abs(sum(list) - 1) < 1e-9, String(steps));
    assert.ok(list.every((share) => share >= 0));
  }
  const half = latencies.shares(side, [axis[0], Math.log10(latencies.bucketStart(322))], 10);
  assert.ok(Math.abs(sum(half) - 3 / 21) < 1e-9);
});

test('latencies without a nanosecond are drawn', () => {
  const side = { first: 0, counts: [4], p50: 0.5, p99: 0.99 };
  const axis = latencies.axisOf([side]);
  assert.ok(axis.every(Number.isFinite) && axis[1] > axis[0]);
  assert.ok(latencies.shares(side, axis, 80).every(Number.isFinite));
});

test('a single slow answer does not stretch the axis, but its quantile stands on it', () => {
  const counts = new Array(400).fill(0);
  counts[0] = 10000;
  counts[399] = 1;
  const side = { first: 320, counts, p50: latencies.bucketStart(320), p99: latencies.bucketStart(321) };
  assert.ok(latencies.axisOf([side])[1] < Math.log10(latencies.bucketStart(330)));
  const slow = { ...side, p99: latencies.bucketStart(500) };
  assert.ok(latencies.axisOf([side, slow])[1] > Math.log10(slow.p99));
});

test('an axis has marks, however short it is', () => {
  assert.deepEqual(latencies.marks([5.5, 8.1]), [1e6, 1e7, 1e8]);
  assert.deepEqual(latencies.marks([7.1, 7.9]), [2e7, 5e7]);
  assert.deepEqual(latencies.marks([6.9, 7.4]), [1e7, 2e7]);
  assert.deepEqual([1e6, 2e7, 1e9, 5e5].map(latencies.markText), ['1 ms', '20 ms', '1 s', '500 µs']);
});

test('an outline begins and ends on the axis, and its top is within the picture', () => {
  const path = latencies.outline([0, 0.5, 1, 0], 1);
  const floor = latencies.HEIGHT - 11;
  assert.ok(path.startsWith(`M0 ${floor}`) && path.endsWith(`V${floor}`));
  assert.deepEqual([...path.matchAll(/V([\d.]+)H/g)].map(([, y]) => Number(y)), [floor, floor / 2 + 1, 2, floor]);
});

test('the picture is told in words', () => {
  const side = { first: 1, counts: [1], p50: 17e6, p99: 41e6 };
  assert.match(latencies.latencyWords([side, { ...side, p50: 103e6 }]), /base p50 17.0 ms, p99 41.0 ms; head p50 103 ms/);
  assert.match(latencies.latencyWords([null, side]), /: head p50 17.0 ms, p99 41.0 ms$/);
  assert.match(latencies.latencyWords([side]), /: answers p50 17.0 ms/);
});

test('a page has what its recordings counted', () => {
  const { requests } = readPage('requests').meta;
  assert.match(requests.words, /^120 requests a second before, 119 after; p50 17\.\d → 10\d ms, p99 4\d\.\d → 2\d\d ms\. Calls out: 240 → 240 a second/);
  assert.equal(requests.state, 'more');
  assert.equal(requests.latencies.length, 2);
  for (const { first, counts, p50, p99 } of requests.latencies) {
    assert.ok(counts[0] > 0 && counts[counts.length - 1] > 0);
    assert.ok(latencies.bucketStart(first) < p50 && p50 < p99);
    assert.ok(latencies.bucketStart(first + counts.length) >= p99);
  }
  const single = readPage('requests-single').meta.requests;
  assert.match(single.words, /^Requests: 1,190 answered, 119 a second; half within 10\d ms/);
  assert.equal(single.latencies.length, 1);
  assert.equal(readPage('diff').meta.requests, null);
});
