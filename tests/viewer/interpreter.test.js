// SPDX-License-Identifier: GPL-3.0-or-later
// A program of Python: whose time that of the interpreter's C functions is, and what is left where system frames are off.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Model, state as states } from './lib/modules.js';
import { readPage } from './lib/pages.js';

const MS = 1e7; // ten runs of a millisecond
const STEADY = 30 * 40;
/** All but the functions that do not change, of each side. */
const ROWS = [215, 315];

/** @param {object} [change] */
function shown(change = {}) {
  const model = new Model(readPage('python'));
  model.update({ ...states.DEFAULTS, ...change });
  return model;
}

/** @param {any} model @param {string} name */
const functionOf = (model, name) => model.functions.find((/** @type {any} */ f) => f.name === name);

/** Self time in milliseconds a run [base, head]. @param {any} model @param {string} name */
function selfOf(model, name) {
  const { id } = functionOf(model, name);
  return model.sums.self.map((/** @type {Float64Array} */ side) => Math.round(side[id] / MS));
}

/** @param {any} model @param {string} name */
function totalOf(model, name) {
  const { id } = functionOf(model, name);
  return model.sums.total.map((/** @type {Float64Array} */ side) => Math.round(side[id] / MS));
}

/** The names of all frames of the call tree. @param {any} model */
const framesOf = ({ callTree, functions }) => new Set([...callTree.func.slice(1)].map((func) => functions[func].name));

test('people read the name and the file, and find a function by its full name too', () => {
  const model = shown();
  const run = functionOf(model, 'S.run');
  assert.equal(run.fullName, 'py::S.run:/srv/app/w.py');
  assert.equal(run.place, 'w.py:12');
  assert.equal(run.module, '[jit]');
  assert.equal(run.key, 'py::S.run:w.py`[jit]');
  for (const search of ['S\\.run', 'py::S.run:/srv/app/w.py', 'py::S', 'S.run:/srv']) {
    const found = shown({ search }).functionHits;
    assert.deepEqual([...found.keys()].filter((f) => found[f]), [run.id], search);
  }
  const scan = functionOf(model, 'scan');
  assert.equal(scan.fullName, 'scan');
  assert.equal(scan.place, '_json.so');
});

test("a function has its interpreter's time, as the program tested it", () => {
  const model = shown();
  assert.ok(model.hasInterpreters);
  assert.deepEqual(selfOf(model, 'S.run'), [50, 50]);
  assert.deepEqual(selfOf(model, 'check'), [100, 200]);
  assert.deepEqual(selfOf(model, 'loads'), [21, 21]);
  assert.deepEqual(selfOf(model, 'list_append'), [0, 0]);
  assert.deepEqual(totalOf(model, 'list_append'), [38, 38]);
  assert.deepEqual(totalOf(model, 'PyObject_RichCompare'), [60, 160]);
  assert.deepEqual(selfOf(model, 'Py_RunMain'), [5, 5], 'above the first function of the program');
  assert.deepEqual(selfOf(model, 'PyLong_FromLong'), [6, 6], 'below a C extension');
  for (const f of model.functions) {
    for (const part of ['self', 'total']) {
      const pair = [model.sums[part][0][f.id], model.sums[part][1][f.id] * model.factor];
      const tested = f[part];
      assert.ok(Math.abs(pair[0] - tested.base) < MS / 10, `${f.name}: ${part} of base`);
      assert.ok(Math.abs(pair[1] - tested.head) < MS / 10, `${f.name}: ${part} of head`);
    }
  }
  assert.equal(model.verdictOn(functionOf(model, 'check')).e.state, 'more');
});

test('the switch gives each function its own time, which was not tested', () => {
  const model = shown({ interpreter: 'apart' });
  assert.deepEqual(selfOf(model, 'S.run'), [20, 20]);
  assert.deepEqual(selfOf(model, 'check'), [40, 40]);
  assert.deepEqual(selfOf(model, 'PyObject_RichCompare'), [60, 160]);
  assert.deepEqual(totalOf(model, 'check'), [100, 200]);
  assert.equal(model.verdictOn(functionOf(model, 'check')).e.state, 'untested');
  assert.ok(model.isNarrowed);
  const before = shown();
  assert.deepEqual(
    model.totals().map((t) => Math.round(t / MS)),
    before.totals().map((t) => Math.round(t / MS)),
  );
});

test('without system frames the program stays, with the time of its interpreter', () => {
  const model = shown({ system: 'hide' });
  const frames = framesOf(model);
  for (const name of ['_start', 'Py_RunMain', 'list_append', 'realloc', 'PyObject_Call', 'PyObject_RichCompare', 'loads'])
    assert.ok(!frames.has(name), name);
  for (const name of ['<module>', 'S.run', 'check', 'scan']) assert.ok(frames.has(name), name);
  assert.deepEqual(selfOf(model, 'S.run'), [50, 50]);
  assert.deepEqual(selfOf(model, 'check'), [100, 200]);
  assert.deepEqual(selfOf(model, 'scan'), [15, 15]);
  // Before the program began, in the C library, what a C extension had of the interpreter, and in the standard library.
  const hidden = 5 + 8 + 6 + 21;
  assert.deepEqual(
    model.hidden.map((time) => Math.round(time / MS)),
    [hidden, hidden],
  );
  assert.deepEqual(
    model.totals().map((time) => Math.round(time / MS)),
    ROWS.map((rows) => STEADY + rows - hidden),
  );
  const top = model.callTree.first(0);
  assert.equal(model.nameOf(top), '<module>');
  assert.equal(model.callTree.end[top], model.callTree.count);
});

test('the switch changes nothing where system frames are off', () => {
  for (const system of ['hide', 'fold']) {
    const [one, other] = [shown({ system }), shown({ system, interpreter: 'apart' })];
    for (const name of ['S.run', 'check', 'scan', '<module>']) assert.deepEqual(selfOf(one, name), selfOf(other, name));
  }
});

test('folded system frames leave all of the time to the program', () => {
  const model = shown({ system: 'fold' });
  assert.deepEqual(selfOf(model, 'S.run'), [79, 79]);
  assert.deepEqual(selfOf(model, 'scan'), [21, 21]);
  assert.deepEqual(model.hidden, [0, 0]);
});

test('by function that runs, the interpreter is part of the program', () => {
  const model = shown({ inverted: true });
  const names = [];
  for (let node = model.tree.first(0); node >= 0; node = model.tree.next(node)) names.push(model.nameOf(node));
  assert.ok(names.includes('check'));
  assert.ok(!names.includes('PyObject_RichCompare'));
  assert.equal(names[0], 'check', 'it takes the most of all');
});
