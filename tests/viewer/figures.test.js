// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that views take: sums that must hold, in every state.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as known from './lib/known.js';
import { codes, figures, tree as trees } from './lib/modules.js';
import { functionOf, shown } from './lib/pages.js';
import { property, unfold } from './lib/random.js';

/** States of which one after another is shown. */
const STATES = [
  {},
  { view: 'base' },
  { view: 'head', inverted: true },
  { system: 'hide' },
  { system: 'fold', order: 'size' },
  { filters: 'r' },
  { filters: 'u' },
  { thread: '0-1-1' },
];

/** @param {any} figure @param {number[]} pair @param {string} what */
function same(figure, pair, what) {
  const close = figure.pair.every((/** @type {number} */ value, /** @type {number} */ side) => trees.sameValue(value, pair[side]));
  assert.ok(close, `${what}: ${figure.pair} is not ${pair}`);
}

/** @param {any[]} list */
const sum = (list) => list.reduce(([base, head], { figure }) => [base + figure.pair[0], head + figure.pair[1]], [0, 0]);

property('callers add up to the total of a function, and so do callees with its own time, whatever recurs', (page) => {
  for (const change of STATES) {
    const model = shown(page, change);
    for (const f of model.functions) {
      const { total, self } = figures.functionFigures(model, f.id);
      const { callers, callees } = figures.neighbourFigures(model, f.id);
      same(total, sum(callers), `callers of ${f.name} in ${JSON.stringify(change)}`);
      same(total, sum([...callees, { figure: self }]), `callees of ${f.name} in ${JSON.stringify(change)}`);
      assert.ok(!callers.some(({ func }) => func === f.id) && !callees.some(({ func }) => func === f.id));
    }
  }
});

property('the origins of what runs below a frame add up to its total', (page) => {
  for (const change of STATES) {
    const model = shown(page, change);
    unfold(model.tree);
    for (let node = 0; node < model.tree.count; node++) {
      const { total } = figures.frameFigures(model, node);
      const { total: all } = model.turned && node ? figures.functionFigures(model, model.tree.func[node]) : { total };
      same(all, sum(figures.originFigures(model, node)), `node ${node} in ${JSON.stringify(change)}`);
    }
  }
});

property('what was tested is what is shown without filters', (page) => {
  const whole = shown(page);
  for (const change of STATES) {
    const model = shown(page, change);
    for (const f of model.functions)
      for (const part of ['self', 'total'])
        same(figures.testedFigure(model, f.id, part), figures.functionFigures(whole, f.id)[part].pair, f.name);
  }
});

test('the same figure has the same words: amounts, shares of its side, difference, change and points', () => {
  const model = shown('diff');
  const { total, self } = figures.functionFigures(model, functionOf(model, 'parse').id);
  assert.deepEqual([0, 1].map((side) => total.withShare(side)), ['1.23 s 7.0 %', '2.23 s 12.5 %']);
  assert.equal(`${total.span}, ${total.differenceWithChange}, ${total.ofTotal}`, '1.23 s → 2.23 s, +1.00 s +81.3 %, +5.59 points of total');
  assert.equal(self.change, '2.25×');
  assert.equal(figures.functionFigures(model, functionOf(model, 'new_audit').id).total.change, 'none in base');
  assert.deepEqual(figures.wholeFigure(model).pair, known.TOTAL);
});

test('what is compared of a module is all below its frames, counted once', () => {
  const model = shown('diff');
  const { module } = functionOf(model, 'compress');
  same(figures.moduleFigure(model, module), known.totalOf('compress'), module);
});

test('the sides that a view shows', () => {
  assert.deepEqual(figures.sidesShown(shown('diff')), [0, 1]);
  assert.deepEqual(figures.sidesShown(shown('diff', { view: 'base' })), [0]);
  assert.deepEqual(figures.sidesShown(shown('diff', { view: 'head' })), [1]);
  assert.deepEqual(figures.sidesShown(shown('single', { view: 'head' })), [1]);
});

test('origins beside the program are in no total', () => {
  const model = shown('interrupts');
  const all = figures.originFigures(model, 0);
  assert.ok(all.every(({ origin }) => origin < codes.INTERRUPTS || origin >= codes.ORIGINS.length));
  same(figures.wholeFigure(model), sum(all), 'everything');
});
