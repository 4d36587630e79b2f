// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and names as people read them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { Labels } from '../../render/viewer/drawing/labels.js';
import { format } from './lib/modules.js';

/** @param {(...args: any[]) => string} f @param {[...any, string][]} cases the last of each is what is wanted */
function table(f, cases) {
  for (const row of cases) assert.equal(f(...row.slice(0, -1)), row[row.length - 1], JSON.stringify(row));
}


test('times have three digits and a unit that fits', () => {
  table(format.amount, [
    [0, 'nanoseconds', '0 s'],
    [1, 'nanoseconds', '1 ns'],
    [999, 'nanoseconds', '999 ns'],
    [1500, 'nanoseconds', '1.50 µs'],
    [12345678, 'nanoseconds', '12.3 ms'],
    [5.6e9, 'nanoseconds', '5.60 s'],
    [123e9, 'nanoseconds', '123 s'],
    [NaN, 'nanoseconds', '–'],
    [Infinity, 'nanoseconds', '–'],
  ]);
});

test('rounding does not add a digit', () => {
  table(format.digits, [
    [9.999, '10.0'],
    [99.97, '100'],
    [0, '0'],
    [1.234, '1.23'],
    [12.34, '12.3'],
    [123.4, '123'],
  ]);
  table(format.amount, [
    [999.9e6, 'nanoseconds', '1.00 s'],
    [999.7, 'nanoseconds', '1.00 µs'],
  ]);
});

test('counts have thousands', () => {
  table(format.amount, [
    [0, 'count', '0'],
    [999, 'count', '999'],
    [1000, 'count', `1,000`],
    [12500000, '1/1000000', '12.5'],
    [1234567, 'count', `1,234,567`],
    [1500, 'bytes', '1.50 kB'],
    [999, 'bytes', '999 B'],
    [999.7, 'bytes', '1.00 kB'],
    [3e9, 'bytes', '3.00 GB'],
    [1500, 'pages', `1,500 pages`],
  ]);
});

test('shares', () => {
  table(format.percent, [
    [0, 100, '0.00 %'],
    [1, 1000, '0.1 %'],
    [12.345, 100, '12.3 %'],
    [9.951, 100, '10.0 %'],
    [2.83, 100, '2.8 %'],
    [0.04, 100, '0.04 %'],
    [50, 100, '50.0 %'],
    [99.99, 100, '100 %'],
    [250, 100, '250 %'],
    [123456, 100, `123,456 %`],
    [5, 0, '–'],
    [NaN, 5, '–'],
  ]);
});

test('a change is in percent, from twice as much on in times', () => {
  assert.equal(format.change(100, 112.3), '+12.3 %');
  assert.equal(format.change(100, 876), '8.76×');
  assert.equal(format.change(100, 0), '−100 %');
  assert.equal(format.change(0, 5), '–');
  assert.equal(format.changeWords(100, 876, 'time', false), '8.76 times as much time');
  assert.equal(format.changeWords(100, 300, 'page faults', true), '3.00 times as many page faults');
  assert.equal(format.changeWords(100, 50, 'page faults', true), '50.0 % fewer page faults');
});

test('differences show their sign', () => {
  table(format.signedAmount, [
    [3e6, 'nanoseconds', '+3.00 ms'],
    [-3e6, 'nanoseconds', '−3.00 ms'],
    [0, 'nanoseconds', '±0 s'],
    [NaN, 'nanoseconds', '–'],
  ]);
  table(format.signedPercent, [
    [25, 100, '+25.0 %'],
    [-100, 100, '−100 %'],
    [5, 0, '–'],
  ]);
});

/** A canvas on which a letter is one pixel wide, or two, as in a terminal. */
const columns = {
  measureText: (/** @type {string} */ text) => ({
    width: Array.from(text).reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 0),
  }),
};

test('names get shorter as the table has it that the tests in C read as well', () => {
  const rows = fs.readFileSync(new URL('../data/names.tsv', import.meta.url), 'utf8').trimEnd().split('\n');
  const labels = new Labels(/** @type {any} */ (columns));
  for (const row of rows.filter((row) => !row.startsWith('#'))) {
    const [room, name, text] = row.split('\t');
    assert.equal(labels.fit(name, Number(room)), text, `${name} in ${room}`);
  }
});

test('every name has forms, whatever its brackets', () => {
  for (const name of ['a<b', 'a>b', '((', ')(', '<', '>>>', '::', 'a::', '', 'operator<', 'operator->', 'x::operator<<(int)'])
    for (const form of format.shorterNames(name)) assert.equal(typeof form, 'string');
  for (const piece of ['(', '<', '{', 'a<b(', 'operator<', 'decltype('])
    assert.ok(format.shorterNames(piece.repeat(1000)).length > 0);
});

test('a name is broken between its parts, and never within a word', () => {
  const name = 'ns::Map<int, std::string>::operator()(net/http.Request)';
  const pieces = format.namePieces(name);
  assert.equal(pieces.join(''), name);
  assert.deepEqual(format.namePieces('a::b<c, d>'), ['a::', 'b<', 'c, ', 'd>']);
  assert.deepEqual(format.namePieces('java.util.List'), ['java.', 'util.', 'List']);
  assert.deepEqual(format.namePieces(''), []);
  assert.ok(pieces.some((piece) => piece.startsWith('operator(')), `${pieces}`);
});

test('each form is shorter than the one before', () => {
  for (const name of [
    '<T as core::fmt::Display>::fmt',
    'core::ptr::drop_in_place<alloc::vec::Vec<u8>>',
    'ns::operator<(A const&, B const&)',
    'std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)',
    'runtime.(*mheap).alloc.func1',
    'a::b<c>(d)::{lambda(int)#1}::operator()(int) const',
  ]) {
    const forms = format.shorterNames(name);
    for (let i = 1; i < forms.length; i++) assert.ok(forms[i].length <= forms[i - 1].length, `${name}: ${forms}`);
    assert.ok(forms.every((form) => form.length > 0));
  }
});

test("a method of Go keeps its receiver's type, a call operator its name", () => {
  for (const form of format.shorterNames('main.(*Server).handle'))
    assert.ok(form.includes('Server') && !form.includes('..'), form);
  assert.ok(format.shorterNames('Less::operator()(int, int) const').every((form) => form.includes('operator()')));
});

test('a line of a list holds short names whole and long ones without what stands in brackets', () => {
  assert.equal(format.listName('ns::f(int)'), 'ns::f(int)');
  const long = `ns::f<${'x, '.repeat(40)}y>(${'int, '.repeat(20)}char)`;
  assert.equal(format.listName(long), 'ns::f<…>');
});

test('what is measured is time, or what was counted', () => {
  assert.equal(format.measureOf({ name: 'cpu', unit: 'nanoseconds' }), 'time');
  assert.equal(format.measureOf({ name: 'page-faults', unit: 'count' }), 'page faults');
});

test('rounding is no difference, and the kernel has its name', () => {
  assert.equal(format.signedAmount(0.08, 'nanoseconds'), '±0 s');
  assert.equal(format.signedAmount(-0.4, 'count'), '±0');
  assert.equal(format.signedAmount(3.4, 'nanoseconds'), '+3 ns');
  assert.equal(format.moduleName('[kernel.kallsyms]'), 'kernel');
  assert.equal(format.moduleName('libc.so'), 'libc.so');
});
