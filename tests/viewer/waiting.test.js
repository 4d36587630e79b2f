// SPDX-License-Identifier: GPL-3.0-or-later
// Waits: their classes per node and function, filters by class, locks and who released them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, colour, filters, format, Model, state as states, waiting } from './lib/modules.js';
import { readPage } from './lib/pages.js';
import { leastDistance } from './lib/vision.js';

const MS = 1e6;
const { INTERRUPTS } = codes;
const CLASS_OF_RUN_QUEUE = 7;
/** How many classes are known here, with CPU time. */
const KNOWN = 9;
const [CPU, LOCK, , , , TIMER] = Array.from({ length: waiting.CLASSES }, (_, i) => i);

/** @param {object} [change] of the state */
function shown(change = {}) {
  const model = new Model(readPage('waits'));
  model.update({ ...states.DEFAULTS, ...change });
  return model;
}

/** @param {any} model @param {string} name */
const find = (model, name) => model.functions.find((/** @type {any} */ f) => f.name === name);
/** The node of a path of names. @param {any} model @param {string[]} path */
function nodeOf(model, ...path) {
  let node = 0;
  for (const name of path) {
    const { id } = find(model, name);
    let child = model.tree.first(node);
    while (child >= 0 && model.tree.func[child] !== id) child = model.tree.next(child);
    assert.ok(child >= 0, `${name} in ${path}`);
    node = child;
  }
  return node;
}

/** Milliseconds by class. @param {ArrayLike<number>} sums */
const inMs = (sums) => Array.from(sums, (ns) => Math.round(ns / MS)).slice(0, KNOWN);

test('a metric of waits has a name in words; in another report it keeps its own', () => {
  const model = shown();
  assert.equal(format.measureOf(model.shownMetric), 'wall-clock time');
  assert.equal(format.measureOf(shown({ metric: 'cpu' }).shownMetric), 'CPU time');
  assert.equal(format.measureOf(new Model(readPage('metrics')).shownMetric), 'time');
});

test('the time of each class, by side and metric', () => {
  const [base, head] = shown().waitSums;
  assert.deepEqual(inMs(base), [106, 600, 0, 50, 0, 300, 0, 0, 0]);
  assert.deepEqual(inMs(head), [106, 1000, 0, 50, 0, 300, 0, 0, 0]);
  assert.deepEqual(inMs(shown({ metric: 'off-cpu' }).waitSums[1]), [0, 1000, 0, 50, 0, 300, 0, 0, 0]);
  assert.deepEqual(inMs(shown({ metric: 'idle' }).waitSums[1]), [0, 0, 0, 0, 0, 0, 1500, 0, 0]);
  assert.deepEqual(inMs(shown({ metric: 'cpu' }).waitSums[1]), [106, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('a frame has the shade of what is waited for longest below it, the paler the more of its time is CPU time', () => {
  const model = shown({ colour: 'waiting' });
  const shade = (...path) => {
    const value = model.shadeOf(nodeOf(model, ...path));
    return [Math.floor(value / (waiting.LEVELS + 1)), value % (waiting.LEVELS + 1)];
  };
  assert.deepEqual(shade('main', 'serve', 'get'), [LOCK, waiting.LEVELS]);
  assert.deepEqual(shade('main', 'serve', 'nap'), [TIMER, waiting.LEVELS]);
  assert.deepEqual(shade('main', 'serve', 'compute'), [CPU, 0]);
  assert.deepEqual(shade('main', 'serve'), [LOCK, Math.round((waiting.LEVELS * 1300) / 1400)]);
  const below = shown({ colour: 'waiting', inverted: true });
  const top = below.shadeOf(nodeOf(below, '[waiting: lock]', 'futex_wait', 'pthread_mutex_lock', 'get'));
  assert.equal(top, waiting.shadeOf(LOCK));
  assert.equal(below.shadeOf(nodeOf(below, 'compute')), 0);
});

test('around a function its callees have their own shades', () => {
  const plain = shown();
  const hash = states.pathOf(plain.tree, plain.functions, nodeOf(plain, 'main', 'serve')).split('.').pop();
  const model = shown({ colour: 'waiting', callees: hash });
  assert.equal(model.shadeOf(nodeOf(model, 'serve', 'nap')), waiting.shadeOf(TIMER));
  assert.equal(model.shadeOf(nodeOf(model, 'serve', 'compute')), 0);
});

test('where only user code is shown, the frames of waits stay: they are the answer', () => {
  const model = shown({ filters: filters.withFilter('', 'user', '') });
  assert.ok(nodeOf(model, 'main', 'serve', 'get', '[waiting: lock]') > 0);
  assert.throws(() => nodeOf(model, 'main', 'serve', 'get', 'pthread_mutex_lock'));
});

test('without system frames the frames of waits stay where they are', () => {
  const model = shown({ system: 'hide' });
  assert.ok(nodeOf(model, 'main', 'serve', 'get', '[waiting: lock]') > 0);
  assert.deepEqual(inMs(model.totals()), [1056, 1456]);
  assert.throws(() => nodeOf(model, 'main', 'serve', 'get', 'pthread_mutex_lock'));
});

test('a class that is left out takes its time with it, and the shares stay those of everything', () => {
  const plain = shown();
  const waits = plain.waitFunctions;
  const lock = find(plain, '[waiting: lock]');
  const timer = find(plain, '[waiting: timer]');
  const without = waiting.withClassToggled('', waits, lock);
  assert.ok(waiting.isLeftOut(without, waits, lock));
  assert.ok(!waiting.isLeftOut(without, waits, timer));
  const model = shown({ filters: without });
  assert.deepEqual(inMs(model.totals()), [456, 456]);
  assert.deepEqual(inMs(model.waitSums[1]), inMs(plain.waitSums[1]));
  assert.equal(waiting.withClassToggled(without, waits, lock), '');
});

test('only one class; the next one takes its place, and other filters stay', () => {
  const plain = shown();
  const waits = plain.waitFunctions;
  const [lock, timer] = ['[waiting: lock]', '[waiting: timer]'].map((name) => find(plain, name));
  const other = 'u';
  const only = waiting.withClassOnly(waiting.withClassOnly(other, waits, lock), waits, timer);
  assert.ok(waiting.showsOneClass(only, waits));
  assert.ok(waiting.isLeftOut(only, waits, lock));
  const model = shown({ filters: waiting.withClassOnly('', waits, timer) });
  assert.deepEqual(inMs(model.totals()), [300, 300]);
  assert.equal(waiting.withClassToggled(only, waits, lock), other, 'a click on another class shows all again');
  assert.equal(waiting.withoutWaits(only, waits), other);
});

test('what functions wait for, also those that only call what waits', () => {
  const model = shown();
  const sums = waiting.functionClasses(model.callTree, model.classes, model.side);
  const of = (/** @type {string} */ name) => {
    const at = find(model, name).id * waiting.CLASSES;
    return inMs(sums.slice(at, at + waiting.CLASSES));
  };
  assert.deepEqual(of('main'), [0, 1000, 0, 0, 0, 300, 0, 0, 0]);
  assert.deepEqual(of('load'), [0, 0, 0, 50, 0, 0, 0, 0, 0]);
  assert.deepEqual(of('compute'), [0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('locks and who released them are known by node', () => {
  const page = readPage('waits');
  const model = new Model(page);
  const { classes, functions } = model;
  const place = (/** @type {number} */ node) => waiting.placeOf(page.tree, functions, classes, node);
  const { releases } = page;
  assert.deepEqual(releases[1].locks, [{ ordinal: 1, name: 'cache_mutex' }]);
  assert.equal(functions[place(releases[1].node[0])].name, 'get');
  assert.equal(waiting.lockName(releases[1].locks[0]), 'cache_mutex');
  const known = waiting.knownOf(releases[1], () => true, place);
  assert.deepEqual(known.locks, [{ lock: 0, ns: 1000 * MS, places: 1 }]);
  assert.deepEqual(known.releasers, [{ releaser: 0, ns: 1000 * MS }]);
  assert.deepEqual(releases[1].releasers, [{ func: find(model, 'evict').id, name: 'evict' }]);
  assert.equal(waiting.knownOf(releases[1], () => false, place).all, 0);
});

test('waiting for a CPU is beside the total of a comparison, as interrupts are', () => {
  const model = new Model(readPage('waits-busy'));
  model.update(states.DEFAULTS);
  const queue = find(model, '[waiting: run queue]');
  assert.equal(queue.origin, INTERRUPTS);
  assert.deepEqual([model.meta.runQueue.base, model.meta.runQueue.head], [10 * MS, 40 * MS]);
  assert.match(model.meta.runQueueWords, /not in the total/);
  assert.deepEqual(model.totals(), [model.meta.total.base, model.meta.total.head]);
  assert.deepEqual(model.totals(), shown().totals());
  // It has its class, and can be filtered by it.
  assert.equal(model.classes[queue.id], CLASS_OF_RUN_QUEUE);
  assert.deepEqual(inMs(model.waitSums[1]), [106, 1000, 0, 50, 0, 300, 0, 40, 0]);
  assert.equal(shown().meta.runQueue.head, 0);
});

for (const dark of [false, true])
  test(`the classes are told apart by every vision, ${dark ? 'dark' : 'light'}`, () => {
    const { waitClasses } = shown();
    const colours = new colour.Colours([], waitClasses);
    colours.dark = dark;
    assert.ok(waitClasses.length > 1);
    const all = waitClasses.map((one) => [one.words, one.colour ? colour.rgb(one.colour) : colours.neutral()]);
    const { distance, where } = leastDistance(Object.fromEntries(all));
    assert.ok(distance >= 15, `${distance.toFixed(1)}: ${where}`);
  });
