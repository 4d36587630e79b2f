// SPDX-License-Identifier: GPL-3.0-or-later
// The state and its form in the address.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hash, state } from './lib/modules.js';
import { randomFrom, randomPage } from './lib/random.js';

const { DEFAULTS, fromHash, nodeAt, pathOf, toHash } = state;
const { shortHash } = hash;
const CHOICES = {
  view: ['base', 'head', 'diff'],
  tab: ['flame', 'timeline', 'functions'],
  colour: ['diff', 'origin', 'function'],
  palette: ['kelvin', 'classic', 'codspeed'],
  system: ['show', 'hide', 'fold'],
  interrupts: ['show', 'fold'],
  interpreter: ['function', 'apart'],
  inlined: ['file', 'call'],
  order: ['name', 'size', 'change'],
};
const LETTERS = [...'abcXYZ019 &=#%+?/;,.\'"<>()[]{}\\|^$*~`@!-_:é漢\u202e😀'];

/** @param {(below: number) => number} random */
function randomState(random) {
  const text = () => Array.from({ length: random(12) }, () => LETTERS[random(LETTERS.length)]).join('');
  const out = { ...DEFAULTS };
  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (random(2)) continue;
    const choices = /** @type {any} */ (CHOICES)[name];
    if (choices) /** @type {any} */ (out)[name] = choices[random(choices.length)];
    else if (typeof value === 'boolean') /** @type {any} */ (out)[name] = !value;
    else if (name === 'range') out.range = [random(1e6), 1e6 + 1 + random(1e9)];
    else if (name === 'zoom' || name === 'selected')
      out[name] = Array.from({ length: random(60) }, () => shortHash(`f${random(1e6)}`)).join('.');
    else if (['callers', 'callees', 'picked'].includes(name)) /** @type {any} */ (out)[name] = shortHash(`f${random(1e6)}`);
    else if (name === 'origins' || name === 'states') out[name] = [...'01234'].filter(() => random(2)).join('');
    else /** @type {any} */ (out)[name] = text();
  }
  return out;
}

test('a state survives the address', () => {
  const random = randomFrom(42);
  for (let i = 0; i < 500; i++) {
    const wanted = randomState(random);
    const short = toHash(wanted, DEFAULTS);
    assert.match(short, /^[\x21-\x7e]*$/);
    assert.ok(!short.includes('#'));
    assert.deepEqual(fromHash(`#${short}`, DEFAULTS), wanted);
    assert.equal(toHash(fromHash(short, DEFAULTS), DEFAULTS), short);
  }
});

test('a usual state leaves the address empty; a page of one recording has its own', () => {
  assert.equal(toHash({ ...DEFAULTS }, DEFAULTS), '');
  const single = { ...DEFAULTS, view: 'head', colour: 'origin' };
  assert.equal(toHash({ ...single }, single), '');
  assert.deepEqual(fromHash('', single), single);
  assert.notEqual(toHash({ ...single, colour: 'function' }, single), '');
});

test('an address that somebody broke does not throw, and what it says right is taken', () => {
  for (const bad of [
    '#',
    '#&&&',
    '#=',
    '#zz=1',
    '#q=%',
    '#q=%E0%A4%A',
    '#g=1',
    '#g=a-b',
    '#g=5-1',
    '#g=1-2-3',
    '#__proto__=1',
    '#constructor=1',
  ])
    assert.deepEqual(fromHash(bad, DEFAULTS), DEFAULTS, bad);
  assert.equal(fromHash('#zz=1&q=ok&g=x', DEFAULTS).search, 'ok');
});

test('a word that no choice has is not taken', () => {
  for (const bad of ['#v=nonsense', '#t=nonsense', '#c=nonsense', '#c=bottlenecks', '#p=nonsense', '#s=nonsense', '#n=hide', '#p=__proto__', '#c=constructor'])
    assert.deepEqual(fromHash(bad, DEFAULTS), DEFAULTS, bad);
});

test('every node is found again by its path', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { tree, functions } = randomPage(seed);
    for (let i = 0; i < tree.count; i++) assert.equal(nodeAt(tree, functions, pathOf(tree, functions, i)), i);
  }
});

test('a path that ends elsewhere leads as far as it goes', () => {
  const { tree, functions } = randomPage(5);
  for (let i = 1; i < tree.count; i += 7) {
    const path = pathOf(tree, functions, i);
    assert.equal(nodeAt(tree, functions, `${path}.nowhere.at.all`), i);
    assert.equal(nodeAt(tree, functions, `nowhere.${path}`), 0);
  }
});

test('a link made in one report opens the same frame in that of another run', () => {
  const here = randomPage(8);
  const there = randomPage(8, { stacks: 100 });
  let found = 0;
  for (let i = 1; i < there.tree.count; i++) {
    const path = pathOf(there.tree, there.functions, i);
    const node = nodeAt(here.tree, here.functions, path);
    assert.equal(pathOf(here.tree, here.functions, node), path);
    found++;
  }
  assert.ok(found > 100);
});
