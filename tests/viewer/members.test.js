// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that nothing tells apart from build to build: the page "group" has three lambdas that head numbers otherwise.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pretend } from './lib/dom.js';
import { filters, members } from './lib/modules.js';
import { shown } from './lib/pages.js';

pretend();

const model = shown('group');
const group = model.functions.find((/** @type {any} */ f) => f.name.startsWith('Svc.lambda'));

test('a group has its members, with the times of each side', () => {
  assert.equal(group.name, 'Svc.lambda$main$* (3 functions)');
  const sides = [0, 1].map((side) => group.members.filter((/** @type {any} */ member) => member.side === side));
  assert.deepEqual(sides[0].map((/** @type {any} */ { name }) => name).sort(), [0, 1, 2].map((i) => `Svc.lambda$main$${i}`));
  assert.deepEqual(sides[1].map((/** @type {any} */ { name }) => name).sort(), [3, 4, 5].map((i) => `Svc.lambda$main$${i}`));
  for (const side of [0, 1]) {
    const sum = sides[side].reduce((/** @type {number} */ all, /** @type {any} */ { total }) => all + total, 0);
    assert.ok(Math.abs(sum - group.total[side ? 'head' : 'base']) < 1e-3 * sum, `side ${side}`);
  }
  for (const f of model.functions) if (f !== group) assert.deepEqual(f.members, []);
});

test('the inspector lists each name once, unproven, and none under filters', () => {
  const section = members.memberSection(model, group);
  const text = section.textContent;
  assert.match(text, /^6 names in this group/);
  assert.match(text, /no difference of one is proven/);
  const rows = section.all('ul', 'neighbours')[0].all('li').map((/** @type {any} */ li) => li.textContent);
  assert.equal(rows.length, 6);
  assert.ok(rows.includes('Svc.lambda$main$50 s → 400 ms'), rows.join());
  assert.ok(rows.includes('Svc.lambda$main$0400 ms → 0 s'), rows.join());
  const other = model.functions.find((/** @type {any} */ f) => f.name === 'main');
  assert.equal(members.memberSection(model, other), null);
  assert.equal(members.memberSection(shown('group', { filters: filters.withFilter('', 'focus', 'steady') }), group), null, 'filters leave a part of it');
});
