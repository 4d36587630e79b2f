// SPDX-License-Identifier: GPL-3.0-or-later
// From a page and a state to what is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as known from './lib/known.js';
import { figures, state as states } from './lib/modules.js';
import { functionOf, readPage, shown, sumsOf } from './lib/pages.js';
import { randomPage, unfold } from './lib/random.js';

/** @param {any} model @param {string} name */
const sums = (model, name) => sumsOf(model, functionOf(model, name));

/** @param {any} model */
const widthsOf = (model) => Array.from({ length: model.tree.count }, (_, i) => model.width(i));

const NAMES = [...new Set(known.STACKS.flatMap(([path]) => path))];

for (const kind of ['diff', 'scaled']) {
  test(`"${kind}": every function has the known self and total, head scaled`, () => {
    const model = shown(kind);
    assert.deepEqual(model.totals(), known.TOTAL);
    for (const name of NAMES) assert.deepEqual(sums(model, name), { self: known.selfOf(name), total: known.totalOf(name) }, name);
  });

  test(`"${kind}": hidden with their time`, () => {
    const model = shown(kind, { system: 'hide' });
    const left = known.TOTAL.map((total, side) => total - known.HIDDEN[side]);
    assert.deepEqual(model.totals(), left);
    const { pair, scale } = figures.hiddenFigure(model);
    pair.forEach((hidden, side) => assert.ok(Math.abs(hidden / scale.totals[side] - known.HIDDEN[side] / known.TOTAL[side]) < 1e-9));
    for (const name of NAMES) {
      const { self } = sums(model, name);
      assert.deepEqual(self, known.SYSTEM.includes(name) ? [0, 0] : known.selfOf(name), name);
    }
    assert.deepEqual(sums(model, 'sort_items').total, [70 * 1e7, 70 * 1e7]);
    assert.deepEqual(
      sums(model, 'main').total,
      known.sumOf((path) => path.includes('main') && !known.SYSTEM.includes(path[path.length - 1])),
    );
  });

  test(`"${kind}": folded into their caller`, () => {
    const model = shown(kind, { system: 'fold' });
    assert.deepEqual(model.totals(), known.TOTAL);
    assert.deepEqual(figures.hiddenFigure(model).pair, [0, 0]);
    assert.deepEqual(sums(model, 'parse').self, [(40 + 10 + 8 + 5) * 1e7, (90 + 10 + 8 + 5) * 1e7]);
    assert.deepEqual(sums(model, 'sort_items').self, [30 * 1e7, 30 * 1e7]);
    assert.deepEqual(sums(model, 'compare').self, [60 * 1e7, 60 * 1e7]);
    assert.deepEqual(sums(model, 'main').self, [35 * 1e7, 35 * 1e7]);
    for (const name of known.SYSTEM) assert.deepEqual(sums(model, name), { self: [0, 0], total: [0, 0] }, name);
  });
}

test('after the toggle, callees of spliced frames stand below the caller', () => {
  for (const system of ['hide', 'fold']) {
    const model = shown('diff', { system });
    const node = model.tree.func.findIndex((/** @type {number} */ f) => f >= 0 && model.functions[f].name === 'compare');
    const path = [];
    for (let at = node; at > 0; at = model.tree.parent[at]) path.push(model.nameOf(at));
    assert.deepEqual(path, ['compare', 'sort_items', 'main']);
  }
});

test('a recording against itself is neutral everywhere', () => {
  for (const page of [readPage('same'), randomPage(3, { same: true })])
    for (const system of ['show', 'hide', 'fold'])
      for (const inverted of [false, true]) {
        const model = shown(page, { system, inverted });
        const [base, head] = model.totals();
        assert.equal(base, head);
        unfold(model.tree);
        for (let i = 0; i < model.tree.count; i++) {
          assert.equal(model.pointsOf(i), 0);
          assert.ok(['same', 'unproven'].includes(model.stateOf(i)));
        }
        assert.ok(!model.removed?.count);
        assert.equal(model.provenChanges().length, 0);
      }
});

test('swapping the direction twice changes nothing', () => {
  const usual = states.DEFAULTS;
  const model = shown('diff');
  const before = widthsOf(model);
  model.update({ ...usual, reversed: true });
  assert.deepEqual(widthsOf(model), [...model.tree.total[0]]);
  model.update(usual);
  assert.deepEqual(widthsOf(model), before);
});

test('the known changes are proven, the one that the verdict names first, then the largest', () => {
  const model = shown('diff');
  const [named, ...proven] = model.provenChanges().map(({ f }) => f.name);
  assert.equal(named, 'parse');
  assert.deepEqual(
    proven,
    ['compress', 'new_audit', 'old_cache', 'lex'].sort((a, b) => {
      const delta = (/** @type {string} */ name) => Math.abs(known.selfOf(name)[1] - known.selfOf(name)[0]);
      return delta(b) - delta(a) || proven.indexOf(a) - proven.indexOf(b);
    }),
  );
  const state = (/** @type {string} */ name) => functionOf(model, name).self.state;
  assert.deepEqual(['parse', 'lex', 'compress', 'new_audit', 'old_cache', 'compare'].map(state), [
    'more',
    'more',
    'less',
    'new',
    'gone',
    'same',
  ]);
});

test('a search finds the union of what matches', () => {
  const page = readPage('diff');
  const found = (/** @type {string} */ search) => {
    const model = shown(page, { search });
    return [model.found.sum[0], model.found.sum[1] * model.factor];
  };
  assert.deepEqual(found('parse'), known.totalOf('parse'));
  assert.deepEqual(found('lex|parse'), known.totalOf('parse'));
  assert.deepEqual(
    found('malloc|lex'),
    known.sumOf((path) => path.some((name) => /malloc|lex/.test(name))),
  );
  assert.deepEqual(found('^steady_0[0-4]$'), [5 * 40 * 1e7, 5 * 40 * 1e7]);
  assert.deepEqual(found('PARSE'), [0, 0], 'capitals are exact');
  assert.deepEqual(found('Parse'), [0, 0]);
  assert.deepEqual(found('.'), known.TOTAL);
  assert.deepEqual(found('nothing has this name'), [0, 0]);
});

test('a search finds modules and files, where no name has its text or where it asks for them', () => {
  const page = readPage('diff');
  const found = (/** @type {string} */ search) => {
    const model = shown(page, { search });
    return [model.names.part, model.names.texts(model.functionHits), model.found.sum[1] * model.factor];
  };
  assert.deepEqual(found('libz'), ['module', ['libz.so'], known.totalOf('compress')[1]]);
  assert.deepEqual(found('module:libc'), ['module', ['libc.so'], known.totalOf('__libc_start_main')[1]]);
  assert.deepEqual(found('module:kernel$')[1], ['kernel']);
  assert.deepEqual(found('file:^src/app')[1], ['src/app.c']);
  assert.deepEqual(found('src/app'), ['file', ['src/app.c'], known.totalOf('main')[1]]);
  assert.deepEqual(found('module:parse'), ['module', [], 0], 'names are not asked then');
  assert.deepEqual(found('parse'), ['name', [], known.totalOf('parse')[1]], 'names come first');
});

test('a search that is no regular expression is taken as text', () => {
  const page = readPage('hostile');
  const model = shown(page, { search: '[a-z]+(*' });
  assert.equal(model.found.nodes.length, 1);
  assert.equal(model.nameOf(model.found.nodes[0]), '[a-z]+(*');
  assert.notEqual(model.names.error, '');
  assert.equal(shown(page, { search: 'constructor' }).names.error, '');
});

test('a thread alone shows its own time, on both sides', () => {
  const page = readPage('timeline');
  const model = shown(page, { thread: 'io' });
  assert.deepEqual(model.totals(), [2e9, 2e9]);
  assert.deepEqual(shown(page, { thread: 'worker-3' }).totals(), [5e8, 9e8]);
  const all = shown(page).totals();
  const parts = [...model.narrowing.threadNames().keys()].map((thread) => shown(page, { thread }).totals());
  assert.deepEqual(
    [0, 1].map((side) => parts.reduce((sum, part) => sum + part[side], 0)),
    all,
  );
});

test('a thread of a link that is not in this report shows everything', () => {
  const page = readPage('timeline');
  assert.deepEqual(shown(page, { thread: 'no such thread' }).totals(), shown(page).totals());
});

test('a range of time counts what was sampled in it', () => {
  const page = readPage('timeline');
  const model = shown(page, { range: [0, 1e6] });
  assert.deepEqual(model.totals(), [2e9, 2e9], 'one second of main and of io');
  assert.deepEqual(sums(model, 'work').total, [0, 0]);
  assert.deepEqual(sums(model, 'load').total, [1e9, 1e9]);
  assert.deepEqual(shown(page, { range: [1e6, 15e5], thread: 'worker-0' }).totals(), [5e8, 5e8]);
  assert.deepEqual(shown(page, { range: [0, 1e6], system: 'hide' }).totals(), [1e9, 1e9]);
});

test('an empty side is no side that breaks', () => {
  for (const [kind, empty] of /** @type {[string, number][]} */ ([
    ['empty-base', 0],
    ['empty-head', 1],
  ]))
    for (const view of ['base', 'head', 'diff'])
      for (const system of ['show', 'hide', 'fold']) {
        const model = shown(kind, { view, system });
        assert.equal(model.totals()[empty], 0);
        assert.ok(model.totals()[1 - empty] > 0);
        assert.ok(figures.hiddenFigure(model).pair.every(Number.isFinite));
        assert.ok(Number.isFinite(model.most));
        for (let i = 0; i < model.tree.count; i++) assert.ok(Number.isFinite(model.pointsOf(i)));
      }
});

test('what was not changed is not made again', () => {
  const usual = states.DEFAULTS;
  const model = shown('diff');
  const { tree, sums: before } = model;
  model.update({ ...usual, colour: 'origin', search: 'parse' });
  assert.ok(model.tree === tree && model.sums === before);
});

test('proven changes under a filter: those that it leaves, with its figures', () => {
  for (const change of [{}, { system: 'hide' }, { system: 'fold' }]) {
    const model = shown('diff', change);
    const changes = model.shownChanges();
    assert.ok(changes.length > 0);
    for (const { f, e } of changes) assert.deepEqual([e.base, e.head], sums(model, f.name).self, f.name);
  }
  const page = readPage('diff');
  const parse = functionOf(page, 'parse');
  parse.table.origin[parse.id] = 3;
  const names = (/** @type {object} */ change) => shown(page, change).shownChanges().map(({ f }) => f.name);
  assert.ok(names({}).includes('parse'));
  assert.ok(!names({ system: 'hide' }).includes('parse'), 'what is hidden is not there to be looked at');
});
