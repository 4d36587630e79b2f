// SPDX-License-Identifier: GPL-3.0-or-later
// Which module of the viewer knows which: imports of code and of types alike.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../render/viewer');
const modules = readdirSync(folder).filter((name) => name.endsWith('.js'));

/** The modules that a module names, in code or in the type of something. @param {string} name */
function importsOf(name) {
  const text = readFileSync(join(folder, name), 'utf8');
  return new Set([...text.matchAll(/(?:from |import\()'\.\/([\w.]+)'/g)].map(([, other]) => other));
}

const graph = new Map(modules.map((name) => [name, importsOf(name)]));

/** The modules that know a module. @param {string} name */
const usersOf = (name) => modules.filter((other) => graph.get(other)?.has(name));

test('no module of the viewer knows itself by way of others', () => {
  const left = new Map(graph);
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [name, imports] of left) if (![...imports].some((other) => left.has(other))) left.delete(name);
  }
  assert.deepEqual([...left.keys()], [], 'these modules lie on a circle of imports, or know one that does');
});

test('parts of the page do not know the application', () => {
  assert.deepEqual(usersOf('app.js'), ['main.js', 'mainsuite.js']);
});

test('the page of one report does not carry what a suite needs', () => {
  const known = new Set(['main.js']);
  for (const name of known) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, other] of text.matchAll(/^(?:import|} from) [^;]*?'\.\/([\w.]+)'/gm)) known.add(other);
  }
  for (const name of ['suite.js', 'benchmarks.js', 'benchmarklist.js']) assert.ok(!known.has(name), name);
  assert.ok(known.has('app.js') && known.has('table.js'));
});

test('only the report knows how the page stores its tables', () => {
  assert.deepEqual(usersOf('block.js'), ['decode.js', 'report.js', 'symbols.js']);
  for (const name of usersOf('decode.js')) {
    const text = readFileSync(join(folder, name), 'utf8');
    assert.ok(name === 'report.js' || !/^import .*'\.\/decode\.js'/m.test(text), `${name} names types alone`);
  }
});
