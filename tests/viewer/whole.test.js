// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a picture are drawn that is handed over whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pretend } from './lib/dom.js';
import { whole } from './lib/modules.js';
import { shown } from './lib/pages.js';

pretend();

/** How wide the widest frame of the last row is drawn, in pixels: seen, but not read. */
const NARROW = 10;

test('on paper a row of narrow frames is kept for a colour or a lower edge', () => {
  const model = shown('diff', { tab: 'flame' });
  const { tree } = model;
  const nodes = Array.from({ length: tree.count }, (_, node) => node);
  const last = Math.max(...nodes.map((node) => tree.row(node)));
  const [deepest] = nodes.filter((node) => tree.row(node) === last).sort((a, b) => model.width(b) - model.width(a));
  const plain = {
    tree,
    width: model.width,
    widths: null,
    zoom: 0,
    colour: () => 0xffcccccc,
    texture: null,
    edge: null,
    narrowEdge: null,
    edgePart: () => 1,
    name: () => '',
    matches: null,
    fades: false,
  };
  const ofDeepest = (/** @type {number} */ other) => (/** @type {number} */ node) => (node === deepest ? 0xff005ed5 : other);
  const rowsCut = (/** @type {object} */ change) => {
    const scene = { ...plain, ...change };
    const drawn = { scene, rowRange: () => [0, last], flipped: false, dark: false, hint: () => '', least: whole.LEAST_READ };
    const measuring = { measureText: () => ({ width: 1 }) };
    const width = (NARROW * model.width(0)) / model.width(deepest);
    return whole.vectorWhole(/** @type {any} */ (drawn), width, 100, /** @type {any} */ (measuring)).cut;
  };
  assert.ok(rowsCut({}) > 0);
  assert.equal(rowsCut({ colour: ofDeepest(0xffcccccc) }), 0);
  assert.equal(rowsCut({ edge: ofDeepest(0) }), 0);
});
