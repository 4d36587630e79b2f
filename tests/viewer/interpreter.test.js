// SPDX-License-Identifier: GPL-3.0-or-later
// A program of Python: whose time that of the interpreter's C functions is, and what is left where system frames are off.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as pages from './lib/pages.js';

const { functionOf, sumsOf } = pages;

const MS = 1e7; // ten runs of a millisecond
const STEADY = 30 * 40;
/** All but the functions that do not change, of each side. */
const ROWS = [215, 315];

/** @param {object} [change] */
const shown = (change) => pages.shown('python', change);

/** Milliseconds a run [base, head]. @param {number[]} pair */
const inMs = (pair) => pair.map((time) => Math.round(time / MS));
/** @param {any} model @param {string} name */
const selfOf = (model, name) => inMs(sumsOf(model, functionOf(model, name)).self);
/** @param {any} model @param {string} name */
const totalOf = (model, name) => inMs(sumsOf(model, functionOf(model, name)).total);

/** The names of all frames of the call tree. @param {any} model */
const framesOf = ({ callTree, functions }) => new Set([...callTree.func.slice(1)].map((func) => functions[func].name));

test('people read the name and the file, and find a function by its full name too', () => {
  const model = shown();
  const run = functionOf(model, 'S.run');
  assert.equal(run.fullName, 'py::S.run:/srv/app/w.py');
  assert.equal(run.place, 'w.py:12');
  assert.equal(run.module, '[jit]');
  assert.equal(run.key, 'py::S.run:/srv/app/w.py`[jit]');
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
    for (const [part, [base, head]] of Object.entries(sumsOf(model, f))) {
      assert.ok(Math.abs(base - f[part].base) < MS / 10, `${f.name}: ${part} of base`);
      assert.ok(Math.abs(head - f[part].head) < MS / 10, `${f.name}: ${part} of head`);
    }
  }
  assert.equal(model.verdictOn(functionOf(model, 'check')).e.state, 'more');
});

test('the switch gives each function its own time, and leaves it its verdict', () => {
  const model = shown({ interpreter: 'apart' });
  assert.deepEqual(selfOf(model, 'S.run'), [20, 20]);
  assert.deepEqual(selfOf(model, 'check'), [40, 40]);
  assert.deepEqual(selfOf(model, 'PyObject_RichCompare'), [60, 160]);
  assert.deepEqual(totalOf(model, 'check'), [100, 200]);
  assert.equal(model.verdictOn(functionOf(model, 'check')).e.state, 'more');
  assert.ok(model.isNarrowed);
  assert.deepEqual(inMs(model.totals()), inMs(shown().totals()));
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
  assert.deepEqual(inMs(model.hidden), [hidden, hidden]);
  assert.deepEqual(inMs(model.totals()), ROWS.map((rows) => STEADY + rows - hidden));
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
