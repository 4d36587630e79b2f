// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges of time that somebody types.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { timerange } from './lib/modules.js';
import { randomFrom } from './lib/random.js';

const { parseRange, rangeText } = timerange;
const END = 15e6;

test('a range is read in every usual form', () => {
  const forms = {
    '2s-3s': [2e6, 3e6],
    '2s–3s': [2e6, 3e6],
    '1.5 s to 2 s': [15e5, 2e6],
    '500ms-': [5e5, END],
    '-3s': [0, 3e6],
    '2000-3000 ms': [2e6, 3e6],
    '2-3': [2e6, 3e6],
    '900ms—1.2 s': [9e5, 12e5],
    ' .25 S … 0.5 S ': [25e4, 5e5],
    '100-900µs': [100, 900],
    '100..900 us': [100, 900],
    '0.1 min - 12 s': [6e6, 12e6],
    '14s-1h': [14e6, END],
  };
  for (const [text, range] of Object.entries(forms)) assert.deepEqual(parseRange(text, END), { range }, text);
  for (const text of ['', ' ', '-', '0-', '-15s', '0s-20s']) assert.deepEqual(parseRange(text, END), { range: null }, text);
});

test('what cannot be read is told, with an example that can be', () => {
  const errors = {
    '2 s': /^2 s is one time/,
    '3s-2s': /ends before it begins/,
    '2s-2s': /ends before it begins/,
    '20s-': /the recording ends at 15 s/,
    soon: /“soon” is not a range/,
    '2s-soon': /“soon” is not a time/,
    '2 weeks - 3': /“2 weeks” is not a time/,
    '2valueOf-3': /“2valueOf” is not a time/,
    '1-2-3': /“1-2-3” is not a range/,
    '2,5-3': /“2,5” is not a time/,
  };
  for (const [text, words] of Object.entries(errors)) {
    const { error, range } = parseRange(text, END);
    assert.equal(range, undefined, text);
    assert.match(error, words);
    const examples = error.split('Write ')[1].split(/, | or /);
    for (const example of examples) assert.ok(parseRange(example, END).range, `${example} of ${text}`);
  }
});

test('a range is read again from what is shown of it, to a part in a thousand of its length', () => {
  const random = randomFrom(5);
  for (let i = 0; i < 2000; i++) {
    const from = random(2 ** random(27));
    const range = [from, from + 1 + random(2 ** random(27))];
    const read = parseRange(rangeText(range), 1e12).range;
    const least = (range[1] - range[0]) / 1000;
    assert.ok(Math.abs(read[0] - range[0]) <= least && Math.abs(read[1] - range[1]) <= least, `${rangeText(range)} of ${range}`);
  }
  assert.equal(rangeText([2e6, 3e6]), '2–3 s');
  assert.equal(rangeText([5e5, 75e4]), '500–750 ms');
  assert.equal(rangeText([3, 9]), '3–9 µs');
});
