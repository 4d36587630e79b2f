// SPDX-License-Identifier: GPL-3.0-or-later
// Searches that could take for ever are known before they are tried.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pattern } from './lib/modules.js';

test('plain words and usual expressions are tried at once', () => {
  for (const text of [
    'malloc',
    'std::sort',
    '^main$',
    'lex|parse|compress',
    'ns[0-9]+::run',
    'foo.*bar',
    'Class(Foo|Bar)::x?',
    '\\w+',
  ])
    assert.ok(pattern.isSimple(text), text);
});

test('what can go back and forth without an end is not', () => {
  const bad = [
    '(x+x+)+y',
    '(a|a)*b',
    '(a?){30}',
    '.*.*.*y',
    '(a|b|ab)(a|b|ab)(a|b|ab)(a|b|ab)',
    'a?a?a?a?a?aaaaa',
    '(\\w+)\\1',
    '(?=(a+))b',
    '(?<!x+)y',
  ];
  for (const text of bad) assert.ok(!pattern.isSimple(text), text);
});

test('what is simple is quick on the worst of names', () => {
  const names = Array.from({ length: 5 }, () => 'x'.repeat(5000));
  /** The CPU time of this process for a search; once it has been compiled. @param {string} text */
  const cost = (text) => {
    const search = pattern.patternOf(text);
    pattern.matchAll(search, names, (name) => [name]);
    const begin = process.cpuUsage();
    pattern.matchAll(search, names, (name) => [name]);
    const { user, system } = process.cpuUsage(begin);
    return user + system;
  };
  // One repetition takes the square of a name's length. A second one, which is not simple, takes thousands of times that.
  const square = cost('x+y');
  for (const text of ['x*xy', '[xy]*z', 'x?x?x?xxxy', '(x|xx|x)(x|xx)y', '(xx|x|xxx)x{5,}y']) {
    if (!pattern.isSimple(text)) continue;
    const times = cost(text) / square;
    assert.ok(times < 50, `${text} takes ${times.toFixed(0)} times as long as x+y`);
  }
});

test('names are matched as the browser does', () => {
  const names = ['main', 'Main', 'std::sort<int>', ''];
  const found = (/** @type {string} */ text) => {
    const hits = pattern.matchAll(pattern.patternOf(text), names, (name) => [name]);
    return names.filter((_, i) => hits[i]);
  };
  assert.deepEqual(found('main'), ['main', 'Main']);
  assert.deepEqual(found('Main'), ['Main']);
  assert.deepEqual(found('sort<'), ['std::sort<int>']);
  assert.deepEqual(found('sort<('), []);
  assert.notEqual(pattern.patternOf('sort<(').error, '');
});

test('a word before a colon names what is searched; any other text is looked for in names, modules and files', () => {
  assert.deepEqual(pattern.partsOf('module:libz'), { parts: ['module'], rest: 'libz' });
  assert.deepEqual(pattern.partsOf('file: app.c$'), { parts: ['file'], rest: 'app.c$' });
  for (const text of ['parse', 'std::sort', 'profile:x', ':x', '']) assert.deepEqual(pattern.partsOf(text).rest, text);
  assert.deepEqual(pattern.partsOf('parse').parts, ['name', 'module', 'file']);
});

test('the file of a library means its module, which has no version', () => {
  const modules = ['libc.so', 'libcurl.so', 'liblibc.so', 'app.so6'];
  const found = (/** @type {string} */ text) => {
    const hits = pattern.matchAll(pattern.patternIn(text, 'module'), modules, (module) => [module]);
    return modules.filter((_, i) => hits?.[i]);
  };
  for (const text of ['^libc.so.6', '^libc\\.so\\.6$', '^libc\\.so.2.36', '^libc\\.so']) assert.deepEqual(found(text), ['libc.so'], text);
  assert.deepEqual(found('libc.so.6'), ['libc.so', 'liblibc.so']);
  assert.deepEqual(found('so6'), ['app.so6']);
  assert.equal(pattern.patternIn('libc.so.6', 'name').source, 'libc.so.6', 'a name is what it is');
});
