// SPDX-License-Identifier: GPL-3.0-or-later
// Names in Markdown and in SVG: text, whatever they hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { markdown, vector } from './lib/modules.js';

test('a name is code that nothing in it can end', () => {
  assert.equal(markdown.codeOf('std::vector<int>::at(int)'), '`std::vector<int>::at(int)`');
  assert.equal(markdown.codeOf('a`b'), '<code>a&#96;b</code>');
  assert.equal(markdown.codeOf('a|b'), '<code>a&#124;b</code>');
  assert.equal(markdown.codeOf('a\\|b'), '<code>a&#92;&#124;b</code>');
  assert.equal(markdown.codeOf('`</code><img>`'), '<code>&#96;&#60;&#47;code&#62;&#60;img&#62;&#96;</code>');
  assert.equal(markdown.codeOf('a\nb\u202ec'), '`a\ufffdb\ufffdc`');
  assert.equal(markdown.codeOf(' '), '');
});

test('prose means nothing to Markdown, and mentions nobody', () => {
  assert.equal(markdown.proseOf('+12.3 % (95 % interval)'), '+12.3 % (95 % interval)');
  assert.doesNotMatch(markdown.proseOf('<b>*a* _b_ [c](d) @e #1 | \\'), /[<>*_[\]@|\\]|#\d(?!\d*;)/);
});

test('a text in an SVG has no markup and no character that XML forbids', () => {
  assert.equal(vector.escaped('a<b>&"c"'), 'a&lt;b&gt;&amp;&quot;c&quot;');
  assert.equal(vector.escaped('a\u0000\u001b\u202e\ufffe\ud800b'), 'a\ufffd\ufffd\ufffd\ufffd\ufffdb');
  assert.equal(vector.escaped('\u2068漢字\u2069'), '漢字', 'an attribute isolates what marks isolate on a canvas');
});
