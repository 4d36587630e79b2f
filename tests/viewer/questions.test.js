// SPDX-License-Identifier: GPL-3.0-or-later
// What `kelvin diff` and `kelvin report` answer to --focus, --hide and --only is what the page shows under the same filters.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { expressions, filters, hash } from './lib/modules.js';
import { comparedPage, shown } from './lib/pages.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const kelvin = process.env.KELVIN || join(here, '../../build/dev/cli/kelvin');
const { withFilter } = filters;

/** What the command says of a pair. @param {string[]} pair @param {string[]} options */
function asked(pair, options) {
  const paths = pair.map((name) => join(here, '../data/pairs', `${name}.pb.gz`));
  const { stdout, stderr } = spawnSync(kelvin, ['diff', ...paths, '--json', ...options], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
}

/** Measured times [base self, head self, base total, head total] by key, of functions that have some. */
const figuresOf = (/** @type {[string, number[]][]} */ list) =>
  new Map(list.filter(([, times]) => times.some((time) => Math.round(time) > 0)));

/** @param {any} page @param {object} change @returns {Map<string, number[]>} */
function ofPage(page, change) {
  const model = shown(page, { processes: false, ...change });
  const { self, total } = model.sums;
  return figuresOf(
    model.functions.map((/** @type {any} */ f) => [f.key, [self[0][f.id], self[1][f.id], total[0][f.id], total[1][f.id]]]),
  );
}

/** @param {any} document */
const ofJson = (document) =>
  figuresOf(
    document.functions.map((/** @type {any} */ f) => [
      f.key,
      [f.base_self_ns, f.head_self_ns, f.base_total_ns, f.head_total_ns],
    ]),
  );

/** @param {Map<string, number[]>} page @param {Map<string, number[]>} text @param {string} what */
function assertEqual(page, text, what) {
  assert.deepEqual([...text.keys()].sort(), [...page.keys()].sort(), `${what}: functions`);
  for (const [key, times] of page)
    times.forEach((time, i) =>
      assert.ok(Math.abs(time - /** @type {any} */ (text.get(key))[i]) <= 1, `${what}: ${key}: ${times}, ${text.get(key)}`),
    );
}

/**
 * Figures without the hidden callers of the scheduler that come back, since a profile has nothing else that tells its calls
 * from interrupts (`profile/selection.c`); they have no time of their own.
 * @param {any} page @param {string} expression @param {Map<string, number[]>} text
 */
function withoutTelling(page, expression, text) {
  const hits = new expressions.Expressions(page.functions).find(expression)?.hits;
  const isTelling = (/** @type {any} */ f) => hits?.[f.id] && f.module.startsWith('[kernel') && !f.key.endsWith('(interrupt)');
  const telling = new Set(page.functions.filter(isTelling).map((/** @type {any} */ f) => f.key));
  return new Map([...text].filter(([key, [base, head]]) => !telling.has(key) || Math.round(base) || Math.round(head)));
}

/** Expressions of each form that mean functions of a report. @param {any} func @param {any} whole @returns {string[]} */
function expressionsFor(func, whole) {
  const word = /[a-z]{3,}/i.exec(func.shown || func.name)?.[0] || 'main';
  const file = whole.functions.find((/** @type {any} */ f) => f.file && f.head_total_ns > 0)?.file.split('/').pop();
  const escaped = file?.replaceAll('.', '\\.');
  return [word, `^${word}|poll|send`, '_[a-z]+$', 'module:libc.so.6', 'module:libc', 'module:kernel', ...(file ? [`file:${escaped}$`] : [])];
}

const PAIRS = [
  ['redis_base', 'redis_head'],
  ['nginx_base', 'nginx_head'],
  ['gunicorn_base', 'gunicorn_head'],
  ['locked_base', 'locked_head'],
];

for (const pair of PAIRS) {
  test(`text and page agree on parts of ${pair[1]}`, () => {
    const page = comparedPage(...pair.map((name) => `pairs/${name}.pb.gz`));
    const whole = asked(pair, []);
    const own = whole.functions.filter((/** @type {any} */ f) => !f.interrupt && f.origin === 'user' && f.base_total_ns > 0);
    const func = own[Math.floor(own.length / 3)];
    const key = { key: func.key };

    assertEqual(ofPage(page, {}), ofJson(whole), 'all');
    assertEqual(
      ofPage(page, { filters: withFilter('', 'only', hash.hashOf(key)) }),
      ofJson(asked(pair, ['--focus', `id:${func.id}`])),
      `--focus ${func.name}`,
    );
    assertEqual(
      ofPage(page, { filters: withFilter('', 'merge', hash.hashOf(key)) }),
      ofJson(asked(pair, ['--hide', `id:${func.id}`])),
      `--hide ${func.name}`,
    );
    for (const kind of /** @type {const} */ (['user', 'library', 'system']))
      assertEqual(ofPage(page, { filters: withFilter('', kind) }), ofJson(asked(pair, ['--only', kind])), `--only ${kind}`);
    for (const expression of expressionsFor(func, whole)) {
      const parts = [ofPage(page, { filters: withFilter('', 'focus', expression) }), ofJson(asked(pair, ['--focus', expression]))];
      assert.ok(parts[0].size > 0, `${expression} means something`);
      assertEqual(parts[0], parts[1], `--focus ${expression}`);
      const hidden = ofPage(page, { filters: withFilter('', 'hide', expression) });
      const left = withoutTelling(page, expression, ofJson(asked(pair, ['--hide', expression])));
      assertEqual(hidden, left, `--hide ${expression}`);
    }
    const both = withFilter(withFilter(withFilter('', 'focus', 'module:libc.so.6'), 'hide', 'write|read'), 'system');
    const options = ['--focus', 'module:libc.so.6', '--hide', 'write|read', '--only', 'system'];
    assertEqual(ofPage(page, { filters: both }), withoutTelling(page, 'write|read', ofJson(asked(pair, options))), options.join(' '));
  });
}
