// SPDX-License-Identifier: GPL-3.0-or-later
// Which frame on the screen a recorded frame is.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shown } from './lib/pages.js';
import { namesTo, property, randomPage } from './lib/random.js';

property('a recorded frame is the same frame where the tree is whole, also under a range of time', (page) => {
  for (const range of [null, [2e6, 6e6]]) {
    const { shownFrames } = shown(page, { range });
    for (let node = 0; node < page.tree.count; node++) assert.equal(shownFrames.of(node, 'app'), node);
  }
});

property('where frames are taken out, it is the frame with the rest of its path, or its next caller', (page) => {
  const model = shown(page, { system: 'hide' });
  const names = new Set(page.functions.map(({ name }) => name));
  for (let node = 1; node < page.tree.count; node++) {
    const found = model.shownFrames.of(node, 'app');
    const way = namesTo(page, model.callTree, found);
    const recorded = namesTo(page, page.tree, node);
    assert.ok(way.every((name) => names.has(name)));
    // The way on the screen is the recorded one without some of its frames.
    let at = 0;
    for (const name of recorded) if (name === way[at]) at++;
    assert.equal(at, way.length, `${recorded} became ${way}`);
    if (way.length < recorded.length) continue;
    assert.deepEqual(way, recorded);
  }
});

test('below rows of processes a frame is looked for in its own', () => {
  const page = randomPage(4);
  for (const recording of page.meta.recordings)
    recording.threads = [0, 1, 2].map((id) => [0, id, id, id ? 'worker' : 'app', `thread ${id}`]);
  const model = shown(page);
  const rowOf = (node) => {
    while (model.callTree.depth[node] > 1) node = model.callTree.parent[node];
    return model.functions[model.callTree.func[node]].name;
  };
  const { node, thread } = page.samples[1];
  node.forEach((inner, i) => {
    const process = thread[i] ? 'worker' : 'app';
    const found = model.shownFrames.of(inner, process);
    assert.equal(rowOf(found), process);
    assert.deepEqual(namesTo(page, model.callTree, found).slice(1), namesTo(page, page.tree, inner));
  });
});
