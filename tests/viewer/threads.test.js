// SPDX-License-Identifier: GPL-3.0-or-later
// Threads as a filter.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Model, state as states } from './lib/modules.js';
import { randomPage } from './lib/random.js';

test('threads of one name are chosen together, or one by its number', () => {
  const page = randomPage(7);
  for (const [side, recording] of page.meta.recordings.entries())
    recording.threads = [10, 9, 8].map((tid, id) => [0, 1, tid + 100 * side, 'app', id < 2 ? 'pool' : 'main']);
  const model = new Model(page);
  assert.deepEqual(model.narrowing.threadChoices, [
    ['', 'all'],
    ['main', 'main'],
    ['pool', 'pool'],
    ['#9', 'pool #9'],
    ['#10', 'pool #10'],
    ['#109', 'pool #109'],
    ['#110', 'pool #110'],
  ]);
  const totals = (thread) => {
    model.update({ ...states.DEFAULTS, thread });
    return model.totals();
  };
  const [all, main, pool] = ['', 'main', 'pool'].map(totals);
  const alone = ['#9', '#10', '#109', '#110'].map(totals);
  for (const side of [0, 1]) {
    assert.equal(main[side] + pool[side], all[side]);
    assert.equal(alone[2 * side][side] + alone[2 * side + 1][side], pool[side]);
    assert.equal(alone[2 * (1 - side)][side], 0);
  }
});
