// SPDX-License-Identifier: GPL-3.0-or-later
// Which module of the viewer knows which: imports of code and of types alike.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'render/viewer');
const modules = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.js'));

/** The rooms of the viewer in their order, as render/README.md lists them. */
const [list] = readFileSync(join(root, 'render/README.md'), 'utf8').match(/(?<=^\| in `render\/viewer\/`.*\n)(\|.*\n)+/m);
const rooms = [...list.matchAll(/^\| `(\w+)\/`/gm)].map(([, room]) => room);

const textOf = (name) => readFileSync(join(folder, name), 'utf8');

/** The modules that a module names, in code or in the type of something. @param {string} name */
function importsOf(name) {
  const named = textOf(name).matchAll(/(?:from |import\()'([./\w]+)'/g);
  return new Set([...named].map(([, other]) => join(dirname(name), other)));
}

const graph = new Map(modules.map((name) => [name, importsOf(name)]));

/** The modules that know a module. @param {string} name */
const usersOf = (name) => modules.filter((other) => graph.get(other)?.has(name)).sort();

test('no module of the viewer knows itself by way of others', () => {
  const left = new Map(graph);
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [name, imports] of left) if (![...imports].some((other) => left.has(other))) left.delete(name);
  }
  assert.deepEqual([...left.keys()], [], 'these modules lie on a circle of imports, or know one that does');
});

test('a room of the viewer knows none of those after it', () => {
  assert.ok(rooms.length > 1);
  for (const [name, imports] of graph) {
    const at = rooms.indexOf(dirname(name));
    assert.ok(at >= 0, `${name} lies in no room of render/README.md`);
    for (const other of imports) assert.ok(rooms.indexOf(dirname(other)) <= at, `${name} knows ${other}`);
  }
});

test('only the report knows how the page stores its tables', () => {
  assert.deepEqual(usersOf('data/block.js'), ['data/decode.js', 'data/history.js', 'data/lines.js', 'data/report.js', 'data/symbols.js']);
  for (const name of usersOf('data/decode.js'))
    assert.ok(name === 'data/report.js' || !/^import .*\/decode\.js'/m.test(textOf(name)), `${name} names types alone`);
});

/** What views still write without a Figure, by the module, and why. @type {Record<string, string>} */
const WRITES_ITSELF = {
  'views/header.js amount': 'how long a recording took',
  'views/latencies.js amount': 'how long answers took',
  'views/legend.js signedPercent': 'the ticks of a scale of colours',
  'views/members.js amount': 'both sides of a member of a group, in one cell of a list',
  'views/verdict.js amount': 'the least change that would be proven',
  'views/waitviews.js amount': 'waits that are not listed, of both sides together',
};

test('views take base, head, difference and share from a figure, and write none of them themselves', () => {
  const writers = ['amount', 'percent', 'signedAmount', 'signedPercent', 'change', 'pointsText'];
  const found = modules
    .filter((name) => ['views', 'picture', 'app', 'export'].includes(dirname(name)))
    .flatMap((name) => {
      const [, names = ''] = /^import \{([^}]*)\} from '[./]*\/common\/format\.js';$/m.exec(textOf(name)) || [];
      return names.split(',').map((one) => `${name} ${one.trim().split(' ')[0]}`);
    })
    .filter((one) => writers.includes(one.split(' ')[1]));
  assert.deepEqual(found.sort(), Object.keys(WRITES_ITSELF).sort());
});
