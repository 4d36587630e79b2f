// SPDX-License-Identifier: GPL-3.0-or-later
// What interrupts a thread: as wide as it was, in no figure but its own, never compared.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, hash as hashes, layout, lazy, status, sums as trees } from './lib/modules.js';
import * as pages from './lib/pages.js';
import { byPath, property, randomPage, unfold, withoutSystem } from './lib/random.js';

const { INTERRUPTS, INTERRUPT: FLAG } = codes;
const MS = 1e7; // ten runs of a millisecond
const STEADY = 30 * 40;
/** Without interrupts, of one side: what both sides have. */
const OWN = (STEADY + 100 + 50) * MS;

/** @param {object} [change] */
const shown = (change) => pages.shown('interrupts', change);

/** @param {any} model @param {string} name @param {boolean} interrupt */
function functionOf(model, name, interrupt = false) {
  return model.functions.find((/** @type {any} */ f) => f.name === name && (f.origin === INTERRUPTS) === interrupt);
}

/** @param {any} model @param {string} name @param {boolean} [interrupt] */
const sums = (model, name, interrupt = false) => pages.sumsOf(model, functionOf(model, name, interrupt));

/** A random page where whole subtrees are interrupts: they begin at frames of the last functions, and are functions of their own. */
function interruptedPage(/** @type {number} */ seed) {
  const page = randomPage(seed);
  const { tree, functions } = page;
  const before = functions.length;
  for (const f of functions.slice(0, before))
    functions.push({ ...f, id: f.id + before, key: `${f.key} (interrupt)`, origin: INTERRUPTS, rank: f.rank + before });
  for (let i = 1; i < tree.count; i++) {
    if (tree.func[i] < before - 3 && !(tree.flags[tree.parent[i]] & FLAG)) continue;
    tree.flags[i] |= FLAG;
    tree.func[i] += before;
  }
  tree.own = trees.withoutInterrupts(tree);
  return page;
}

test("the page tells interrupts apart, and sums agree with the program's", () => {
  const model = shown();
  assert.ok(model.hasInterrupts);
  assert.equal(model.factor, 1);
  assert.deepEqual(model.totals(), [OWN, OWN]);
  assert.deepEqual(model.totals(), [model.meta.total.base, model.meta.total.head]);
  for (const f of model.functions) {
    for (const [part, [base, head]] of Object.entries(pages.sumsOf(model, f))) {
      assert.ok(Math.abs(base - f[part].base) <= 1e-6 * f[part].base, f.key);
      assert.ok(Math.abs(head - f[part].head) <= 1e-6 * f[part].head, f.key);
    }
  }
  assert.deepEqual(sums(model, 'parse').total, [100 * MS, 100 * MS]);
  assert.deepEqual(sums(model, 'handle_softirqs').total, [50 * MS, 50 * MS]);
  assert.deepEqual(sums(model, 'handle_softirqs', true).total, [20 * MS, 80 * MS]);
  assert.deepEqual([model.meta.interrupts.base, model.meta.interrupts.head], [37 * MS, 126 * MS]);
  assert.match(model.meta.interruptsWords, /not in the total/);
});

test('a frame is as wide as the thread stood in it, and its figures leave interrupts out', () => {
  const model = shown();
  const node = model.framesOf(functionOf(model, 'parse').id)[0];
  assert.equal(model.width(node), 220 * MS);
  assert.deepEqual(model.valueOf(node), [100 * MS, 100 * MS]);
  assert.deepEqual(model.interruptsOf(node), [30 * MS, 120 * MS]);
  assert.equal(model.pointsOf(node), 0);
  assert.deepEqual(model.valueOf(0), [OWN, OWN]);
  const timer = model.tree.first(node);
  assert.deepEqual(model.valueOf(timer), [30 * MS, 120 * MS]);
  assert.deepEqual(model.interruptsOf(timer), [0, 0]);
  assert.match(status.figuresOf(model, timer), /not compared · kernel$/);
  assert.doesNotMatch(status.figuresOf(model, node), /not compared/);
});

test('folded, their time is that of the frame that was hit', () => {
  const model = shown({ interrupts: 'fold' });
  const all = [OWN + 37 * MS, OWN + 126 * MS];
  assert.deepEqual(model.totals(), all);
  assert.deepEqual(sums(model, 'parse').self, [130 * MS, 220 * MS]);
  assert.deepEqual(sums(model, 'handle_softirqs').self, [52 * MS, 56 * MS]);
  assert.deepEqual(sums(model, 'handle_softirqs', true).total, [0, 0]);
  assert.deepEqual(sums(model, 'send').total, [52 * MS, 56 * MS], 'system frames stay');
});

test('interrupts go with the system frames', () => {
  const hidden = shown({ system: 'hide' });
  assert.deepEqual(sums(hidden, 'parse').total, [100 * MS, 100 * MS]);
  assert.deepEqual(hidden.totals(), [(STEADY + 100) * MS, (STEADY + 100) * MS]);
  const folded = shown({ system: 'fold', interrupts: 'show' });
  assert.deepEqual(sums(folded, 'parse').self, [130 * MS, 220 * MS]);
  for (const model of [hidden, folded]) assert.ok([...model.tree.func].every((f) => f < 0 || model.functions[f].origin < 3));
});

test('where interrupts hit is nothing that is removed', () => {
  const model = shown();
  assert.equal(layout.findRemoved(model.callTree).count, 0);
});

test('their origin is searched for as any other, and a search for everything finds the total', () => {
  const found = (/** @type {object} */ change) => shown(change).found.sum;
  assert.deepEqual(found({ origins: String(INTERRUPTS) }), [37 * MS, 126 * MS]);
  assert.deepEqual(found({ search: '.' }), [OWN, OWN]);
  assert.deepEqual(found({ search: 'softirq' }), [(20 + 50) * MS, (80 + 50) * MS]);
});

test('callers and callees of a function have the figures of the list', () => {
  const first = shown();
  const { id, key } = functionOf(first, 'parse');
  const hash = hashes.shortHash(key);
  for (const change of [{ callers: hash }, { callees: hash }, { callers: hash, callees: hash }]) {
    const model = shown(change);
    assert.equal(model.tree.func[1], id);
    assert.deepEqual(model.valueOf(1), [100 * MS, 100 * MS]);
    assert.deepEqual(model.valueOf(0), [100 * MS, 100 * MS]);
    unfold(model.tree);
    for (let i = 1; i < model.tree.count; i++) {
      const [base, head] = model.valueOf(i);
      assert.ok(base <= model.tree.total[0][i] && head <= model.tree.total[1][i] && (base > 0 || head > 0));
    }
  }
  assert.deepEqual(shown({ inverted: true }).valueOf(0), [OWN, OWN]);
});

test('a page without interrupts has nothing of them', () => {
  const model = pages.shown('diff', { interrupts: 'fold' });
  assert.ok(!model.hasInterrupts);
  assert.ok(model.callTree === model.tables.tree);
  assert.equal(model.callTree.own, null);
});

property('totals without interrupts are those of the tree without their frames', (page) => {
  const { tree, functions } = page;
  const { tree: left, hidden } = withoutSystem(tree, functions, 'hide', INTERRUPTS);
  for (let side = 0; side < 2; side++) {
    assert.equal(tree.own[side][0], left.total[side][0]);
    assert.equal(tree.total[side][0], left.total[side][0] + hidden[side]);
  }
  const made = trees.functionSums(tree, functions.length);
  const wanted = trees.functionSums(left, functions.length);
  for (const f of functions)
    for (const part of /** @type {const} */ (['self', 'total']))
      for (let side = 0; side < 2; side++)
        if (f.origin !== INTERRUPTS) assert.equal(made[part][side][f.id], wanted[part][side][f.id]);
}, interruptedPage);

property('folding keeps all time, and every frame that is none of an interrupt', (page) => {
  const { tree, hidden } = withoutSystem(page.tree, page.functions, 'fold', INTERRUPTS);
  assert.deepEqual(hidden, [0, 0]);
  assert.deepEqual([tree.total[0][0], tree.total[1][0]], [page.tree.total[0][0], page.tree.total[1][0]]);
  assert.equal(tree.count, [...page.tree.flags].filter((flags) => !(flags & FLAG)).length);
  assert.ok(byPath(page, tree).size > 0);
}, interruptedPage);

property('callers of a function add up to its total without interrupts', ({ tree, functions }) => {
  const wanted = trees.functionSums(tree, functions.length).total;
  for (const f of functions)
    for (const which of [
      { callers: true, callees: false },
      { callers: false, callees: true },
    ]) {
      const made = unfold(lazy.around(tree, functions, f.id, which));
      assert.deepEqual([made.figures[0][0], made.figures[1][0]], [wanted[0][f.id], wanted[1][f.id]]);
    }
}, interruptedPage);
